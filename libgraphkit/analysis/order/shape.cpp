#include "libgraphkit/analysis/order/shape.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "libgraphkit/group_by.h"

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
      : trace_(trace), in_(in), nodes_(trace.nodes.size()), shapes_(trace.graphs.size()) {}

  // Graphs that are held come before the ones that hold them: deeper graphs first.
  std::vector<Shape> Walk() {
    as_they_are_ = LeadForwards();
    if (!as_they_are_) sorted_ = SortNodes(in_);
    Grouped by;
    by.Assign(as_they_are_ ? trace_.nodes.size() : sorted_.size(), trace_.graphs.size(),
              [&](size_t item) { return trace_.nodes[NodeAt(item)].graph.index(); });
    std::multimap<uint32_t, GraphId, std::greater<>> deepest;  // by depth
    for (size_t i = 0; i < trace_.graphs.size(); ++i) deepest.emplace(Depth(GraphId(i)), i);
    for (const auto& [depth, graph] : deepest) WalkGraph(graph, by);
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

  // Nearly always: then the nodes are sorted as they are.
  bool LeadForwards() const {
    for (size_t node = 0; node < in_.nodes(); ++node) {
      for (const InEdge& edge : in_.Of(node)) {
        if (edge.from.index() >= node) return false;
      }
    }
    return true;
  }
  size_t NodeAt(size_t item) const { return as_they_are_ ? item : sorted_[item]; }

  void WalkGraph(GraphId graph, const Grouped& by) {
    Shape& shape = shapes_[graph.index()];
    level_sizes_.clear();
    for (const uint32_t item : by.Of(graph.index())) {
      const size_t index = NodeAt(item);
      const Node& node = trace_.nodes[index];
      if (!InGraph(trace_, node)) continue;
      Longest longest = Before(index);
      if (level_sizes_.size() <= longest.nodes) level_sizes_.resize(longest.nodes + 1);
      shape.width = std::max(shape.width, ++level_sizes_[longest.nodes]);
      const auto held = held_.find(NodeId(index));
      const Longest inside = held == held_.end() ? Longest() : held->second;
      longest.nodes += std::max<uint64_t>(1, inside.nodes);
      longest.ns += std::max<uint64_t>(node.duration_ns, inside.ns);
      Set(index, longest);
      shape.critical_path_nodes = std::max(shape.critical_path_nodes, longest.nodes);
      shape.critical_path_ns = std::max(shape.critical_path_ns, longest.ns);
    }
    const NodeId parent = trace_[graph].parent;
    if (!parent.valid()) return;
    Longest& held = held_[parent];
    held = {std::max(held.nodes, shape.critical_path_nodes),
            std::max(held.ns, shape.critical_path_ns)};
  }

  Longest Before(size_t node) const {
    Longest longest;
    for (const InEdge& edge : in_.Of(node)) {
      longest.nodes = std::max<uint64_t>(longest.nodes, nodes_[edge.from.index()]);
      if (!ns_.empty()) longest.ns = std::max(longest.ns, ns_[edge.from.index()]);
    }
    return longest;
  }
  void Set(size_t node, const Longest& longest) {
    nodes_[node] = static_cast<uint32_t>(longest.nodes);
    if (ns_.empty() && longest.ns != 0) ns_.resize(nodes_.size());
    if (!ns_.empty()) ns_[node] = longest.ns;
  }

  const Trace& trace_;
  const InEdges& in_;
  bool as_they_are_ = false;                  // the nodes are sorted
  std::vector<uint32_t> sorted_;              // otherwise: nodes
  std::vector<uint32_t> nodes_;               // by node, as Longest::nodes
  std::vector<uint64_t> ns_;                  // as Longest::ns; empty: no durations so far
  std::unordered_map<NodeId, Longest> held_;  // by node: of the graphs that it holds
  std::vector<uint64_t> level_sizes_;
  std::vector<Shape> shapes_;
};

// By node that full edges into one node come from, whether another edge says what they say.
class ImpliedEdges {
 public:
  ImpliedEdges(const Trace& trace, const Order& order, const InEdges& in)
      : trace_(trace), order_(order), in_(in) {}

  bool Implied(EdgeId id) {
    const Edge& edge = trace_[id];
    if (!edge.full()) return false;
    if (edge.to != to_) Find(edge.to);
    const auto at = std::ranges::lower_bound(sources_, edge.from);
    return implied_[static_cast<size_t>(at - sources_.begin())];
  }

 private:
  void Find(NodeId to) {
    to_ = to;
    sources_.clear();
    for (const InEdge& edge : in_.Of(to.index())) {
      if (edge.full) sources_.push_back(edge.from);
    }
    std::ranges::sort(sources_);
    sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
    order_.EndBeforeOthers(sources_, &implied_);
    for (const InEdge& other : in_.Of(to.index())) {
      if (other.full) continue;
      for (size_t i = 0; i < sources_.size(); ++i) {
        if (order_.Before(sources_[i], other.from)) implied_[i] = true;
      }
    }
  }

  const Trace& trace_;
  const Order& order_;
  const InEdges& in_;
  NodeId to_;
  std::vector<NodeId> sources_;
  std::vector<bool> implied_;
};

}  // namespace

std::vector<Shape> FindShapes(const Trace& trace, const InEdges& in) {
  return Walker(trace, in).Walk();
}

std::vector<EdgeId> RedundantEdges(const Trace& trace, const Order& order, const InEdges& in) {
  std::vector<EdgeId> redundant;
  ImpliedEdges implied(trace, order, in);
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (!Joins(trace, edge) || in.Of(edge.to.index()).size() < 2) continue;
    if (implied.Implied(EdgeId(i))) redundant.emplace_back(i);
  }
  return redundant;
}

}  // namespace graphkit
