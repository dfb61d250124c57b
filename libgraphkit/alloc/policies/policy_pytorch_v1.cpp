#include "libgraphkit/alloc/policies/policy_pytorch_v1.h"

#include <algorithm>

namespace graphkit {
PyTorchV1Policy::PyTorchV1Policy(const PolicyView& view, PolicySearch search)
    : DeferPolicy(view, search),
      streams_(view.slice.streams.size()),
      events_(view.slice.events.size()),
      markers_(view.slice.blocks.size()) {
  if (indexed()) waiting_.resize(streams_.size());
  for (size_t i = 0; i < view.slice.stream_ops.size(); ++i) {
    by_hand_ |= view.trace.stream_ops[view.slice.stream_ops[i]].has_entries;
  }
  if (by_hand_) nodes_.resize(view.slice.nodes.size());
}

// The stream's clock, with what it has done itself.
ClockRows::Row PyTorchV1Policy::RowOf(size_t stream) {
  Clock& clock = streams_[stream];
  if (clock.own > clock.own_in_row) {
    rows_.Begin();
    clock.row = rows_.Raise(clock.row, static_cast<uint32_t>(stream), clock.own);
    clock.own_in_row = clock.own;
  }
  return clock.row;
}

void PyTorchV1Policy::Merge(ClockRows::Row from, Clock* into) {
  rows_.Begin();
  into->row = rows_.Join(into->row, from);
}

void PyTorchV1Policy::AdvanceTo(Seq seq) {
  const Trace& trace = view_.trace;
  const Rows& nodes = view_.slice.nodes;
  const Rows& ops = view_.slice.stream_ops;
  while (true) {
    const Seq node = node_ < nodes.size() ? trace.nodes[nodes[node_]].seq : kNever;
    const Seq op = op_ < ops.size() ? trace.stream_ops[ops[op_]].seq : kNever;
    if (std::min(node, op) >= seq) return;
    if (node < op) {
      Apply(trace.nodes[nodes[node_]], node_);
      ++node_;
    } else {
      Apply(trace.stream_ops[ops[op_++]]);
    }
  }
}

void PyTorchV1Policy::Apply(const Node& node, size_t number) {
  const size_t stream = StreamNumber(node.stream);
  if (stream >= streams_.size()) return;
  streams_[stream].own = node.seq + 1;
  if (by_hand_) nodes_[number] = RowOf(stream);
}

void PyTorchV1Policy::Join(Clock* clock, const FrontierEntry& entry) {
  const size_t number = view_.slice.nodes.NumberOf(entry.node.index());
  if (number < nodes_.size()) Merge(nodes_[number], clock);
}

void PyTorchV1Policy::Apply(const StreamOp& op) {
  const size_t stream = StreamNumber(op.stream);
  const size_t number = view_.slice.events.NumberOf(op.event.index());
  if (stream >= streams_.size() || op.external) return;
  Clock& clock = streams_[stream];
  const auto entries =
      std::span(view_.trace.frontier_entries).subspan(op.entries.first, op.entries.count);
  switch (op.kind) {
    case StreamOpKind::kEventRecord: {
      if (number >= events_.size()) return;
      if (!op.has_entries) {
        events_[number] = RowOf(stream);
        return;
      }
      Clock event;
      for (const FrontierEntry& entry : entries) Join(&event, entry);
      events_[number] = event.row;
      return;
    }
    case StreamOpKind::kEventWait:
      if (number < events_.size()) Merge(events_[number], &clock);
      return;
    case StreamOpKind::kSetFrontier:
      clock = {};
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
  Markers& markers = markers_[Number(block)];
  markers.streams = view_.streams[block.index()];
  markers.streams.push_back(view_.trace[block].stream);
  markers.free = free;
  for (const StreamId stream : markers.streams) {
    const StreamFrontier& frontier = view_.frontiers.Of(stream);
    const bool same = !markers.graph.valid() || markers.graph == frontier.graph;
    if (!frontier.capturing() || !same) {
      markers = {};
      return false;
    }
    markers.graph = frontier.graph;
  }
  // The markers are where their streams end.
  for (const StreamId stream : markers.streams) streams_[StreamNumber(stream)].own = free + 1;
  return false;
}

void PyTorchV1Policy::Prepare(BlockId block) { AdvanceTo(view_.trace[block].allocated); }

bool PyTorchV1Policy::Completes(BlockId pending, BlockId block) const {
  const Markers& markers = markers_[Number(pending)];
  if (!markers.graph.valid() || !SameStream(pending, block)) return false;
  const StreamId own = view_.trace[block].stream;
  if (view_.frontiers.Of(own).graph != markers.graph) return false;
  return std::ranges::all_of(markers.streams, [&](StreamId stream) {
    return At(StreamNumber(own), StreamNumber(stream)) > markers.free;
  });
}

void PyTorchV1Policy::Freed(BlockId block) {
  DeferPolicy::Freed(block);
  if (complete(block) || !markers_[Number(block)].graph.valid()) return;
  Wait(block, view_.trace[block].stream);
}

void PyTorchV1Policy::Wait(BlockId block, StreamId marker) {
  std::vector<Heap>& heaps = waiting_[StreamNumber(view_.trace[block].stream)];
  const size_t number = StreamNumber(marker);
  auto heap = std::ranges::find(heaps, number, &Heap::marker);
  if (heap == heaps.end()) heap = heaps.insert(heaps.end(), {number});
  heap->waiting.push_back({markers_[Number(block)].free, block});
  std::push_heap(heap->waiting.begin(), heap->waiting.end());
}

void PyTorchV1Policy::Find(BlockId block) {
  const StreamId own = view_.trace[block].stream;
  const size_t number = StreamNumber(own);
  std::vector<BlockId> reached;
  for (Heap& heap : waiting_[number]) {
    std::vector<Waiting>& waiting = heap.waiting;
    while (!waiting.empty() && waiting.front().free < At(number, heap.marker)) {
      reached.push_back(waiting.front().block);
      std::pop_heap(waiting.begin(), waiting.end());
      waiting.pop_back();
    }
  }
  std::erase_if(waiting_[number], [](const Heap& heap) { return heap.waiting.empty(); });
  for (const BlockId pending : reached) {
    const Markers& markers = markers_[Number(pending)];
    const auto missing = std::ranges::find_if(
        markers.streams, [&](StreamId s) { return At(number, StreamNumber(s)) <= markers.free; });
    if (missing != markers.streams.end()) {
      Wait(pending, *missing);
    } else if (Completes(pending, block)) {
      Complete(pending);
      OfferToItsStream(pending);
    } else {
      Wait(pending, own);  // of a graph that the stream isn't in
    }
  }
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
  for (size_t i = 0; i < view_.slice.streams.size(); ++i) {
    const StreamFrontier& frontier = view_.frontiers.Of(StreamId(view_.slice.streams[i]));
    if (frontier.graph != graph || !frontier.capturing()) continue;
    for (const NodeId marker : order.lives().Markers(block, order.rule())) {
      if (!passed(frontier, marker)) return false;
    }
  }
  return true;
}

}  // namespace graphkit
