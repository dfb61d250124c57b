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
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

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
