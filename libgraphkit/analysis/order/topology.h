// A trace's graphs as launches ran them (ran/ran.h): each node's in-edges, and an order of all
// nodes in which every edge leads forwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/analysis/order/slice.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/model/nesting.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// The node that a record made; none: it made none.
inline NodeId NodeAt(const Ran& trace, Seq seq) {
  const auto node = std::ranges::lower_bound(trace.nodes, seq, {}, &Node::seq);
  const bool there = node != trace.nodes.end() && node->seq == seq;
  return there ? NodeId(static_cast<size_t>(node - trace.nodes.begin())) : NodeId();
}

// 1 if `a` is in an earlier body of a conditional than `b`, -1 if in a later one; 0 if they aren't
// in bodies of one of which at most one runs.
int ExclusiveBodies(const Ran& trace, const Nesting& nesting, GraphId a, GraphId b);

// Nodes whose edges may be missing, since the trace was cut off before them: its last node, and
// what was put into graphs by calls, as long as no exec was made of them. Empty: there are none.
std::vector<bool> FindUnfinished(const Ran& trace);

struct InEdge {
  NodeId from;
  bool full = true;  // Edge::full()
  uint8_t from_port = kPortDefault;
  bool operator==(const InEdge&) const = default;
};

// Edges that are in their graph, by the node that they lead to.
struct InEdges {
  std::vector<uint32_t> first;  // per node, and one more
  std::vector<InEdge> edges;

  size_t nodes() const { return first.size() - 1; }
  std::span<const InEdge> Of(size_t node) const {
    return {edges.data() + first[node], first[node + 1] - first[node]};
  }
};
InEdges FindInEdges(const Ran& trace);

// The edges into nodes at any place of the trace, whether they count later or not.
class EdgesAt {
 public:
  explicit EdgesAt(const Ran& trace) : trace_(trace) {}
  // visit(const InEdge&)
  template <typename Visit>
  void ForEachInto(NodeId node, Seq at, Visit visit) {
    if (!by_end_) {
      by_end_ = Group(trace_.edges, trace_.nodes.size(), [](const Edge& edge) { return edge.to; });
    }
    for (const uint32_t i : by_end_->Of(node.index())) {
      const Edge edge = trace_.edges[i];
      const bool there = edge.seq < at && edge.removed > at && trace_[edge.from].destroyed > at;
      if (there) visit(InEdge{edge.from, edge.full(), edge.from_port});
    }
  }

 private:
  const Ran& trace_;
  std::optional<Grouped> by_end_;  // made when first asked for
};

// The same for either end of edges: by node, the edges that leave it (`end` is Edge::from), or
// those that lead to it.
Grouped EdgesBy(const Ran& trace, NodeId Edge::*end);

// Ids of nodes such that every edge leads from an earlier to a later one. Nodes of a cycle, and
// what follows them, are left out. `nodes`: with each of them all that edges join it with.
std::vector<uint32_t> SortNodes(const InEdges& in, const Rows& nodes);
inline std::vector<uint32_t> SortNodes(const InEdges& in) {
  return SortNodes(in, Rows::All(in.nodes()));
}

}  // namespace graphkit
