// Why one node is before another: the edges to follow from it, as few as there can be.
#pragma once

#include <vector>

#include "libgraphkit/analysis/order.h"
#include "libgraphkit/analysis/topology.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Nodes from `from` to `to`, both included, each joined to the next by an edge; inside one graph.
// Empty when there is no path, or the search was given up (`limit` nodes were looked at).
std::vector<NodeId> ShortestPath(const Order& order, const InEdges& in, NodeId from, NodeId to,
                                 size_t limit = 100'000);

}  // namespace graphkit
