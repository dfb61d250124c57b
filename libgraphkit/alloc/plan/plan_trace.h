// A plan of a whole trace: each pool of each graph by itself, with the proof of all it shares.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// A graph's blocks that are replayed and planned, by pool, each in capture order: those that
// something hands out (an allocator, a driver pool, graph memory).
struct PoolBlocks {
  PoolId pool;
  std::vector<BlockId> blocks;
};
std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph);

// By the marker rule's proofs.
PlannedMemory PlanTrace(const Facts& facts, MarkerRule rule,
                        const CapturePlannerOptions& options = {});

}  // namespace graphkit
