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
  if (!by_hand_) return;
  nodes_.resize(view.slice.nodes.size());
  end_nodes_.resize(streams_.size());
  event_end_nodes_.resize(events_.size());
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

PyTorchV1Policy::Ends PyTorchV1Policy::EndsOf(size_t stream) {
  const Clock& clock = streams_[stream];
  if (!clock.ends.empty()) return clock.ends;
  const ClockRows::Row row = RowOf(stream);
  return row == ClockRows::kEmpty ? Ends() : Ends{row};
}

// A stream that joins very many has as many ends, so one at a time isn't looked for among them.
void PyTorchV1Policy::AddEnds(size_t stream, const Ends& ends) {
  Ends all = streams_[stream].ends.empty() ? EndsOf(stream) : std::move(streams_[stream].ends);
  for (const ClockRows::Row end : ends) {
    if (ends.size() == 1 || std::ranges::find(all, end) == all.end()) all.push_back(end);
    Merge(end, &streams_[stream]);
  }
  streams_[stream].ends = std::move(all);
}

void PyTorchV1Policy::Apply(const Node& node, size_t number) {
  const size_t stream = StreamNumber(node.stream);
  const NodeId id(view_.slice.nodes[number]);
  if (stream >= streams_.size()) {
    if (by_hand_) nodes_[number] = ByHand(id);
    return;
  }
  streams_[stream].own = node.seq + 1;
  streams_[stream].ends.clear();
  if (!by_hand_) return;
  nodes_[number] = RowOf(stream);
  end_nodes_[stream] = {id};
}

// A node that no stream launched is behind what it depends on, and behind the marker of a stream if
// it depends on all that is before the marker: it would depend on the marker instead.
ClockRows::Row PyTorchV1Policy::ByHand(NodeId node) {
  Clock clock;
  std::vector<NodeId> from;
  for (const InEdge& edge : view_.in_edges.Of(node.index())) {
    from.push_back(edge.from);
    const size_t number = view_.slice.nodes.NumberOf(edge.from.index());
    if (number < nodes_.size()) Merge(nodes_[number], &clock);
  }
  const auto is_before = [&](NodeId end) { return std::ranges::find(from, end) != from.end(); };
  for (size_t stream = 0; stream < streams_.size(); ++stream) {
    const std::vector<NodeId>& ends = end_nodes_[stream];
    if (!ends.empty() && std::ranges::all_of(ends, is_before)) Merge(RowOf(stream), &clock);
  }
  return clock.row;
}

PyTorchV1Policy::Ends PyTorchV1Policy::EndsAt(const StreamOp& op) const {
  Ends ends;
  for (const FrontierEntry& entry :
       std::span(view_.trace.frontier_entries).subspan(op.entries.first, op.entries.count)) {
    const size_t number = view_.slice.nodes.NumberOf(entry.node.index());
    if (number < nodes_.size()) ends.push_back(nodes_[number]);
  }
  return ends;
}

void PyTorchV1Policy::MoveEndNodes(const StreamOp& op) {
  const size_t number = view_.slice.events.NumberOf(op.event.index());
  std::vector<NodeId> added;
  for (const FrontierEntry& entry :
       std::span(view_.trace.frontier_entries).subspan(op.entries.first, op.entries.count)) {
    added.push_back(entry.node);
  }
  std::vector<NodeId>& ends = end_nodes_[StreamNumber(op.stream)];
  const bool known = number < event_end_nodes_.size();
  if (op.kind == StreamOpKind::kEventRecord) {
    if (known) event_end_nodes_[number] = op.has_entries ? added : ends;
    return;
  }
  if (op.kind == StreamOpKind::kEventWait && known) added = event_end_nodes_[number];
  if (op.kind == StreamOpKind::kSetFrontier) ends.clear();
  for (const NodeId end : added) {
    if (std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
  }
}

void PyTorchV1Policy::Apply(const StreamOp& op) {
  const size_t stream = StreamNumber(op.stream);
  const size_t number = view_.slice.events.NumberOf(op.event.index());
  if (stream >= streams_.size() || op.external) return;
  if (by_hand_) MoveEndNodes(op);
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (number < events_.size()) events_[number] = op.has_entries ? EndsAt(op) : EndsOf(stream);
      return;
    case StreamOpKind::kEventWait:
      if (number < events_.size()) AddEnds(stream, events_[number]);
      return;
    case StreamOpKind::kSetFrontier:
      streams_[stream] = {};
      [[fallthrough]];
    case StreamOpKind::kAddToFrontier:
      AddEnds(stream, EndsAt(op));
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
  for (const StreamId stream : markers.streams) {
    streams_[StreamNumber(stream)].own = free + 1;
    streams_[StreamNumber(stream)].ends.clear();
  }
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

}  // namespace graphkit
