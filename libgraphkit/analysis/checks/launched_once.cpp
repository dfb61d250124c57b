// launched-once: graphs alike that are instantiated anew for each launch.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/model/graph_places.h"

namespace graphkit {
namespace {

constexpr size_t kManyOnce = 8;

// How many nodes, and a hash of what they are, in their order: alike in graphs that one line makes.
using Likeness = std::pair<size_t, uint64_t>;

Likeness LikenessOf(const Trace& trace, std::span<const NodeId> nodes) {
  uint64_t hash = 0;
  for (const NodeId id : nodes) {
    const Node& node = trace[id];
    const uint64_t what = (uint64_t{node.kernel.value} << 8) + static_cast<uint64_t>(node.kind);
    hash = (hash ^ what) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return {nodes.size(), hash};
}

// Execs of graphs alike, in the order in which they were made.
std::map<Likeness, std::vector<ExecId>> AlikeExecs(const Trace& trace) {
  GraphPlaces places(trace);
  std::vector<NodeId> live;
  std::map<Likeness, std::vector<ExecId>> alike;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const GraphId graph = trace.execs[i].graph;
    if (!graph.valid()) continue;
    alike[LikenessOf(trace, places.NodesAt(graph, trace.execs[i].created, &live))].emplace_back(i);
  }
  return alike;
}

}  // namespace

std::vector<Finding> FindLaunchedOnce(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.execs.size() < kManyOnce) return {};
  std::vector<uint32_t> launches(trace.execs.size());
  std::vector<Seq> launched(trace.execs.size());
  for (const Launch& launch : trace.launches) {
    if (launch.exec.index() >= launches.size()) continue;
    ++launches[launch.exec.index()];
    launched[launch.exec.index()] = launch.seq;
  }
  std::vector<bool> replaced(trace.execs.size());
  for (const ExecId exec : ReplacedExecs(facts)) replaced[exec.index()] = true;
  std::vector<Finding> findings;
  for (const auto& [likeness, execs] : AlikeExecs(trace)) {
    std::vector<ExecId> once;  // over before the next one was made
    for (size_t i = 0; i + 1 < execs.size(); ++i) {
      const size_t exec = execs[i].index();
      const bool over = launched[exec] < trace[execs[i + 1]].created;
      if (launches[exec] == 1 && over && !replaced[exec]) once.push_back(execs[i]);
    }
    if (once.size() < kManyOnce || once.size() * 2 < execs.size()) continue;
    Finding finding;
    finding.graph = trace[once.front()].graph;
    finding.message = Count(once.size(), "exec") + " of graphs alike (" +
                      Count(likeness.first, "node") + ", " + NameOf(trace, finding.graph) +
                      " first) were each launched once, and the next was instantiated in their "
                      "place";
    finding.advice =
        "instantiate once and launch that again; where parameters differ, update it "
        "(cudaGraphExecUpdate, or new parameters for its nodes)";
    finding.evidence.push_back(
        {.text = "exec " + std::to_string(once.front().value) + " was the first of them",
         .stack = trace[once.front()].stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
