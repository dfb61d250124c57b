// programmatic-no-gain: programmatic edges whose producer never lets the consumer start early.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// Edges of one pair of kernels.
struct LatePair {
  EdgeId first;
  uint64_t edges = 0;
};

Evidence EvidenceOf(const Trace& trace, const LatePair& pair) {
  const Edge& edge = trace[pair.first];
  return {.text = Count(pair.edges, "edge") + ": " + NameOf(trace, edge.from) +
                  " never triggers, so that " + NameOf(trace, edge.to) +
                  " starts when all its blocks have ended",
          .nodes = {edge.from, edge.to},
          .edges = {pair.first},
          .stack = trace[edge.to].stack};
}

}  // namespace

std::vector<Finding> FindProgrammaticNoGain(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!facts.partial_edges()) return {};
  using Pairs = std::map<std::pair<KernelId, KernelId>, LatePair>;
  std::vector<Pairs> pairs(trace.graphs.size());
  std::vector<uint64_t> programmatic(trace.graphs.size());
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (edge.from_port != kPortProgrammatic || !Joins(trace, edge)) continue;
    const size_t graph = trace[edge.from].graph.index();
    ++programmatic[graph];
    if (!EarlyStartOf(trace, edge).at_end()) continue;
    LatePair& pair = pairs[graph][{trace[edge.from].kernel, trace[edge.to].kernel}];
    if (pair.edges++ == 0) pair.first = EdgeId(i);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    std::vector<LatePair> late;
    uint64_t edges = 0;
    for (const auto& [kernels, pair] : pairs[graph.index()]) {
      late.push_back(pair);
      edges += pair.edges;
    }
    if (late.empty()) return;
    std::ranges::stable_sort(late, std::ranges::greater(), &LatePair::edges);
    const Edge& most = trace[late.front().first];
    finding->message = std::to_string(edges) + " of " +
                       Count(programmatic[graph.index()], "programmatic edge") + " of " +
                       NameOf(trace, graph) + " let" + (edges == 1 ? "s" : "") +
                       " no work overlap: the producer never triggers";
    finding->advice = "call cudaTriggerProgrammaticLaunchCompletion() in " +
                      NameOf(trace, most.from) + " once " + NameOf(trace, most.to) +
                      " may start, which must then call cudaGridDependencySynchronize() before "
                      "it touches what they share";
    for (size_t i = 0; i < std::min(late.size(), kShownEvidence); ++i) {
      finding->nodes.push_back(trace[late[i].first].from);
      finding->evidence.push_back(EvidenceOf(trace, late[i]));
    }
  });
}

}  // namespace graphkit
