// The cost of a graph's shape: how long its longest path is, how wide it is, and which of its
// nodes and edges do nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct Shape {
  uint64_t critical_path_nodes = 0;  // on the longest path; a node that holds a graph counts as its
                                     // graph's longest path
  uint64_t critical_path_ns = 0;     // by measured durations; 0: none measured
  uint64_t width = 0;                // most nodes at one distance from the start
  bool operator==(const Shape&) const = default;
};

// By graph, embedded graphs included.
std::vector<Shape> FindShapes(const Trace& trace, const InEdges& in);

// Edges that other edges imply: taking one away changes no order.
std::vector<EdgeId> RedundantEdges(const Trace& trace, const Order& order, const InEdges& in);

}  // namespace graphkit
