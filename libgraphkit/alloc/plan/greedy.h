// Greedy placement: one block after the other, each into a gap between those already placed.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/analysis/memory/lanes.h"

namespace graphkit {

inline constexpr Bytes kNoPlan = ~Bytes{0};
inline constexpr Bytes kUnplaced = ~Bytes{0};  // the offset of a block that lies nowhere

struct GreedyPlan {
  std::vector<Bytes> offsets;  // by block of the arena, or by item of the lanes
  Bytes peak = kNoPlan;
};

// Of lifetimes. Which order is best differs from problem to problem: the best of a portfolio, which
// ends at the lower bound.
GreedyPlan PlaceByPortfolio(const LifetimeArena& arena);

// Of blocks that a graph orders: the largest first, of equals the longest, each as low as it can.
// `fixed`: by item, or PlanBlock::kAnywhere. `conflicts`: used where the lists aren't complete.
GreedyPlan PlaceLargestFirst(const Lanes& lanes, std::span<const Bytes> fixed, Bytes alignment,
                             const ConflictLists& lists, PlacedConflicts* conflicts);

}  // namespace graphkit
