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
    for (auto at = map_.lower_bound(placed.offset); at != map_.end() && at->first < end; ++at) {
      if (at->first > reached) fresh_.push_back({reached, at->first});
      reached = at->second.end;
      Replace(placed.block, &at->second.last);
    }
    if (reached < end) fresh_.push_back({reached, end});
    for (const auto& [first, last] : fresh_) map_[first] = {last, {placed.block}};
    fresh_.clear();
  }

  std::vector<UnsafePair> Take() {
    const auto key = [](const UnsafePair& pair) {
      return std::pair(pair.later.value, pair.earlier.value);
    };
    std::ranges::sort(unsafe_, {}, key);
    const auto twice = std::ranges::unique(unsafe_);
    unsafe_.erase(twice.begin(), twice.end());
    for (UnsafePair& pair : unsafe_) Explain(&pair);
    return std::move(unsafe_);
  }

 private:
  struct Range {
    Bytes end = 0;
    std::vector<BlockId> last;
  };

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

  void Replace(BlockId block, std::vector<BlockId>* last) {
    for (const BlockId earlier : *last) {
      if (order_.Conflict(earlier, block)) unsafe_.push_back({.earlier = earlier, .later = block});
    }
    std::erase_if(*last, [&](BlockId earlier) {
      return !Nested(earlier) && !Nested(block) && order_.Before(earlier, block);
    });
    last->push_back(block);
  }

  const BlockOrder& order_;
  std::map<Bytes, Range> map_;  // by their begins
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
