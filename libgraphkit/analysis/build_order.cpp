#include <algorithm>
#include <numeric>

#include "libgraphkit/analysis/order.h"

namespace graphkit {
namespace {

// Edges by the node that they lead to.
struct InEdges {
  std::vector<uint32_t> first;  // per node, and one more
  std::vector<InEdge> edges;

  std::span<const InEdge> Of(size_t node) const {
    return {edges.data() + first[node], first[node + 1] - first[node]};
  }
};

bool Counts(const Trace& trace, const Edge& edge) {
  return edge.from.index() < trace.nodes.size() && edge.to.index() < trace.nodes.size() &&
         trace[edge.from].graph == trace[edge.to].graph && InGraph(trace, edge);
}

InEdges GroupByTarget(const Trace& trace) {
  InEdges in;
  in.first.assign(trace.nodes.size() + 1, 0);
  std::vector<bool> counts(trace.edges.size());
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    counts[i] = Counts(trace, trace.edges[i]);
    if (counts[i]) ++in.first[trace.edges[i].to.index() + 1];
  }
  std::partial_sum(in.first.begin(), in.first.end(), in.first.begin());
  in.edges.resize(in.first.back());
  std::vector<uint32_t> next(in.first.begin(), in.first.end() - 1);
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (counts[i]) in.edges[next[edge.to.index()]++] = {edge.from, edge.full()};
  }
  return in;
}

// Ids such that every edge leads from an earlier to a later one; the nodes of a cycle come last,
// and are not in it.
std::vector<uint32_t> Sorted(const InEdges& in, size_t nodes) {
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

Ternary Waits(const Trace& trace, const Node& node) {
  return node.kernel.index() < trace.kernels.size() ? trace[node.kernel].waits : Ternary::kUnknown;
}

void AddNode(const Trace& trace, size_t id, std::span<const InEdge> in, Order* order) {
  const Node& node = trace.nodes[id];
  const bool all_full =
      std::all_of(in.begin(), in.end(), [](const InEdge& edge) { return edge.full; });
  order->Add(NodeId(id), node.graph, node.stream, all_full ? Ternary::kUnknown : Waits(trace, node),
             in);
}

// The common case: edges in the order of the nodes that they lead to, and from earlier nodes.
bool AddInCaptureOrder(const Trace& trace, Order* order) {
  const bool in_order = std::is_sorted(trace.edges.begin(), trace.edges.end(),
                                       [](const Edge& a, const Edge& b) { return a.to < b.to; }) &&
                        std::all_of(trace.edges.begin(), trace.edges.end(),
                                    [](const Edge& edge) { return edge.from < edge.to; });
  if (!in_order) return false;
  std::vector<InEdge> in;
  size_t at = 0;
  for (size_t id = 0; id < trace.nodes.size(); ++id) {
    in.clear();
    for (; at < trace.edges.size() && trace.edges[at].to.index() == id; ++at) {
      const Edge& edge = trace.edges[at];
      if (Counts(trace, edge)) in.push_back({edge.from, edge.full()});
    }
    AddNode(trace, id, in, order);
  }
  return true;
}

}  // namespace

bool InGraph(const Trace& trace, const Node& node) {
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}

bool InGraph(const Trace& trace, const Edge& edge) {
  const Node& from = trace[edge.from];
  return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
         InGraph(trace, from) && InGraph(trace, trace[edge.to]);
}

Order BuildOrder(const Trace& trace, EdgeRule rule) {
  Order order(rule);
  const size_t spare = trace.edges.size() - std::min(trace.nodes.size(), trace.edges.size());
  order.Reserve(trace.nodes.size(), spare + spare / 8 + 16);
  for (size_t id = 0; id < trace.graphs.size(); ++id) {
    if (trace.graphs[id].parent.valid()) order.SetParent(GraphId(id), trace.graphs[id].parent);
  }
  if (AddInCaptureOrder(trace, &order)) return order;
  const InEdges in = GroupByTarget(trace);
  const std::vector<uint32_t> sorted = Sorted(in, trace.nodes.size());
  std::vector<bool> added(trace.nodes.size());
  for (const uint32_t id : sorted) {
    added[id] = true;
    AddNode(trace, id, in.Of(id), &order);
  }
  for (size_t id = 0; id < trace.nodes.size(); ++id) {
    if (!added[id]) AddNode(trace, id, {}, &order);
  }
  return order;
}

}  // namespace graphkit
