#include "libgraphkit/analysis/order/topology.h"

#include <numeric>

namespace graphkit {

int ExclusiveBodies(const Ran& trace, const Nesting& nesting, GraphId a, GraphId b) {
  a = nesting.Outermost(a, b);
  b = a.valid() ? nesting.Outermost(b, a) : b;
  const NodeId parent = nesting.Holder(a);
  if (!parent.valid() || parent != nesting.Holder(b)) return 0;
  const Node& holder = trace[parent];
  if (holder.kind != NodeKind::kConditional || MayRepeat(holder)) return 0;
  return trace[a].body < trace[b].body ? 1 : -1;
}

std::vector<bool> FindUnfinished(const Ran& trace) {
  if (!trace.completeness.truncated || trace.nodes.empty()) return {};
  const std::vector<GraphId> roots = FindRoots(trace);
  std::vector<bool> instantiated(trace.graphs.size());
  for (const ExecGraph& of : trace.exec_graphs) {
    if (of.graph.index() < instantiated.size()) instantiated[of.graph.index()] = true;
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

InEdges FindInEdges(const Ran& trace) {
  InEdges in;
  in.first.assign(trace.nodes.size() + 1, 0);
  for (const EdgeId id : trace.graph_edges) ++in.first[trace[id].to.index() + 1];
  std::partial_sum(in.first.begin(), in.first.end(), in.first.begin());
  in.edges.resize(in.first.back());
  std::vector<uint32_t> next(in.first.begin(), in.first.end() - 1);
  for (const EdgeId id : trace.graph_edges) {
    const Edge& edge = trace[id];
    in.edges[next[edge.to.index()]++] = {edge.from, edge.full(), edge.from_port};
  }
  return in;
}

Grouped EdgesBy(const Ran& trace, NodeId Edge::*end) {
  Grouped by;
  by.Assign(trace.edges.size(), trace.nodes.size(), [&](size_t i) {
    return (trace.graph_edges.Has(EdgeId(i)) ? trace.edges[i].*end : NodeId()).index();
  });
  return by;
}

std::vector<uint32_t> SortNodes(const InEdges& in, const Rows& nodes) {
  // By number among the nodes.
  struct Arrow {
    uint32_t from;
    uint32_t to;
  };
  std::vector<Arrow> arrows;
  std::vector<uint32_t> missing(nodes.size());
  std::vector<uint32_t> sorted;
  sorted.reserve(nodes.size());
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    const std::span<const InEdge> edges = in.Of(nodes[node]);
    for (const InEdge& edge : edges) {
      arrows.push_back({static_cast<uint32_t>(nodes.NumberOf(edge.from.index())), node});
    }
    missing[node] = static_cast<uint32_t>(edges.size());
    if (edges.empty()) sorted.push_back(node);
  }
  Grouped out;
  out.Assign(arrows.size(), nodes.size(), [&](size_t i) { return arrows[i].from; });
  for (size_t at = 0; at < sorted.size(); ++at) {
    for (const uint32_t arrow : out.Of(sorted[at])) {
      const uint32_t to = arrows[arrow].to;
      if (--missing[to] == 0) sorted.push_back(to);
    }
  }
  for (uint32_t& node : sorted) node = static_cast<uint32_t>(nodes[node]);
  return sorted;
}

}  // namespace graphkit
