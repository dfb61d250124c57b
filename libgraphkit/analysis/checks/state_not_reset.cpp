// state-not-reset: memory that each launch of a graph reads and writes, and that was set outside of
// it only, before the first launch.
#include <map>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// The work outside of graphs on a block, in order.
struct Outside {
  std::vector<uint32_t> sets;  // in Trace::works: that only write it
  bool used = false;           // since the last of these
  bool set_again = false;      // after a use
  Seq last = 0;                // work that may write it
};

struct StateFinder {
  std::vector<Finding> FindAll() {
    for (uint32_t i = 0; i < trace.works.size(); ++i) AddWork(i);
    for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
      if (facts.launches()[graph].size() < 2) continue;
      for (const GraphInput& input : facts.inputs()[graph]) Judge(GraphId(graph), input.block);
    }
    return std::move(findings);
  }

  // True if it surely sets the block: a memset or a copy into it, or a kernel that is given nothing
  // else, as a fill is.
  bool Sets(NodeKind kind, Slice accesses, BlockId block) const {
    bool sets = false, alone = true;
    for (const Access& access : trace.accesses.Of(accesses)) {
      alone = alone && access.block == block;
      if (access.block == block) sets = sets || access.mode == AccessMode::kWrite;
    }
    return sets || (alone && kind == NodeKind::kKernel);
  }

  void AddWork(uint32_t index) {
    const EagerWork& work = trace.works[index];
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      Outside& outside = by_block[access.block];
      if (access.mode != AccessMode::kRead) outside.last = work.seq;
      if (!outside.sets.empty() && outside.sets.back() == index) continue;
      if (!Sets(work.kind, work.accesses, access.block)) {
        outside.used = true;
        continue;
      }
      outside.set_again = outside.set_again || (outside.used && !outside.sets.empty());
      outside.used = false;
      outside.sets.push_back(index);
    }
  }

  void Judge(GraphId graph, BlockId block) {
    const Outside& outside = by_block[block];
    const auto& launches = facts.launches()[graph.index()];
    if (outside.sets.empty() || outside.last > trace.launches[launches.front()].seq) return;
    const std::span<const NodeId> nodes = touching.Of(block, graph);
    std::map<KernelId, size_t> writers;
    for (const NodeId id : nodes) {
      const Node node = trace[id];
      if (node.kind != NodeKind::kKernel || Sets(node.kind, node.accesses, block)) return;
      for (const Access& access : trace.accesses.Of(node.accesses)) {
        const bool writes = access.block == block && access.mode != AccessMode::kRead;
        if (writes && SureAccess(trace, node.kernel, access)) ++writers[node.kernel];
      }
    }
    // Without resets from step to step it may be state that is meant to last, as an optimizer's;
    // unless one kernel uses it again and again, as it does a workspace.
    const EagerWork& set = trace.works[outside.sets.back()];
    const bool workspace = writers.size() == 1 && writers.begin()->second > 1 &&
                           outside.sets.size() == 1 && set.kind == NodeKind::kMemset;
    if (writers.empty() || (!outside.set_again && !workspace)) return;
    Finding& finding = findings.emplace_back();
    finding.severity = workspace ? Severity::kNote : Severity::kWarning;
    finding.graph = graph;
    finding.nodes = {nodes.begin(), nodes.end()};
    finding.assumes = Assumption::kArguments;
    AddBlock(trace, block, &finding);
    finding.message = NameOf(trace, graph) + " reads and writes " + NameOf(trace, block) +
                      ", which was set " +
                      (workspace ? "once, by a memset, " : "before each use outside of graphs, ") +
                      "and never since the first of " + std::to_string(launches.size()) +
                      " launches: each of them finds what the one before left";
    finding.advice = "capture what sets it (a memset node), or set it before each launch";
    finding.evidence = {
        AllocatedThere(facts, block),
        {.text = NameOf(trace, set) + " set it last", .blocks = {block}, .stack = set.stack},
        CapturedThere(trace, nodes.front())};
  }

  const Facts& facts;
  const Trace& trace = facts.trace;
  TouchesByGraph touching{facts};
  std::map<BlockId, Outside> by_block = {};
  std::vector<Finding> findings = {};
};

}  // namespace

// Only where all work outside of graphs is recorded is it known that nothing set the memory again.
std::vector<Finding> FindStateNotReset(const Facts& facts) {
  if (!facts.trace.process.all_work || facts.trace.launches.empty()) return {};
  return StateFinder{facts}.FindAll();
}

}  // namespace graphkit
