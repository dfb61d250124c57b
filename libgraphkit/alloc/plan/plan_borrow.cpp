#include "libgraphkit/alloc/plan/plan_trace.h"

#include <set>

#include "libgraphkit/analysis/launches/borrow.h"

namespace graphkit {
namespace {

constexpr uint32_t kNever32 = 0xffffffffu;

Bytes EndOf(const Placement& placement) {
  return placement.offset + RoundUp(placement.size, kBlockGranularity);
}

// The placements of each arena.
std::vector<std::vector<Placement>> ByArena(const PlannedMemory& plan) {
  std::vector<std::vector<Placement>> arenas(plan.arenas.size());
  for (const Placement& placement : plan.placements) {
    if (placement.size > 0) arenas[placement.arena].push_back(placement);
  }
  return arenas;
}

// Some chain's nodes from a node on, and how many of them end before a block may be touched.
class ChainFrom {
 public:
  ChainFrom(const Facts& facts, const BlockOrder& blocks, NodeId at)
      : facts_(facts), blocks_(blocks), at_(at), place_(facts.order().PlaceOf(at)) {
    for (size_t i = at.index(); i < facts.trace.nodes.size(); ++i) {
      const ChainPlace place = facts.order().PlaceOf(NodeId(i));
      if (place.chain == place_.chain && place.seq >= place_.seq) nodes_.emplace_back(i);
    }
    std::ranges::sort(nodes_, {}, [&](NodeId n) { return facts.order().PlaceOf(n).seq; });
  }

  // All of them: `all()`. The block has to start after the first.
  uint32_t EndedBefore(BlockId later) const {
    uint32_t low = 1;
    auto high = static_cast<uint32_t>(nodes_.size());
    if (blocks_.StartsAfter(later, nodes_[high - 1])) return high;
    while (low + 1 < high) {  // what ends earlier is before whatever a later one is before
      const uint32_t middle = low + (high - low) / 2;
      (blocks_.StartsAfter(later, nodes_[middle - 1]) ? low : high) = middle;
    }
    return low;
  }

  uint32_t all() const { return static_cast<uint32_t>(nodes_.size()); }
  NodeId Last(uint32_t count) const { return nodes_[count - 1]; }
  NodeId Until(uint32_t count) const { return count < nodes_.size() ? nodes_[count] : NodeId(); }
  Nanoseconds Time(uint32_t count) const {
    Nanoseconds sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += facts_.trace[nodes_[i]].duration_ns;
    return sum;
  }

  // For how many nodes a block leaves its bytes alone from `at` on: none: 0. `leaves`: a launch
  // leaves something in it for later, which is written anew.
  uint32_t FreeOf(BlockId block, bool leaves) const {
    const GraphId root = facts_.roots()[facts_.trace[at_].graph.index()];
    if (facts_.lives()[block].root != root || Over(block)) return leaves ? 0 : all();
    return blocks_.StartsAfter(block, at_) ? EndedBefore(block) : 0;
  }

 private:
  // Also for what touches it after its free, which a program may do against the rules.
  bool Over(BlockId block) const {
    return blocks_.DoneBefore(block, at_) &&
           std::ranges::all_of(facts_.lives().Touches(block), [this](const NodeId touch) {
             return facts_.order().Before(touch, at_);
           });
  }

