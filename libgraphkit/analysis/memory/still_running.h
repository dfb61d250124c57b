// Nodes that may still run when later ones have ended: behind programmatic and launch completion
// edges, before rewinds, and where nodes or edges were taken out of a graph. Mostly there are none.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct LooseEdge {
  NodeId from, to;
};

// The trace must outlive it.
class StillRunning {
 public:
  StillRunning(const Ran& trace, const Order& order) : trace_(trace) {
    // Mostly what the column's values share suffices.
    const bool all_full =
        trace.graph_edges.all() && (std::ranges::all_of(trace.edges.shared(), &Edge::full) ||
                                    std::ranges::all_of(trace.edges, &Edge::full));
    if (!all_full) FindLooseEdges(order);
    if (!all_full || !trace.graph_nodes.all() || HasRewinds(trace)) FindRunning(order);
  }

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
  std::span<const NodeId> NodesBetween(StreamId stream, Seq after, Seq before) const {
    if (stream.index() >= nodes_.size()) return {};
    const std::vector<NodeId>& nodes = nodes_[stream.index()];
    const auto seq_of = [&](NodeId node) { return trace_[node].seq; };
    const auto begin = std::ranges::upper_bound(nodes, after, {}, seq_of);
    return {begin, std::ranges::lower_bound(begin, nodes.end(), before, {}, seq_of)};
  }

 private:
  void FindLooseEdges(const Order& order) {
    loose_.resize(trace_.graphs.size());
    for (const EdgeId id : trace_.graph_edges) {
      const Edge& edge = trace_[id];
      if (edge.full() || order.EndsBefore(edge.from, edge.to)) continue;
      loose_[trace_[edge.from].graph.index()].push_back({edge.from, edge.to});
    }
    for (std::vector<LooseEdge>& edges : loose_) {
      std::ranges::sort(edges, std::ranges::greater(),
                        [&](const LooseEdge& edge) { return trace_[edge.from].seq; });
    }
  }

  void FindRunning(const Order& order) {
    nodes_.resize(trace_.streams.size());
    running_.resize(trace_.streams.size());
    for (const NodeId id : trace_.graph_nodes) {
      const Node& node = trace_[id];
      if (node.stream.index() >= nodes_.size()) continue;
      std::vector<NodeId>& nodes = nodes_[node.stream.index()];
      if (!nodes.empty() && !order.EndsBefore(nodes.back(), id)) {
        running_[node.stream.index()].push_back(nodes.back());
      }
      nodes.push_back(id);
    }
    for (size_t stream = 0; stream < nodes_.size(); ++stream) {
      if (!nodes_[stream].empty()) running_[stream].push_back(nodes_[stream].back());
    }
  }

  const Ran& trace_;
  std::vector<std::vector<NodeId>> nodes_;     // by stream, those that are in their graph
  std::vector<std::vector<NodeId>> running_;   // by stream
  std::vector<std::vector<LooseEdge>> loose_;  // by graph; none when all edges are full
};

}  // namespace graphkit
