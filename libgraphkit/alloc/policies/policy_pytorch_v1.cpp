#include "libgraphkit/alloc/policies/policy_pytorch_v1.h"

#include <algorithm>

namespace graphkit {
namespace {

void Merge(const std::vector<Seq>& from, std::vector<Seq>* into) {
  for (size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

}  // namespace

PyTorchV1Policy::PyTorchV1Policy(const PolicyView& view, PolicySearch search)
    : DeferPolicy(view, search),
      streams_(view.trace.streams.size(), Clock(view.trace.streams.size())),
      events_(view.trace.events.size(), Clock(view.trace.streams.size())),
      markers_(view.trace.blocks.size()) {
  if (indexed()) waiting_.resize(streams_.size() * streams_.size());
  by_hand_ = std::ranges::any_of(view.trace.stream_ops, &StreamOp::has_entries);
  if (by_hand_) nodes_.resize(view.trace.nodes.size());
}

void PyTorchV1Policy::AdvanceTo(Seq seq) {
  const Trace& trace = view_.trace;
  while (true) {
    const Seq node = node_ < trace.nodes.size() ? trace.nodes[node_].seq : kNever;
    const Seq op = op_ < trace.stream_ops.size() ? trace.stream_ops[op_].seq : kNever;
    if (std::min(node, op) >= seq) return;
    if (node < op) {
      Apply(trace.nodes[node_], node_);
      ++node_;
    } else {
      Apply(trace.stream_ops[op_++]);
    }
  }
}

void PyTorchV1Policy::Apply(const Node& node, size_t id) {
  if (node.stream.index() >= streams_.size()) return;
  Clock& clock = streams_[node.stream.index()];
  clock[node.stream.index()] = node.seq + 1;
  if (by_hand_) nodes_[id] = clock;
}

void PyTorchV1Policy::Join(Clock* clock, const FrontierEntry& entry) const {
  if (entry.node.index() < nodes_.size()) Merge(nodes_[entry.node.index()], clock);
}

void PyTorchV1Policy::Apply(const StreamOp& op) {
  if (op.stream.index() >= streams_.size() || op.external) return;
  Clock& clock = streams_[op.stream.index()];
  const auto entries =
      std::span(view_.trace.frontier_entries).subspan(op.entries.first, op.entries.count);
  switch (op.kind) {
    case StreamOpKind::kEventRecord: {
      if (op.event.index() >= events_.size()) return;
      Clock& event = events_[op.event.index()];
      event = clock;
      if (!op.has_entries) return;
      std::ranges::fill(event, 0u);
      for (const FrontierEntry& entry : entries) Join(&event, entry);
      return;
    }
    case StreamOpKind::kEventWait:
      if (op.event.index() < events_.size()) Merge(events_[op.event.index()], &clock);
      return;
    case StreamOpKind::kSetFrontier:
      std::ranges::fill(clock, 0u);
      [[fallthrough]];
    case StreamOpKind::kAddToFrontier:
      for (const FrontierEntry& entry : entries) Join(&clock, entry);
      return;
    default:
      return;
  }
}

bool PyTorchV1Policy::AtOnce(BlockId block) {
  const Seq free = view_.trace[block].free_requested;
  AdvanceTo(free);
  if (DeferPolicy::AtOnce(block)) return true;
  Markers& markers = markers_[block.index()];
  markers.streams = view_.streams[block.index()];
  markers.streams.push_back(view_.trace[block].stream);
  markers.free = free;
  for (const StreamId stream : markers.streams) {
    const StreamFrontier& frontier = view_.frontiers.OfAny(stream);
    const bool same = !markers.graph.valid() || markers.graph == frontier.graph;
    if (!frontier.capturing() || !same) {
      markers = {};
      return false;
    }
    markers.graph = frontier.graph;
  }
  // The markers are where their streams end.
  for (const StreamId stream : markers.streams) {
    streams_[stream.index()][stream.index()] = free + 1;
  }
  return false;
}

void PyTorchV1Policy::Prepare(BlockId block) { AdvanceTo(view_.trace[block].allocated); }

bool PyTorchV1Policy::Completes(BlockId pending, BlockId block) const {
  const Markers& markers = markers_[pending.index()];
  if (!markers.graph.valid() || !SameStream(pending, block)) return false;
  const StreamId own = view_.trace[block].stream;
  if (view_.frontiers.OfAny(own).graph != markers.graph) return false;
  const Clock& clock = streams_[own.index()];
  return std::ranges::all_of(markers.streams,
                             [&](StreamId stream) { return clock[stream.index()] > markers.free; });
}

void PyTorchV1Policy::Freed(BlockId block) {
  DeferPolicy::Freed(block);
  if (complete(block) || !markers_[block.index()].graph.valid()) return;
  Wait(block, view_.trace[block].stream);
}

void PyTorchV1Policy::Wait(BlockId block, StreamId marker) {
  Heap& heap = HeapOf(view_.trace[block].stream, marker);
  heap.push_back({markers_[block.index()].free, block});
  std::push_heap(heap.begin(), heap.end());
}

void PyTorchV1Policy::Find(BlockId block) {
  const StreamId own = view_.trace[block].stream;
  const Clock& clock = streams_[own.index()];
  std::vector<BlockId> elsewhere;  // of a graph that the stream isn't in
  for (size_t stream = 0; stream < streams_.size(); ++stream) {
    Heap& heap = HeapOf(own, StreamId(stream));
    while (!heap.empty() && heap.front().free < clock[stream]) {
      const BlockId pending = heap.front().block;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
      const Markers& markers = markers_[pending.index()];
      const auto missing = std::ranges::find_if(
          markers.streams, [&](StreamId s) { return clock[s.index()] <= markers.free; });
      if (missing != markers.streams.end()) {
        Wait(pending, *missing);
      } else if (Completes(pending, block)) {
        Complete(pending);
        OfferToItsStream(pending);
      } else {
        elsewhere.push_back(pending);
      }
    }
  }
  for (const BlockId pending : elsewhere) Wait(pending, own);
}

bool GraphPolicy::BeforeAllStreams(BlockId block) const {
  const BlockOrder& order = view_.order;
  if (!order.Dies(block)) return false;
  const GraphId graph = view_.trace[block].graph;
  const auto passed = [&](const StreamFrontier& frontier, NodeId marker) {
    return std::ranges::any_of(frontier.entries, [&](const FrontierEntry& entry) {
      return entry.from_port == kPortDefault && order.order().EndsBefore(marker, entry.node);
    });
  };
  for (size_t i = 0; i < view_.trace.streams.size(); ++i) {
    const StreamFrontier& frontier = view_.frontiers.Of(StreamId(i));
    if (frontier.graph != graph || !frontier.capturing()) continue;
    for (const NodeId marker : order.lives().Markers(block, order.rule())) {
      if (!passed(frontier, marker)) return false;
    }
  }
  return true;
}

}  // namespace graphkit
