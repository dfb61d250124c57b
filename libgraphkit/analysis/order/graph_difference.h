// Where a graph differs from what an exec runs, so that CUDA can't update the one to the other:
// nodes are paired in the order in which they were made (graph_places.h).
//
//     exec, of graph 0:   a ─ b ─ c                 graph 1:   d ─ e ─ f ─ g
//     place:              0   1   2                            0   1   2   3      place 3: no pair
#pragma once

#include <cstdint>
#include <string>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/graph_places.h"

namespace graphkit {

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
  explicit GraphDifferences(const Trace& trace) : trace_(trace), places_(trace), edges_(trace) {}

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

  const Trace& trace_;
  GraphPlaces places_;
  EdgesAt edges_;
};

// "from pageable memory to the device": what a copy reads and writes, as far as it is known.
std::string CopyText(const Trace& trace, NodeId node);

}  // namespace graphkit
