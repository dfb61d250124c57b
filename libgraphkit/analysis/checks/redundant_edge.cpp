// redundant-edge: edges that others imply.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindRedundantEdges(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<EdgeId>> by_graph(trace.graphs.size());
  for (const EdgeId edge : RedundantEdges(trace, facts.order(), facts.in_edges())) {
    const Node& to = trace[trace[edge].to];
    // A stream's own order isn't the program's to leave out.
    const bool own = to.stream.valid() && trace[trace[edge].from].stream == to.stream;
    if (trace[edge].full() && !own) by_graph[to.graph.index()].push_back(edge);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<EdgeId>& edges = by_graph[graph.index()];
    if (edges.empty()) return;
    finding->message = Count(edges.size(), "edge") + " of " + NameOf(trace, graph) +
                       (edges.size() == 1 ? " is" : " are") + " implied by others";
    finding->advice =
        "leave out the wait that makes the edge: the stream is after that work already";
    for (size_t i = 0; i < std::min(edges.size(), kShownEvidence); ++i) {
      const Edge& edge = trace[edges[i]];
      finding->evidence.push_back({.text = NameOf(trace, edge.from) + " is before " +
                                           NameOf(trace, edge.to) + " without edge " +
                                           std::to_string(edges[i].value),
                                   .nodes = {edge.from, edge.to},
                                   .edges = {edges[i]},
                                   .stack = trace[edge.to].stack});
    }
  });
}

}  // namespace graphkit
