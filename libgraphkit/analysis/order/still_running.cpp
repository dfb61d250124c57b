#include "libgraphkit/analysis/order/still_running.h"

#include <algorithm>

#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {

StillRunning::StillRunning(const Trace& trace, const Order& order) : trace_(trace) {
  const bool all_full = std::ranges::all_of(
      trace.edges, [&](const Edge& edge) { return edge.full() && Joins(trace, edge); });
  const bool whole =
      std::ranges::all_of(trace.nodes, [&](const Node& node) { return InGraph(trace, node); });
  if (!all_full) FindLooseEdges(order);
  if (!all_full || !whole || HasRewinds(trace)) FindRunning(order);
}

void StillRunning::FindLooseEdges(const Order& order) {
  loose_.resize(trace_.graphs.size());
  for (const Edge& edge : trace_.edges) {
    if (edge.full() || !Joins(trace_, edge) || order.EndsBefore(edge.from, edge.to)) continue;
    loose_[trace_[edge.from].graph.index()].push_back({edge.from, edge.to});
  }
  for (std::vector<LooseEdge>& edges : loose_) {
    std::ranges::sort(edges, std::ranges::greater(),
                      [&](const LooseEdge& edge) { return trace_[edge.from].seq; });
  }
}

void StillRunning::FindRunning(const Order& order) {
  nodes_.resize(trace_.streams.size());
  running_.resize(trace_.streams.size());
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const Node& node = trace_.nodes[i];
    if (node.stream.index() >= nodes_.size() || !InGraph(trace_, node)) continue;
    std::vector<NodeId>& nodes = nodes_[node.stream.index()];
    if (!nodes.empty() && !order.EndsBefore(nodes.back(), NodeId(i))) {
      running_[node.stream.index()].push_back(nodes.back());
    }
    nodes.emplace_back(i);
  }
  for (size_t stream = 0; stream < nodes_.size(); ++stream) {
    if (!nodes_[stream].empty()) running_[stream].push_back(nodes_[stream].back());
  }
}

std::span<const NodeId> StillRunning::NodesBetween(StreamId stream, Seq after, Seq before) const {
  if (stream.index() >= nodes_.size()) return {};
  const std::vector<NodeId>& nodes = nodes_[stream.index()];
  const auto seq_of = [&](NodeId node) { return trace_[node].seq; };
  const auto begin = std::ranges::upper_bound(nodes, after, {}, seq_of);
  return {begin, std::ranges::lower_bound(begin, nodes.end(), before, {}, seq_of)};
}

}  // namespace graphkit
