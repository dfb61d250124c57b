// Nodes and graphs that a drawing shows, and the path that it shows with thick lines.
#pragma once

#include <vector>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct SelectionOptions {
  GraphId graph;       // this one, with the graphs inside it; none: all
  NodeId focus;        // only what leads to this node and what follows from it; none: everything
  uint32_t depth = 5;  // edges from the focus, each way
  // Without a graph or a focus: so many of the graphs that stand alone, those with the most nodes;
  // 0: all.
  uint64_t most_graphs = 0;
  bool operator==(const SelectionOptions&) const = default;
};

struct Selection {
  std::vector<bool> nodes;
  std::vector<bool> graphs;
  uint64_t graphs_left_out = 0;  // for being more than most_graphs
  bool operator==(const Selection&) const = default;
};

// Nodes that were removed from a graph while it went on aren't in a selection. With a focus, graphs
// without a selected node aren't either; otherwise empty graphs are.
Selection Select(const Trace& trace, const SelectionOptions& options);

// The longest path through the selected nodes: by measured durations where all kernels among them
// have one, otherwise by the number of nodes. Of equally long ones the one of the smallest ids,
// seen from its end. Empty when nothing is selected.
std::vector<NodeId> LongestPath(const Trace& trace, const std::vector<bool>& nodes);

// That of each graph, all of its nodes selected; nodes of embedded graphs are in none but their
// own.
std::vector<std::vector<NodeId>> LongestPaths(const Trace& trace, const InEdges& in);

}  // namespace graphkit
