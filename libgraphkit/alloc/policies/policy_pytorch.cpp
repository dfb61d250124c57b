#include "libgraphkit/alloc/policies/policy_pytorch.h"

#include <algorithm>

namespace graphkit {

bool PyTorchPolicy::AtOnce(BlockId block) {
  if (DeferPolicy::AtOnce(block)) return true;
  std::vector<StreamId> streams = view_.streams[block.index()];
  streams.push_back(view_.trace[block].stream);
  Markers& markers = markers_[Number(block)];
  for (const StreamId stream : streams) {
    const StreamFrontier& frontier = view_.frontiers.Of(stream);
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
  const StreamFrontier& frontier = view_.frontiers.Of(stream);
  current_ = nullptr;
  if (!frontier.capturing() || frontier.entries.empty()) return;
  Visited& visited = VisitedOf(frontier.graph, stream);
  for (const FrontierEntry& entry : frontier.entries) Walk(entry.node, &visited);
  current_ = &visited;
  current_graph_ = frontier.graph;
}

PyTorchPolicy::Visited& PyTorchPolicy::VisitedOf(GraphId graph, StreamId stream) {
  Visited& visited = visited_[{graph, stream}];
  visited.nodes.resize(view_.slice.nodes.size());
  if (indexed()) visited.watched.resize(view_.slice.nodes.size());
  return visited;
}

void PyTorchPolicy::Walk(NodeId from, Visited* visited) {
  stack_.assign(1, from);
  while (!stack_.empty()) {
    const NodeId node = stack_.back();
    stack_.pop_back();
    const size_t number = NodeNumber(node);
    if (number >= visited->nodes.size() || visited->nodes[number]) continue;
    visited->nodes[number] = true;
    if (indexed() && visited->watched[number]) {
      const auto waiting = visited->waiting.extract(node);
      visited->reached.insert(visited->reached.end(), waiting.mapped().begin(),
                              waiting.mapped().end());
    }
    for (const InEdge& edge : view_.in_edges.Of(node.index())) stack_.push_back(edge.from);
  }
}

bool PyTorchPolicy::Completes(BlockId pending, BlockId block) const {
  const Markers& markers = markers_[Number(pending)];
  if (current_ == nullptr || markers.nodes.empty() || markers.graph != current_graph_) return false;
  return SameStream(pending, block) &&
         std::ranges::all_of(markers.nodes, [&](NodeId node) { return Walked(*current_, node); });
}

void PyTorchPolicy::Freed(BlockId block) {
  DeferPolicy::Freed(block);
  const Markers& markers = markers_[Number(block)];
  if (complete(block) || markers.nodes.empty()) return;
  VisitedOf(markers.graph, view_.trace[block].stream).reached.push_back(block);
}

// A block waits for one of its markers at a time.
void PyTorchPolicy::Find(BlockId) {
  if (current_ == nullptr) return;
  for (const BlockId block : current_->reached) {
    const std::vector<NodeId>& nodes = markers_[Number(block)].nodes;
    const auto missing =
        std::ranges::find_if(nodes, [&](NodeId node) { return !Walked(*current_, node); });
    if (missing == nodes.end()) {
      Complete(block);
      OfferToItsStream(block);
    } else {
      if (const size_t number = NodeNumber(*missing); number < current_->watched.size()) {
        current_->watched[number] = true;
      }
      current_->waiting[*missing].push_back(block);
    }
  }
  current_->reached.clear();
}

}  // namespace graphkit
