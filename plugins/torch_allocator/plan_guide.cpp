#include "plugins/torch_allocator/plan_guide.h"

#include <algorithm>
#include <map>

#include "libgraphkit/io/files/plan_files.h"

namespace graphkit::torch {

PlannedGraphs SplitPlan(const PlannedMemory& plan) {
  std::vector<PlannedPool> pools;
  for (const PlannedArena& arena : plan.arenas) pools.push_back({.size = arena.peak});
  for (const Placement& placement : plan.placements) {
    const Bytes size = RoundUp(placement.size, kBlockGranularity);
    pools[placement.arena].blocks.push_back({placement.offset, size});
    Bytes& top = pools[placement.arena].size;
    top = std::max(top, placement.offset + size);
  }
  if (plan.borrow) {
    for (PlannedPool& pool : pools) pool.borrow.emplace();
    for (const BorrowedRange& range : *plan.borrow) {
      pools[range.arena].borrow->push_back({range.offset, range.offset + range.size});
    }
  }
  PlannedGraphs split;
  split.sequence = !plan.sequence.empty();
  std::map<GraphId, std::vector<PlannedPool>> by_graph;  // all of a sequence: under none
  for (size_t i = 0; i < pools.size(); ++i) {
    if (!pools[i].blocks.empty()) by_graph[plan.arenas[i].graph].push_back(std::move(pools[i]));
  }
  for (auto& [graph, of_graph] : by_graph) split.graphs.push_back(std::move(of_graph));
  return split;
}

Result<PlannedGraphs> ReadPlannedGraphs(const std::string& path) {
  Result<PlannedMemory> plan = ReadPlan(path);
  if (!plan) return plan.error();
  if (!plan->of_trace) {
    return Error{.message = "a plan of a table, not of a trace",
                 .hint = "graphkit plan trace.json -o plan.json",
                 .file = path};
  }
  return SplitPlan(*plan);
}

std::optional<Bytes> PlanCursor::Next(Bytes size) {
  const std::vector<PlannedPool::Block>& blocks = pool_->blocks;
  const Bytes rounded = RoundUp(size, kBlockGranularity);
  const size_t end = std::min(blocks.size(), next_ + kLookAhead + 1);
  for (size_t i = next_; i < end; ++i) {
    if (blocks[i].size != rounded) continue;
    skipped_ += i - next_;
    next_ = i + 1;
    return blocks[i].offset;
  }
  return {};
}

}  // namespace graphkit::torch
