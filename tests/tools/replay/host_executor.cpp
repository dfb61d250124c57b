#include "tests/tools/replay/host_executor.h"

#include <algorithm>

#include "libgraphkit/group_by.h"
#include "tools/graphkit/replay/unlikely_order.h"

namespace graphkit {
namespace {

// One order of a job's starts and ends.
class HostRun {
 public:
  HostRun(const ExecutionJob& job, uint64_t seed)
      : job_(job),
        order_(seed),
        memory_(job.stretches.size()),
        needs_(2 * job.nodes.size()),
        ended_(job.nodes.size()) {
    for (const graphkit_job_edge& edge : job.edges) {
      ++needs_[StartOf(edge.to)];
      if (HoldsEnd(edge)) ++needs_[EndOf(edge.to)];
    }
    edges_.Assign(job.edges.size(), job.nodes.size(), [&](size_t i) { return job.edges[i].from; });
    for (const graphkit_touch& touch : job.touches) {
      uses_.resize(std::max<size_t>(uses_.size(), touch.block + 1));
      ++uses_[touch.block];
    }
  }

  graphkit_job_outcome Run() {
    for (uint32_t node = 0; node < ended_.size(); ++node) {
      ++needs_[EndOf(node)];
      if (needs_[StartOf(node)] == 0) order_.Offer(StartOf(node));
    }
    while (!order_.empty()) {
      const uint32_t item = order_.Choose();
      item % 2 == 0 ? Start(item / 2) : End(item / 2);
    }
    return outcome_;
  }

 private:
  static uint32_t StartOf(uint32_t node) { return 2 * node; }
  static uint32_t EndOf(uint32_t node) { return 2 * node + 1; }
  // Its second node waits for the end of the first one before it ends itself.
  bool HoldsEnd(const graphkit_job_edge& edge) const {
    return edge.type != 0 && job_.nodes[edge.to].waits != 0;
  }

  void Start(uint32_t node) {
    ForEachTouch(node, [&](uint32_t at) {
      const graphkit_touch& touch = job_.touches[at];
      if (touch.checks != 0) Check(node, at);
      if (touch.writes != 0) Write(node, touch);
    });
    Release(EndOf(node));
    ForEachEdge(node, [&](const graphkit_job_edge& edge) {
      if (edge.type != 0) Release(StartOf(edge.to));
    });
  }

  // All that it touched must still be there.
  void End(uint32_t node) {
    ForEachTouch(node, [&](uint32_t at) {
      if (job_.touches[at].checks != 0 || job_.touches[at].writes != 0) Check(node, at);
    });
    ended_[node] = true;
    ForEachTouch(node, [&](uint32_t at) { --uses_[job_.touches[at].block]; });
    ForEachEdge(node, [&](const graphkit_job_edge& edge) {
      if (edge.type == 0) Release(StartOf(edge.to));
      if (HoldsEnd(edge)) Release(EndOf(edge.to));
    });
  }

  void Release(uint32_t item) {
    if (--needs_[item] == 0) order_.Offer(item);
  }

  void Check(uint32_t node, uint32_t at) {
    const graphkit_touch& touch = job_.touches[at];
    outcome_.checks += touch.stretches;
    for (const uint64_t canary : CanariesOf(touch)) {
      if (canary != 0 && BlockOf(canary) != touch.block) return Report(node, at, canary);
    }
  }

  void Write(uint32_t node, const graphkit_touch& touch) {
    const uint64_t own = (uint64_t{node} + 1) << 32 | (uint64_t{touch.block} + 1);
    outcome_.checks += touch.stretches;
    for (uint64_t& canary : CanariesOf(touch)) {
      const uint32_t before = BlockOf(canary);
      if (canary != 0 && before != touch.block && uses_[before] > 0) ReportNeeded(before, own);
      canary = own;
    }
  }

  static uint32_t BlockOf(uint64_t canary) { return static_cast<uint32_t>(canary) - 1; }

  void Report(uint32_t node, uint32_t at, uint64_t found) {
    if (outcome_.faulty != 0) return;
    outcome_.faulty = 1;
    outcome_.node = node;
    outcome_.touch = at;
    outcome_.found = found;
  }

  // To the first node that still has to touch the block.
  void ReportNeeded(uint32_t block, uint64_t found) {
    for (uint32_t node = 0; node < ended_.size() && outcome_.faulty == 0; ++node) {
      if (ended_[node]) continue;
      ForEachTouch(node, [&](uint32_t at) {
        if (job_.touches[at].block == block) Report(node, at, found);
      });
    }
  }

  void ForEachTouch(uint32_t node, const auto& visit) const {
    const graphkit_job_node& of = job_.nodes[node];
    for (uint32_t i = 0; i < of.touches; ++i) visit(of.first_touch + i);
  }
  void ForEachEdge(uint32_t from, const auto& visit) const {
    for (const uint32_t i : edges_.Of(from)) visit(job_.edges[i]);
  }
  // One canary stands for each stretch.
  std::span<uint64_t> CanariesOf(const graphkit_touch& touch) {
    return std::span(memory_).subspan(touch.first_stretch, touch.stretches);
  }

  const ExecutionJob& job_;
  UnlikelyOrder order_;
  std::vector<uint64_t> memory_;
  std::vector<uint32_t> needs_;  // of each start and end: how many others come before it
  std::vector<bool> ended_;      // by node
  std::vector<int64_t> uses_;    // by block: touches of nodes that haven't ended
  Grouped edges_;                // by the node that they lead from
  graphkit_job_outcome outcome_{};
};

}  // namespace

Executor HostExecutor() {
  return {.name = "host",
          .jobs = {.partial = PartialEdges::kAll},
          .run = [](const ExecutionJob& job, uint64_t seed) { return HostRun(job, seed).Run(); }};
}

bool ExecutesClean(const Facts& facts, const PolicyReplay& replay, uint32_t orders) {
  return std::ranges::all_of(ExecuteReplay(facts, replay, HostExecutor(), {.orders = orders}),
                             [](const GraphExecution& graph) { return graph.faults.empty(); });
}

}  // namespace graphkit
