#include "libgraphkit/analysis/order/topology.h"

#include <algorithm>
#include <numeric>

#include "libgraphkit/analysis/group_by.h"

namespace graphkit {

bool HoldsGraph(const Trace& trace) {
  return std::ranges::any_of(trace.nodes,
                             [&trace](const Node& node) { return InGraph(trace, node); });
}

bool IsWithin(const Trace& trace, GraphId graph, GraphId outer) {
  while (graph != outer) {
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) return false;
    graph = trace[parent].graph;
  }
  return true;
}

std::vector<GraphId> FindRoots(const Trace& trace) {
  std::vector<GraphId> roots(trace.graphs.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = RootOf(trace, GraphId(i));
  return roots;
}

std::vector<bool> FindUnfinished(const Trace& trace) {
  if (!trace.completeness.truncated || trace.nodes.empty()) return {};
  const std::vector<GraphId> roots = FindRoots(trace);
  std::vector<bool> instantiated(trace.graphs.size());
  for (const Exec& exec : trace.execs) {
    if (exec.graph.index() < instantiated.size()) instantiated[exec.graph.index()] = true;
  }
  std::vector<bool> unfinished(trace.nodes.size());
  for (size_t i = 0; i < unfinished.size(); ++i) {
    const GraphId graph = trace.nodes[i].graph;
    unfinished[i] =
        trace[graph].origin != GraphOrigin::kCapture && !instantiated[roots[graph.index()].index()];
  }
  unfinished.back() = true;
  return unfinished;
}

InEdges FindInEdges(const Trace& trace) {
  InEdges in;
  in.first.assign(trace.nodes.size() + 1, 0);
  std::vector<bool> joins(trace.edges.size());
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    joins[i] = Joins(trace, trace.edges[i]);
    if (joins[i]) ++in.first[trace.edges[i].to.index() + 1];
  }
  std::partial_sum(in.first.begin(), in.first.end(), in.first.begin());
  in.edges.resize(in.first.back());
  std::vector<uint32_t> next(in.first.begin(), in.first.end() - 1);
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (joins[i]) in.edges[next[edge.to.index()]++] = {edge.from, edge.full()};
  }
  return in;
}

Grouped EdgesBy(const Trace& trace, NodeId Edge::*end) {
  return Group(trace.edges, trace.nodes.size(),
               [&](const Edge& edge) { return Joins(trace, edge) ? edge.*end : NodeId(); });
}

std::vector<uint32_t> SortNodes(const InEdges& in) {
  const size_t nodes = in.nodes();
  const Grouped out = Group(in.edges, nodes, [](const InEdge& edge) { return edge.from; });
  std::vector<uint32_t> leads_to(in.edges.size());  // of each edge
  std::vector<uint32_t> missing(nodes);
  std::vector<uint32_t> sorted;
  sorted.reserve(nodes);
  for (uint32_t node = 0; node < nodes; ++node) {
    std::fill(leads_to.begin() + in.first[node], leads_to.begin() + in.first[node + 1], node);
    missing[node] = in.first[node + 1] - in.first[node];
    if (missing[node] == 0) sorted.push_back(node);
  }
  for (size_t at = 0; at < sorted.size(); ++at) {
    for (const uint32_t edge : out.Of(sorted[at])) {
      if (--missing[leads_to[edge]] == 0) sorted.push_back(leads_to[edge]);
    }
  }
  return sorted;
}

}  // namespace graphkit
