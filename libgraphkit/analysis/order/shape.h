// Shapes of graphs: their cost, the part that a drawing shows, and where they differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/ran/graph_places.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// The cost of a graph's shape: how long its longest path is, how wide it is, and which of its
// nodes and edges do nothing.

struct Shape {
  uint64_t critical_path_nodes = 0;  // on the longest path; a node that holds a graph counts as its
                                     // graph's longest path
  uint64_t critical_path_ns = 0;     // by measured durations; 0: none measured
  uint64_t width = 0;                // most nodes at one distance from the start
  bool operator==(const Shape&) const = default;
};

// By graph, embedded graphs included.
std::vector<Shape> FindShapes(const Ran& trace, const InEdges& in);

// Edges that other edges imply: taking one away changes no order.
std::vector<EdgeId> RedundantEdges(const Ran& trace, const Order& order, const InEdges& in);

// Nodes and graphs that a drawing shows, and the path that it shows with thick lines.

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
Selection Select(const Ran& trace, const SelectionOptions& options);

// The longest path through the selected nodes: by measured durations where all kernels among them
// have one, otherwise by the number of nodes. Of equally long ones the one of the smallest ids,
// seen from its end. Empty when nothing is selected.
std::vector<NodeId> LongestPath(const Ran& trace, const std::vector<bool>& nodes);

// That of each graph, all of its nodes selected; nodes of embedded graphs are in none but their
// own.
std::vector<std::vector<NodeId>> LongestPaths(const Ran& trace, const InEdges& in);

// Where a graph differs from what an exec runs, so that CUDA can't update the one to the other:
// nodes are paired in the order in which they were made (ran/graph_places.h).
//
//     exec, of graph 0:   a ─ b ─ c                 graph 1:   d ─ e ─ f ─ g
//     place:              0   1   2                            0   1   2   3      place 3: no pair

struct GraphDifference {
  enum class What : uint8_t { kNothing, kNode, kKind, kEdges, kKernel, kCopy, kSize };
  What what = What::kNothing;
  uint32_t place = 0;  // in their graphs
  NodeId old;          // the exec's graph's; none: it has none at the place
  NodeId now;          // the other's
  std::string text;    // "node 7 (memcpy) stands where the exec has node 3 (Scale)"
};

class GraphDifferences {
 public:
  explicit GraphDifferences(const Ran& trace) : trace_(trace), places_(trace), edges_(trace) {}

  // The first one between a graph as it was at one time and another at another; `blamed`: a node of
  // the second, if CUDA names one: what differs in it comes first.
  GraphDifference First(GraphId old, Seq old_at, GraphId now, Seq now_at, NodeId blamed = {});

 private:
  // The nodes of a graph at a place.
  struct NodesAt {
    std::span<const NodeId> nodes;
    Seq at;
  };
  GraphDifference InShape(NodesAt old, NodesAt now);
  GraphDifference InPair(uint32_t place, NodeId old, NodeId now) const;
  bool SameEdges(NodesAt old, NodesAt now, uint32_t place);

  const Ran& trace_;
  GraphPlaces places_;
  EdgesAt edges_;
};

// "from pageable memory to the device": what a copy reads and writes, as far as it is known.
std::string CopyText(const Ran& trace, NodeId node);

}  // namespace graphkit
