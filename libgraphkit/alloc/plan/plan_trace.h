// A plan of a whole trace: each pool of each graph by itself, with the proof of all it shares.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// A graph's blocks that are replayed and planned, by pool, each in capture order: those that
// something hands out (an allocator, a driver pool, graph memory).
struct PoolBlocks {
  PoolId pool;
  std::vector<BlockId> blocks;
};
std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph);

// The bound of a pool's blocks by a rule: the facts' own where they have it, else found.
LowerBound BoundOf(const Facts& facts, MarkerRule rule, GraphId graph, const PoolBlocks& pool);

// By the marker rule's proofs, graphs side by side. `graphs_done` counts up.
PlannedMemory PlanTrace(const Facts& facts, MarkerRule rule,
                        const CapturePlannerOptions& options = {},
                        std::atomic<size_t>* graphs_done = nullptr);

// The arenas of all parts, in their order; each part has a trace's graphs or pools of its own.
PlannedMemory JoinPlans(std::vector<PlannedMemory> parts);

// Adds to plan->shared which bytes the blocks of one arena take over from each other, and the proof
// that they may: each range with the block that lay there last. `placements`: in capture order,
// blocks by id.
void AddSharedBytes(const BlockOrder& order, std::span<const Placement> placements,
                    PlannedMemory* plan);

// The nodes that touch a block and aren't after another one that does.
std::vector<NodeId> FirstTouches(const BlockOrder& order, BlockId block);

// Puts beside the bound of each graph in a report a placement that exists: fills in plan_bytes of
// the graphs of small traces (up to 2 000 blocks), with little search. `facts`: the report's.
void AddPlans(const Facts& facts, Report* report);

}  // namespace graphkit
