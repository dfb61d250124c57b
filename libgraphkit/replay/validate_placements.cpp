#include "libgraphkit/replay/validate_placements.h"

#include <algorithm>
#include <map>

namespace graphkit {
namespace {

class Sweep {
 public:
  explicit Sweep(const BlockOrder& order) : order_(order) {}

  void Put(const PlacedBlock& placed) {
    if (placed.size == 0) return;
    const Bytes end = placed.offset + placed.size;
    Cut(placed.offset);
    Cut(end);
    Bytes reached = placed.offset;
    auto at = map_.lower_bound(placed.offset);
    const auto first = at;
    for (; at != map_.end() && at->first < end; ++at) {
      if (at->first > reached) fresh_.push_back({reached, at->first});
      reached = at->second.end;
      Replace(placed.block, &at->second);
    }
    Join(first, at);
    if (reached < end) fresh_.push_back({reached, end});
    for (const auto& [begin, until] : fresh_) map_[begin] = {until, placed.block, {}};
    fresh_.clear();
  }

  std::vector<UnsafePair> Take() {
    const auto key = [](const UnsafePair& pair) {
      return std::pair(pair.later.value, pair.earlier.value);
    };
    std::ranges::sort(unsafe_, {}, key);
    const auto twice = std::unique(unsafe_.begin(), unsafe_.end());
    unsafe_.erase(twice, unsafe_.end());
    for (UnsafePair& pair : unsafe_) Explain(&pair);
    return std::move(unsafe_);
  }

 private:
  struct Range {
    Bytes end = 0;
    BlockId last;
    std::vector<BlockId> others;  // that the last one isn't after: hardly ever any
  };
  using Map = std::map<Bytes, Range>;

  // A use of the earlier block, the latest, that no order puts before a use of the later one.
  void Explain(UnsafePair* pair) const {
    const Lifetimes& lives = order_.lives();
    const std::span<const NodeId> markers = order_.Dies(pair->earlier)
                                                ? lives.Markers(pair->earlier, order_.rule())
                                                : std::span<const NodeId>();
    const std::span<const Touch> touches = lives.Touches(pair->later);
    for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
      const auto free = [&](const Touch& t) { return !order_.order().Before(*marker, t.node); };
      const auto touch = std::ranges::find_if(touches, free);
      if (touch == touches.end()) continue;
      pair->last_use = *marker;
      pair->first_use = touch->node;
      return;
    }
    if (!markers.empty()) pair->last_use = markers.back();
    if (!touches.empty()) pair->first_use = touches.front().node;
  }

  bool Nested(BlockId block) const {
    const BlockLife& life = order_.lives()[block];
    return life.alloc.graph != life.root;
  }

  // Makes a range begin at an address that lies inside of one.
  void Cut(Bytes at) {
    auto after = map_.upper_bound(at);
    if (after == map_.begin()) return;
    const auto inside = std::prev(after);
    if (inside->first == at || inside->second.end <= at) return;
    map_.emplace_hint(after, at, inside->second);
    inside->second.end = at;
  }

  void Replace(BlockId block, Range* range) {
    const auto stays = [&](BlockId earlier) {
      if (order_.Before(earlier, block)) return Nested(earlier) || Nested(block);
      if (!order_.Before(block, earlier)) {
        unsafe_.push_back({.earlier = earlier, .later = block});
      }
      return true;
    };
    std::erase_if(range->others, [&](BlockId earlier) { return !stays(earlier); });
    if (stays(range->last)) range->others.push_back(range->last);
    range->last = block;
  }

  // Neighbouring ranges where the same blocks lay are one.
  void Join(Map::iterator first, Map::iterator end) {
    while (first != end) {
      const auto next = std::next(first);
      if (next == end) return;
      const bool same = first->second.end == next->first &&
                        first->second.last == next->second.last &&
                        first->second.others == next->second.others;
      if (same) {
        first->second.end = next->second.end;
        map_.erase(next);
      } else {
        first = next;
      }
    }
  }

  const BlockOrder& order_;
  Map map_;  // by their begins
  std::vector<std::pair<Bytes, Bytes>> fresh_;
  std::vector<UnsafePair> unsafe_;
};

}  // namespace

std::vector<UnsafePair> ValidatePlacements(const BlockOrder& order,
                                           std::span<const PlacedBlock> blocks) {
  Sweep sweep(order);
  for (const PlacedBlock& placed : blocks) sweep.Put(placed);
  return sweep.Take();
}

}  // namespace graphkit
