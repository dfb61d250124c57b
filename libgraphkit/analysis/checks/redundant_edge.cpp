// redundant-edge: edges that others imply.
#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {

namespace {

constexpr size_t kShownEdges = 3;

}  // namespace

std::vector<Finding> FindRedundantEdges(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<EdgeId>> by_graph(trace.graphs.size());
  for (const EdgeId edge : RedundantEdges(trace, facts.order, facts.in_edges)) {
    const Node& to = trace[trace[edge].to];
    // A stream's own order isn't the program's to leave out.
    const bool own = to.stream.valid() && trace[trace[edge].from].stream == to.stream;
    if (trace[edge].full() && !own) by_graph[to.graph.index()].push_back(edge);
  }
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < by_graph.size(); ++graph) {
    const std::vector<EdgeId>& edges = by_graph[graph];
    if (edges.empty()) continue;
    Finding finding;
    finding.graph = GraphId(graph);
    finding.message = Count(edges.size(), "edge") + " of " + NameOf(trace, finding.graph) +
                      (edges.size() == 1 ? " is" : " are") + " implied by others";
    finding.advice =
        "leave out the wait that makes the edge: the stream is after that work already";
    for (size_t i = 0; i < std::min(edges.size(), kShownEdges); ++i) {
      const Edge& edge = trace[edges[i]];
      finding.evidence.push_back({.text = NameOf(trace, edge.from) + " is before " +
                                          NameOf(trace, edge.to) + " without edge " +
                                          std::to_string(edges[i].value),
                                  .nodes = {edge.from, edge.to},
                                  .edges = {edges[i]},
                                  .stack = trace[edge.to].stack});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
