#include "libgraphkit/alloc/plan/plan_report.h"

#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/facts.h"

namespace graphkit {

void AddPlans(const Trace& trace, EdgeRule edges, Report* report) {
  constexpr size_t kMostBlocks = 2000;
  if (trace.blocks.size() > kMostBlocks) return;
  const Facts facts = FindFacts(trace, {.edges = edges});
  const PlannedMemory planned = PlanTrace(facts, MarkerRule::kLastUse,
                                          {.search = {.effort = 20'000'000}, .looks = 5'000'000});
  std::vector<uint64_t> blocks(report->graphs.size());
  std::vector<Bytes> bytes(report->graphs.size());
  for (const PlannedArena& arena : planned.arenas) {
    blocks[arena.graph.index()] += arena.blocks;
    bytes[arena.graph.index()] += arena.peak;
  }
  for (GraphSummary& graph : report->graphs) {
    const size_t at = graph.graph.index();
    const bool whole = graph.unknown_memory.empty() && blocks[at] == graph.blocks;
    if (graph.blocks > 0 && whole) graph.plan_bytes = bytes[at];
  }
}

}  // namespace graphkit