  const Facts& facts_;
  const BlockOrder& blocks_;
  NodeId at_;
  ChainPlace place_;
  std::vector<NodeId> nodes_;
};

// Bytes of an arena that are left alone for so many nodes.
struct Piece {
  Bytes begin = 0;
  Bytes end = 0;
  uint32_t count = 0;
};

enum class BarsOf { kAll, kFound };

// The bytes that a placed block's bars hold, in whole granules.
void AddBars(const Placement& placement, std::span<const BarredBlock> bars, BarsOf which,
             std::vector<Piece>* pieces) {
  for (const BarredBlock& bar : bars) {
    if (which == BarsOf::kFound && !bar.found) continue;
    const Bytes begin = bar.bytes.begin / kBlockGranularity * kBlockGranularity;
    const Bytes end = placement.offset + RoundUp(bar.bytes.end, kBlockGranularity);
    pieces->push_back({placement.offset + begin, std::min(end, EndOf(placement)), 0});
  }
}

// Goes through an arena's bytes from below: free for as many nodes as the piece that leaves them
// alone for the fewest.
template <typename Visit>
void Sweep(const std::vector<Piece>& pieces, Bytes size, uint32_t all, Visit visit) {
  std::map<Bytes, std::vector<std::pair<uint32_t, bool>>> changes;  // counts that come and go
  for (const Piece& piece : pieces) {
    changes[piece.begin].emplace_back(piece.count, true);
    changes[piece.end].emplace_back(piece.count, false);
  }
  changes[size];
  std::multiset<uint32_t> here;
  Bytes reached = 0;
  for (const auto& [offset, counts] : changes) {
    const Bytes end = std::min(offset, size);
    if (end > reached)
      visit(reached, end - reached, here.empty() ? all : std::min(*here.begin(), all));
    reached = std::max(reached, end);
    for (const auto& [count, comes] : counts) {
      if (comes) {
        here.insert(count);
      } else {
        here.erase(here.find(count));
      }
    }
  }
}

// Goes through the bytes of an arena that are left alone; those beside each other for the same
// number of nodes at once.
template <typename Visit>
void ForEachFree(const std::vector<Piece>& pieces, const PlannedArena& arena, uint32_t all,
                 const Visit& visit) {
  Piece last;
  const auto flush = [&] {
    if (last.begin < last.end && last.count != 0) visit(last);
  };
  Sweep(pieces, arena.peak, all, [&](Bytes offset, Bytes size, uint32_t count) {
    if (last.end == offset && last.count == count) {
      last.end += size;
      return;
    }
    flush();
    last = {offset, offset + size, count};
  });
  flush();
}

}  // namespace

std::vector<BorrowedRange> PlanBorrow(const Facts& facts, const PlannedMemory& plan,
                                      MarkerRule rule) {
  const BorrowBars bars = FindBorrowBars(facts, rule);
  const std::vector<std::vector<Placement>> arenas = ByArena(plan);
  std::vector<BorrowedRange> found;
  for (uint32_t arena = 0; arena < arenas.size(); ++arena) {
    std::vector<Piece> pieces;
    for (const Placement& p : arenas[arena])
      AddBars(p, bars.Of(BlockId(p.block)), BarsOf::kAll, &pieces);
    ForEachFree(pieces, plan.arenas[arena], kNever32, [&](const Piece& free) {
      found.push_back({arena, free.begin, free.end - free.begin});
    });
  }
  return found;
}

std::vector<BorrowAt> BorrowAtNode(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
                                   NodeId at) {
  const BlockOrder order = facts.Blocks(rule);
  const BorrowBars bars = FindBorrowBars(facts, rule);
  const GraphId root = facts.roots()[facts.trace[at].graph.index()];
  const ChainFrom chain(facts, order, at);
  const std::vector<std::vector<Placement>> arenas = ByArena(plan);
  std::vector<BorrowAt> found;
  for (uint32_t arena = 0; arena < arenas.size(); ++arena) {
    const GraphId owner = plan.arenas[arena].graph;
    if (owner.valid() && owner != root) continue;
    std::vector<Piece> pieces;
    for (const Placement& p : arenas[arena]) {
      const auto of = bars.Of(BlockId(p.block));
      const bool leaves = !std::ranges::all_of(of, &BarredBlock::found);
      pieces.push_back({p.offset, EndOf(p), chain.FreeOf(BlockId(p.block), leaves)});
      AddBars(p, of, BarsOf::kFound, &pieces);
    }
    ForEachFree(pieces, plan.arenas[arena], chain.all(), [&](const Piece& free) {
      found.push_back({{arena, free.begin, free.end - free.begin},
                       at,
                       chain.Until(free.count),
                       free.count,
                       chain.Time(free.count),
                       chain.Last(free.count)});
    });
  }
  return found;
}

}  // namespace graphkit
