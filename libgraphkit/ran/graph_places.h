// Pairs of nodes that have the same place in two graphs: nodes are paired in the order in which
// they were made, embedded graphs with their nodes (as cudaGraphExecUpdate pairs them; the
// documentation says "the order of the calls").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class GraphPlaces {
 public:
  // The trace must outlive it.
  explicit GraphPlaces(const Trace& trace);

  // The node of the graph `root` as it was at a place, or of one inside it, that has the node's
  // place in its own as that was at another; the node itself where that is its root. None: there is
  // no such node, or it is of another kind.
  NodeId Counterpart(NodeId node, Seq node_at, GraphId root, Seq root_at) const;
  // A graph inside a node; none: it holds none.
  GraphId Held(NodeId node, uint32_t body) const;
  // The nodes that a graph has at a place; `live` holds them where some were destroyed.
  std::span<const NodeId> NodesAt(GraphId graph, Seq at, std::vector<NodeId>* live) const;
  // A graph at a place.
  struct GraphAt {
    GraphId graph;
    Seq at;
  };
  // The nodes of two graphs, and of the graphs inside them, pair by pair; none: they differ.
  using NodePairs = std::vector<std::pair<NodeId, NodeId>>;
  std::optional<NodePairs> Pairs(GraphAt first, GraphAt second) const;

 private:
  bool AddPairs(GraphAt first, GraphAt second, size_t depth, NodePairs* pairs) const;

  const Trace& trace_;
  std::vector<uint32_t> first_;  // by graph, in `nodes_`; and the end
  std::vector<NodeId> nodes_;
  std::vector<bool> shrank_;  // by graph: nodes of it were destroyed
  std::unordered_map<NodeId, std::vector<GraphId>> held_;
};

}  // namespace graphkit
