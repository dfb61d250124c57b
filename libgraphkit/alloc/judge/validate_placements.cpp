#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/parallel.h"
#include "libgraphkit/ran/ran.h"

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

class Sweep {
 public:
  explicit Sweep(const BlockOrder& order) : order_(order), lists_(1) {}

  void Put(const PlacedBlock& placed) {
    if (placed.size == 0) return;
    const Bytes end = placed.offset + placed.size;
    Cut(placed.offset);
    Cut(end);
    const auto first = map_.lower_bound(placed.offset);
    Bytes reached = placed.offset;
    made_.clear();
    auto at = first;
    for (; at != map_.end() && at->first < end; ++at) {
      const Range& range = at->second;
      if (range.begin > reached) Add({reached, range.begin, placed.block, 0});
      reached = range.end;
      Add({range.begin, reached, placed.block, Staying(placed.block, range)});
    }
    if (reached < end) Add({reached, end, placed.block, 0});
    at = map_.erase(first, at);
    for (const Range& range : made_) map_.emplace_hint(at, range.begin, range);
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
  // No range crosses the address afterwards.
  void Cut(Bytes address) {
    const auto after = map_.lower_bound(address);
    if (after == map_.begin()) return;
    Range& inside = std::prev(after)->second;
    if (inside.end <= address) return;
    Range upper = inside;
    upper.begin = address;
    inside.end = address;
    map_.emplace_hint(after, address, upper);
  }

  // A use of the earlier block, the latest, that no order puts before a use of the later one.
  void Explain(UnsafePair* pair) const {
    const Lifetimes& lives = order_.lives();
    const std::span<const NodeId> markers = order_.Dies(pair->earlier)
                                                ? lives.Markers(pair->earlier, order_.rule())
                                                : std::span<const NodeId>();
    const std::span<const NodeId> touches = lives.Touches(pair->later);
    for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
      const auto free = [&](const NodeId t) { return !order_.order().Before(*marker, t); };
      const auto touch = std::ranges::find_if(touches, free);
      if (touch == touches.end()) continue;
      pair->last_use = *marker;
      pair->first_use = *touch;
      return;
    }
    if (!markers.empty()) pair->last_use = markers.back();
    if (!touches.empty()) pair->first_use = touches.front();
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
  std::map<Bytes, Range> map_;               // by begin
  std::vector<std::vector<BlockId>> lists_;  // the first one is empty
  std::vector<Range> made_;
  std::vector<UnsafePair> unsafe_;
};

// True if the later block's graph, in whose capture the earlier one was freed, is done with that
// one when the later one begins; else a node that isn't is the last use, where there is one.
// `unknown`: by root, its first node that may touch anything; empty: not looked for yet.
bool LeftTo(const BlockOrder& order, std::vector<Seq>* unknown, UnsafePair* pair) {
  const Ran& trace = order.trace();
  const Nesting& nesting = order.order().nesting();
  const Seq freed = trace[pair->earlier].free_requested;
  if (order.rule() == MarkerRule::kAtFree || freed >= trace[pair->later].allocated) return false;
  const GraphId root = order.lives()[pair->later].root;
  for (const NodeId touch : order.lives().Touches(pair->earlier)) {
    const GraphId graph = trace[touch].graph;
    const NodeId holder = nesting.Holder(nesting.Outermost(graph, root));
    if (nesting.Root(graph) != root) continue;
    if (order.StartsAfter(pair->later, holder.valid() ? holder : touch)) continue;
    pair->last_use = touch;
    return false;
  }
  if (unknown->empty()) {
    unknown->assign(trace.graphs.size(), kNever);
    for (const NodeId id : trace.graph_nodes) {
      if (!MayTouchAnything(trace, id)) continue;
      Seq& first = (*unknown)[nesting.Root(trace[id].graph).index()];
      first = std::min(first, trace[id].seq);
    }
  }
  return (*unknown)[root.index()] > freed;
}

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

std::vector<UnsafePair> ValidateSharers(const BlockOrder& order,
                                        std::span<const std::span<const PlacedBlock>> graphs) {
  const Ran& trace = order.trace();
  std::vector<UnsafePair> unsafe;
  std::map<Bytes, PlacedBlock> living;  // by end
  std::vector<Seq> unknown;
  for (const std::span<const PlacedBlock> placed : graphs) {
    if (placed.empty()) continue;
    const Seq begin = trace[placed.front().block].allocated;
    std::erase_if(living, [&](const auto& block) {
      return trace[block.second.block].free_requested < begin;
    });
    for (const PlacedBlock& block : placed) {
      auto above = living.upper_bound(block.offset);
      for (; above != living.end() && block.size > 0; ++above) {
        if (above->second.offset >= block.offset + block.size) break;
        UnsafePair pair{above->second.block, block.block};
        if (!LeftTo(order, &unknown, &pair)) unsafe.push_back(pair);
      }
    }
    for (const PlacedBlock& block : placed) {
      if (block.size > 0) living.insert_or_assign(block.offset + block.size, block);
    }
  }
  return unsafe;
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
