// One policy over one graph: what ReplayTrace does for each.
#pragma once

#include <array>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/bound/lower_bound.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/slice.h"
#include "libgraphkit/replay/held_memory.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// A plan's arena is one segment, got as far as it is needed.
inline constexpr Bytes kPlanSegment = Bytes{2} << 20;

// A graph, and what all policies need of it. All of it must outlive the replay.
struct GraphTask {
  const Facts& facts;
  const GraphSlice& slice;
  const std::vector<std::vector<StreamId>>& streams;  // OtherStreams
  const std::vector<Bytes>* planned = nullptr;  // by block: in place of a policy's; null: none
  std::vector<PoolBlocks> pools = {};
  const PoolHistory* history = nullptr;  // null: pools begin empty
  // By marker rule, of each pool; none: not asked for.
  std::array<std::vector<LowerBound>, 2> bounds = {};
};

struct ReplayedGraph {
  GraphReplay replay;
  // With a capacity: the mallocs that the graph's memory grew for, and how large it was then.
  std::vector<OutOfMemory> rises;
};

ReplayedGraph ReplayGraph(const GraphTask& task, const PolicyInfo& info,
                          const ReplayOptions& options);

}  // namespace graphkit
