#include "libgraphkit/analysis/proof.h"

#include <unordered_map>

namespace graphkit {

// Backwards from `to`, only through nodes that end after `from`.
std::vector<NodeId> ShortestPath(const Order& order, const InEdges& in, NodeId from, NodeId to,
                                 size_t limit) {
  std::unordered_map<uint32_t, NodeId> next;  // of each node reached, the way to `to`
  std::vector<NodeId> open = {to};
  next.emplace(to.value, NodeId());
  for (size_t at = 0; at < open.size() && at < limit; ++at) {
    const NodeId node = open[at];
    if (node == from) break;
    for (const InEdge& edge : in.Of(node.index())) {
      if (!order.EndsBefore(from, edge.from)) continue;
      if (next.emplace(edge.from.value, node).second) open.push_back(edge.from);
    }
  }
  std::vector<NodeId> path;
  if (!next.contains(from.value)) return path;
  for (NodeId node = from; node.valid(); node = next.at(node.value)) path.push_back(node);
  return path;
}

}  // namespace graphkit
