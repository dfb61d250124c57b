#include "libgraphkit/analysis/order/topology.h"

#include <algorithm>
#include <numeric>

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

GraphId RootOf(const Trace& trace, GraphId graph) {
  for (size_t i = 0; i < trace.graphs.size() && graph.valid(); ++i) {
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) break;
    graph = trace[parent].graph;
  }
  return graph;
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

std::vector<uint32_t> SortNodes(const InEdges& in) {
  const size_t nodes = in.nodes();
  std::vector<uint32_t> missing(nodes);
  std::vector<uint32_t> first(nodes + 1, 0);
  for (size_t node = 0; node < nodes; ++node) {
    missing[node] = static_cast<uint32_t>(in.Of(node).size());
    for (const InEdge& edge : in.Of(node)) ++first[edge.from.index() + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> out(in.edges.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  std::vector<uint32_t> sorted;
  sorted.reserve(nodes);
  for (size_t node = 0; node < nodes; ++node) {
    for (const InEdge& edge : in.Of(node)) {
      out[next[edge.from.index()]++] = static_cast<uint32_t>(node);
    }
    if (missing[node] == 0) sorted.push_back(static_cast<uint32_t>(node));
  }
  for (size_t at = 0; at < sorted.size(); ++at) {
    const uint32_t node = sorted[at];
    for (uint32_t i = first[node]; i < first[node + 1]; ++i) {
      if (--missing[out[i]] == 0) sorted.push_back(out[i]);
    }
  }
  return sorted;
}

}  // namespace graphkit
