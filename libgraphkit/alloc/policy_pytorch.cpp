#include "libgraphkit/alloc/policy_pytorch.h"

#include <algorithm>

namespace graphkit {

bool PyTorchPolicy::AtOnce(BlockId block) {
  if (DeferPolicy::AtOnce(block)) return true;
  std::vector<StreamId> streams = view_.streams[block.index()];
  streams.push_back(view_.trace[block].stream);
  Markers& markers = markers_[block.index()];
  for (const StreamId stream : streams) {
    const StreamFrontier& frontier = view_.frontiers.OfAny(stream);
    const bool same = !markers.graph.valid() || markers.graph == frontier.graph;
    if (!frontier.capturing() || !same) {
      markers = {};
      return false;
    }
    markers.graph = frontier.graph;
    for (const FrontierEntry& entry : frontier.entries) markers.nodes.push_back(entry.node);
  }
  return false;
}

void PyTorchPolicy::Prepare(BlockId block) {
  const StreamId stream = view_.trace[block].stream;
  const StreamFrontier& frontier = view_.frontiers.OfAny(stream);
  current_ = nullptr;
  if (!frontier.capturing() || frontier.entries.empty()) return;
  Visited& visited = visited_[{frontier.graph, stream}];
  visited.resize(view_.trace.nodes.size());
  for (const FrontierEntry& entry : frontier.entries) Walk(entry.node, &visited);
  current_ = &visited;
  current_graph_ = frontier.graph;
}

void PyTorchPolicy::Walk(NodeId from, Visited* visited) {
  stack_.assign(1, from);
  while (!stack_.empty()) {
    const NodeId node = stack_.back();
    stack_.pop_back();
    if ((*visited)[node.index()]) continue;
    (*visited)[node.index()] = true;
    for (const InEdge& edge : view_.in_edges.Of(node.index())) stack_.push_back(edge.from);
  }
}

bool PyTorchPolicy::Completes(BlockId pending, BlockId block) const {
  const Markers& markers = markers_[pending.index()];
  if (current_ == nullptr || markers.nodes.empty() || markers.graph != current_graph_) return false;
  return SameStream(pending, block) &&
         std::ranges::all_of(markers.nodes, [&](NodeId node) { return (*current_)[node.index()]; });
}

}  // namespace graphkit
