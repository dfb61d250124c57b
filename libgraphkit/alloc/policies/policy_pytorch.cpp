#include "libgraphkit/alloc/policies/policy_pytorch.h"

#include <algorithm>
#include <utility>

namespace graphkit {

PyTorchPolicy::PyTorchPolicy(const PolicyView& view, PolicySearch search)
    : DeferPolicy(view, search),
      markers_(view.slice.blocks.size()),
      by_order_(indexed() && WalksByOrder()) {}

// Whether what a stream's mallocs have walked over by now is what is before where it stands.
bool PyTorchPolicy::WalksByOrder() const {
  const Order& order = view_.order.order();
  const GraphSlice& slice = view_.slice;
  for (size_t i = 0; i < slice.stream_ops.size(); ++i) {
    if (view_.trace.stream_ops[slice.stream_ops[i]].has_entries) return false;
  }
  for (size_t i = 0; i < slice.nodes.size(); ++i) {
    const NodeId node(slice.nodes[i]);
    if (view_.trace[node].graph != slice.root ||
        order.PlaceOf(node).chain == OrderPoint::kNoChain) {
      return false;
    }
    if (order.rule() == EdgeRule::kAllFull) continue;
    if (!std::ranges::all_of(view_.in_edges.Of(node.index()), &InEdge::full)) return false;
  }
  std::vector<BlockId> latest(slice.streams.size());
  for (size_t i = 0; i < slice.blocks.size(); ++i) {
    const BlockId block(slice.blocks[i]);
    const BlockLife& life = view_.order.lives()[block];
    const size_t stream = slice.streams.NumberOf(view_.trace[block].stream.index());
    if (life.root != slice.root || stream >= latest.size()) continue;
    if (life.alloc.graph != slice.root) return false;
    const BlockId before = std::exchange(latest[stream], block);
    if (before.valid() && !order.Covers(life.alloc, view_.order.lives()[before].alloc)) {
      return false;
    }
  }
  return true;
}

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
  current_graph_ = {};
  if (!frontier.capturing() || frontier.entries.empty()) return;
  current_graph_ = frontier.graph;
  if (by_order_) return;
  Visited& visited = VisitedOf(frontier.graph, stream);
  for (const FrontierEntry& entry : frontier.entries) Walk(entry.node, &visited);
  current_ = &visited;
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
  if (by_order_) {
    ordered_[view_.trace[block].stream].fresh.push_back(block);
    return;
  }
  VisitedOf(markers.graph, view_.trace[block].stream).reached.push_back(block);
}

void PyTorchPolicy::FindByOrder(BlockId block) {
  const auto at = ordered_.find(view_.trace[block].stream);
  if (at == ordered_.end() || current_graph_ != view_.slice.root) return;
  const Order& order = view_.order.order();
  const OrderPoint& point = view_.order.lives()[block].alloc;
  Ordered& own = at->second;
  const auto look = [&](uint32_t value) {
    const BlockId pending(value);
    const auto& nodes = markers_[Number(pending)].nodes;
    const auto missing =
        std::ranges::find_if(nodes, [&](NodeId node) { return !order.Before(node, point); });
    if (missing != nodes.end()) {
      own.waits.Wait(order.PlaceOf(*missing), value);
    } else {
      Complete(pending);
      OfferToItsStream(pending);
    }
  };
  if (!(own.point == point)) {
    const OrderPoint before = std::exchange(own.point, point);
    own.waits.Advance(order, before, point, look);
  }
  for (const BlockId freed : std::exchange(own.fresh, {})) look(freed.value);
}

// A block waits for one of its markers at a time.
void PyTorchPolicy::Find(BlockId malloced) {
  if (by_order_) FindByOrder(malloced);
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
