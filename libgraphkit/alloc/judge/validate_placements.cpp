#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

// So many blocks ahead memory is asked for: long enough for it to come.
constexpr size_t kAhead = 8;

// Who lay where last.
struct Range {
  Bytes begin = 0;
  Bytes end = 0;
  BlockId last;
  uint32_t others = 0;  // in a list of lists: whom the last one isn't after; 0: hardly ever any
};

// Ranges by address, in chunks so that little moves when one comes or goes.
class RangeMap {
 public:
  struct Place {
    size_t chunk = 0;
    size_t at = 0;
  };

  RangeMap() : chunks_(1) {}

  // The first range that ends after the address.
  Place Find(Bytes address) const {
    const auto ends_after = [](const std::vector<Range>& chunk, Bytes a) {
      return chunk.empty() || chunk.back().end <= a;
    };
    const auto chunk = std::lower_bound(chunks_.begin(), chunks_.end(), address, ends_after);
    if (chunk == chunks_.end()) return {chunks_.size() - 1, chunks_.back().size()};
    const auto at = std::ranges::partition_point(
        *chunk, [&](const Range& range) { return range.end <= address; });
    return {static_cast<size_t>(chunk - chunks_.begin()), static_cast<size_t>(at - chunk->begin())};
  }

  // Null behind the last one.
  const Range* At(Place* place) const {
    while (place->at == chunks_[place->chunk].size()) {
      if (place->chunk + 1 == chunks_.size()) return nullptr;
      *place = {place->chunk + 1, 0};
    }
    return &chunks_[place->chunk][place->at];
  }

  // Puts `made` in place of [first, end).
  void Splice(Place first, Place end, std::span<const Range> made) {
    std::vector<Range>& chunk = chunks_[first.chunk];
    const auto from = chunk.begin() + static_cast<ptrdiff_t>(first.at);
    const bool here = end.chunk == first.chunk;
    const auto to = here ? chunk.begin() + static_cast<ptrdiff_t>(end.at) : chunk.end();
    const auto kept = std::min(static_cast<size_t>(to - from), made.size());
    std::copy_n(made.begin(), kept, from);
    const auto next = from + static_cast<ptrdiff_t>(kept);
    if (kept == made.size()) {
      chunk.erase(next, to);
    } else {
      chunk.insert(next, made.begin() + static_cast<ptrdiff_t>(kept), made.end());
    }
    if (!here) DropBetween(first.chunk + 1, end);
    if (chunks_[first.chunk].size() > kMost) Split(first.chunk);
    if (chunks_[first.chunk].empty() && chunks_.size() > 1) {
      chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(first.chunk));
    }
  }

 private:
  static constexpr size_t kMost = 192;

  void DropBetween(size_t chunk, Place end) {
    std::vector<Range>& last = chunks_[end.chunk];
    last.erase(last.begin(), last.begin() + static_cast<ptrdiff_t>(end.at));
    const size_t stop = end.chunk + (last.empty() ? 1 : 0);
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(chunk),
                  chunks_.begin() + static_cast<ptrdiff_t>(stop));
  }

  void Split(size_t chunk) {
    std::vector<Range>& whole = chunks_[chunk];
    const auto middle = whole.begin() + static_cast<ptrdiff_t>(whole.size() / 2);
    std::vector<Range> second(middle, whole.end());
    whole.erase(middle, whole.end());
    chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(chunk) + 1, std::move(second));
  }

  std::vector<std::vector<Range>> chunks_;  // never none; empty ones only when there is one
};

class Sweep {
 public:
  explicit Sweep(const BlockOrder& order) : order_(order), lists_(1) {}

