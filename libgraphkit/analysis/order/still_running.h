// Nodes that may still run when later ones have ended: behind programmatic and launch completion
// edges, before rewinds, and where nodes or edges were taken out of a graph. Mostly there are none.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct LooseEdge {
  NodeId from, to;
};

// The trace must outlive it.
class StillRunning {
 public:
  StillRunning(const Trace& trace, const Order& order);

  // A graph's edges after whose end their start may still run, the last ones first.
  std::span<const LooseEdge> LooseEdges(GraphId graph) const {
    return loose_.empty() ? std::span<const LooseEdge>() : loose_[graph.index()];
  }
  bool HasLooseEdges() const { return !loose_.empty(); }
  // Of a stream's nodes, those that may still run when the stream's next one has ended.
  std::span<const NodeId> OnStream(StreamId stream) const {
    return stream.index() < running_.size() ? running_[stream.index()] : std::span<const NodeId>();
  }
  // A stream's nodes between two places; none where nothing runs on.
  std::span<const NodeId> NodesBetween(StreamId stream, Seq after, Seq before) const;

 private:
  void FindLooseEdges(const Order& order);
  void FindRunning(const Order& order);

  const Trace& trace_;
  std::vector<std::vector<NodeId>> nodes_;     // by stream, those that are in their graph
  std::vector<std::vector<NodeId>> running_;   // by stream
  std::vector<std::vector<LooseEdge>> loose_;  // by graph; none when all edges are full
};

}  // namespace graphkit
