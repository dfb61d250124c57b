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
#include "libgraphkit/result.h"

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

// Adds to plan->shared which bytes the blocks of one arena take over from each other, and the proof
// that they may: each range with the block that lay there last. `placements`: in capture order,
// blocks by id.
void AddSharedBytes(const BlockOrder& order, std::span<const Placement> placements,
                    PlannedMemory* plan);

// Puts beside the bound of each graph in a report a placement that exists: fills in plan_bytes of
// the graphs of small traces (up to 2 000 blocks), with little search. `facts`: the report's.
void AddPlans(const Facts& facts, Report* report);

// Graphs that share memory: captured into the same private pools, one after the other. A graph
// finds in its pools what the graphs before it left there:
//
//     graph A  ├ hidden ┤├ logits ──────┤       logits was freed before C was captured,
//     graph B               ├ answer ───────    and C may take its memory; B may not
//     graph C                            ├ …
struct PoolSharers {
  std::vector<GraphId> graphs;  // in capture order
  Seq begin = 0;                // the first allocation of the first of them
  Seq gone = kNever;            // the last of their execs destroyed, and of their blocks freed
  bool operator==(const PoolSharers&) const = default;
};

// All graphs with blocks, in capture order; one that shares no pool is alone, as are captures into
// a pool at the same time, and those that began when the graphs before them were gone.
std::vector<PoolSharers> FindPoolSharers(const Facts& facts);

// Memory that may be borrowed of a plan's arenas: between launches, and at a node of a graph.
//
//     offset
//       | done  |   |      later       |      at node n the bytes of what is done before it starts,
//       | done  | n |         | later  |      and of what starts only after it, are free: to the
//       |   lives across   |                  end of the last node of n's chain that is known to
//       +------------------------- order      end before these start
//
// Between two launches of the graphs that share an arena: its bytes less those of the blocks that
// are barred (libgraphkit/analysis/launches/borrow.h). By arena, then by offset.
std::vector<BorrowedRange> PlanBorrow(const Facts& facts, const PlannedMemory& plan,
                                      MarkerRule rule);

// Memory that is free while a node runs. By arena, then by offset; in arenas of the node's graph,
// or that it shares. Neighbours with one `last` are one.
std::vector<BorrowAt> BorrowAtNode(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
                                   NodeId at);

// One plan for graphs that are launched one after the other and share a pool.
//
// Each launch starts when the one before it has ended; after the last one the first comes again. So
// blocks that are freed inside their graph never meet blocks of another one. A block that its graph
// doesn't free (an output) is needed until the last graph of the round that takes it as an input
// has run; one that no graph takes, until its own graph is launched again, since anyone may read
// it. Work outside of graphs that is recorded to read a block after a launch, freed or not, keeps
// it until the launch after which it reads:
//
//     launches      A      B      C      A …
//     hidden of A   ██                   ██          shares with all of B and C
//     logits of A     █    █                         B takes it: shares with C
//     answer of B           █     █      ██          no graph takes it: needed until B again

// As the trace has them. An error when a launch isn't after the one before it, or nothing was
// launched. Rounds that repeat are taken once.
Result<std::vector<GraphId>> RecordedSequence(const Facts& facts);

// Where graphs were captured into one private pool: the order in which all graphs run, as launched;
// those that weren't launched follow in the order of their captures. Graphs whose memory was gone
// before the last capture began are omitted. Empty if no pool is shared, or the launches aren't
// ordered.
std::vector<GraphId> SequenceOfSharers(const Facts& facts);

// The graphs that run while a block is needed.
class SequenceNeeds {
 public:
  SequenceNeeds(const Facts& facts, std::span<const GraphId> steps);

  // True if the two, of different graphs, may not share bytes.
  bool Conflict(BlockId x, BlockId y) const;
  // True if the block has to stay while that graph runs.
  bool NeededIn(BlockId block, GraphId graph) const;
  // True if the block has to stay when its own graph has run.
  bool Outlives(BlockId block) const { return row_[block.index()] != kNoRow; }

 private:
  static constexpr uint32_t kNoRow = 0xffffffffu;
  const Facts& facts_;
  std::vector<uint32_t> row_;            // by block; none: needed in its own graph only
  std::vector<std::vector<bool>> runs_;  // by row: by graph
};

// `steps`: graphs in launch order. Blocks of one pool share one arena, whatever their graph; the
// plan's sequence is `steps`.
PlannedMemory PlanSequence(const Facts& facts, std::span<const GraphId> steps, MarkerRule rule,
                           const CapturePlannerOptions& options = {});

}  // namespace graphkit