  void Put(const PlacedBlock& placed) {
    if (placed.size == 0) return;
    const Bytes end = placed.offset + placed.size;
    const RangeMap::Place first = map_.Find(placed.offset);
    RangeMap::Place place = first;
    Bytes reached = placed.offset;
    Range rest;  // what stays of the last range, behind the block
    made_.clear();
    for (const Range* range = map_.At(&place); range != nullptr && range->begin < end;
         range = map_.At(&place)) {
      if (range->begin < placed.offset) {
        made_.push_back({range->begin, placed.offset, range->last, range->others});
      }
      if (range->begin > reached) Add({reached, range->begin, placed.block, 0});
      if (range->end > end) rest = {end, range->end, range->last, range->others};
      const Bytes from = std::max(range->begin, placed.offset);
      reached = std::min(range->end, end);
      Add({from, reached, placed.block, Staying(placed.block, *range)});
      ++place.at;
    }
    if (reached < end) Add({reached, end, placed.block, 0});
    if (rest.end != 0) made_.push_back(rest);
    map_.Splice(first, place, made_);
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

  // True if the block isn't done with an earlier one that lies in its bytes.
  bool Stays(BlockId earlier, BlockId block) {
    if (order_.Before(earlier, block)) return Nested(earlier) || Nested(block);
    if (!order_.Before(block, earlier)) unsafe_.push_back({.earlier = earlier, .later = block});
    return true;
  }

  // The list of those in a range that the block isn't done with.
  uint32_t Staying(BlockId block, const Range& range) {
    const bool last = Stays(range.last, block);
    if (range.others == 0 && !last) return 0;
    std::vector<BlockId> staying;
    for (const BlockId earlier : lists_[range.others]) {
      if (Stays(earlier, block)) staying.push_back(earlier);
    }
    if (last) staying.push_back(range.last);
    if (staying.empty()) return 0;
    lists_.push_back(std::move(staying));
    return static_cast<uint32_t>(lists_.size() - 1);
  }

  // Of the block that is being put: one with its neighbour where the same blocks lie.
  void Add(const Range& range) {
    const bool joins = !made_.empty() && made_.back().end == range.begin &&
                       made_.back().last == range.last &&
                       lists_[made_.back().others] == lists_[range.others];
    if (joins) {
      made_.back().end = range.end;
    } else {
      made_.push_back(range);
    }
  }

  const BlockOrder& order_;
  RangeMap map_;
  std::vector<std::vector<BlockId>> lists_;  // the first one is empty
  std::vector<Range> made_;
  std::vector<UnsafePair> unsafe_;
};

}  // namespace

std::vector<UnsafePair> ValidatePlacements(const BlockOrder& order,
                                           std::span<const PlacedBlock> blocks) {
  Sweep sweep(order);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + kAhead < blocks.size()) order.Fetch(blocks[i + kAhead].block);
    sweep.Put(blocks[i]);
  }
  return sweep.Take();
}

std::vector<UnsafePair> VerifyPlan(const Facts& facts, const PlannedMemory& plan, MarkerRule rule) {
  // By arena, and in a sequence by graph.
  std::map<std::pair<uint32_t, GraphId>, std::vector<PlacedBlock>> arenas;
  std::vector<PlacedBlock>* blocks_of = nullptr;
  std::pair<uint32_t, GraphId> last;
  for (const Placement& placement : plan.placements) {
    const BlockId block(placement.block);
    const GraphId graph = plan.sequence.empty() ? GraphId() : facts.lives()[block].root;
    const std::pair key(placement.arena, graph);
    if (blocks_of == nullptr || key != last) {
      blocks_of = &arenas[key];
      if (plan.sequence.empty()) blocks_of->reserve(plan.arenas[placement.arena].blocks);
    }
    last = key;
    blocks_of->push_back({block, placement.offset, placement.size});
  }
  std::vector<std::vector<PlacedBlock>*> all;
  for (auto& [arena, blocks] : arenas) all.push_back(&blocks);
  std::vector<std::vector<UnsafePair>> found(all.size());
  ParallelFor(all.size(), ThreadsFor(facts.trace), [&](size_t i) {
    std::vector<PlacedBlock>& blocks = *all[i];
    if (!std::ranges::is_sorted(blocks, {}, &PlacedBlock::block)) {
      std::ranges::stable_sort(blocks, {}, &PlacedBlock::block);
    }
    found[i] = ValidatePlacements(facts.Blocks(rule), blocks);
  });
  std::vector<UnsafePair> unsafe;
  for (const std::vector<UnsafePair>& of_arena : found) {
    unsafe.insert(unsafe.end(), of_arena.begin(), of_arena.end());
  }
  return unsafe;
}

}  // namespace graphkit
