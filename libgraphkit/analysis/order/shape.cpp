#include "libgraphkit/analysis/order/shape.h"

#include <algorithm>
#include <functional>
#include <map>

#include "libgraphkit/analysis/group_by.h"

namespace graphkit {
namespace {

// Per node: nodes and nanoseconds of the longest path that ends with it.
struct Longest {
  uint64_t nodes = 0;
  uint64_t ns = 0;
};

class Walker {
 public:
  Walker(const Trace& trace, const InEdges& in)
      : trace_(trace), in_(in), longest_(trace.nodes.size()), shapes_(trace.graphs.size()) {}

  // Graphs that are held come before the ones that hold them: deeper graphs first.
  std::vector<Shape> Walk() {
    const std::vector<uint32_t> sorted = SortNodes(in_);
    const Grouped by = Group(sorted, trace_.graphs.size(),
                             [&](uint32_t node) { return trace_.nodes[node].graph; });
    held_.resize(trace_.nodes.size());
    std::multimap<uint32_t, GraphId, std::greater<>> deepest;  // by depth
    for (size_t i = 0; i < trace_.graphs.size(); ++i) deepest.emplace(Depth(GraphId(i)), i);
    for (const auto& [depth, graph] : deepest) WalkGraph(graph, by, sorted);
    return std::move(shapes_);
  }

 private:
  uint32_t Depth(GraphId graph) const {
    uint32_t depth = 0;
    for (NodeId parent = trace_[graph].parent; parent.valid(); ++depth) {
      parent = trace_[trace_[parent].graph].parent;
    }
    return depth;
  }

  void WalkGraph(GraphId graph, const Grouped& by, const std::vector<uint32_t>& sorted) {
    Shape& shape = shapes_[graph.index()];
    level_sizes_.clear();
    for (const uint32_t item : by.Of(graph.index())) {
      const uint32_t node = sorted[item];
      if (!InGraph(trace_, trace_.nodes[node])) continue;
      Longest longest = Before(node);
      if (level_sizes_.size() <= longest.nodes) level_sizes_.resize(longest.nodes + 1);
      shape.width = std::max(shape.width, ++level_sizes_[longest.nodes]);
      longest.nodes += std::max<uint64_t>(1, held_[node].nodes);
      longest.ns += std::max<uint64_t>(trace_.nodes[node].duration_ns, held_[node].ns);
      longest_[node] = longest;
      shape.critical_path_nodes = std::max(shape.critical_path_nodes, longest.nodes);
      shape.critical_path_ns = std::max(shape.critical_path_ns, longest.ns);
    }
    const NodeId parent = trace_[graph].parent;
    if (!parent.valid()) return;
    Longest& held = held_[parent.index()];
    held = {std::max(held.nodes, shape.critical_path_nodes),
            std::max(held.ns, shape.critical_path_ns)};
  }

  Longest Before(uint32_t node) const {
    Longest longest;
    for (const InEdge& edge : in_.Of(node)) {
      const Longest& from = longest_[edge.from.index()];
      longest = {std::max(longest.nodes, from.nodes), std::max(longest.ns, from.ns)};
    }
    return longest;
  }

  const Trace& trace_;
  const InEdges& in_;
  std::vector<Longest> longest_;
  std::vector<Longest> held_;  // by node: of the graphs that it holds
  std::vector<uint64_t> level_sizes_;
  std::vector<Shape> shapes_;
};

// Whether the edge says nothing that another edge into the same node doesn't say.
bool Implied(const Trace& trace, const Order& order, const InEdges& in, EdgeId id) {
  const Edge& edge = trace[id];
  if (!edge.full()) return false;
  const std::span<const InEdge> others = in.Of(edge.to.index());
  return std::ranges::any_of(others, [&](const InEdge& other) {
    if (other.from == edge.from) return false;
    return other.full ? order.EndsBefore(edge.from, other.from)
                      : order.Before(edge.from, other.from);
  });
}

}  // namespace

std::vector<Shape> FindShapes(const Trace& trace, const InEdges& in) {
  return Walker(trace, in).Walk();
}

std::vector<EdgeId> RedundantEdges(const Trace& trace, const Order& order, const InEdges& in) {
  std::vector<EdgeId> redundant;
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (!Joins(trace, edge) || in.Of(edge.to.index()).size() < 2) continue;
    if (Implied(trace, order, in, EdgeId(i))) redundant.emplace_back(i);
  }
  return redundant;
}

}  // namespace graphkit
