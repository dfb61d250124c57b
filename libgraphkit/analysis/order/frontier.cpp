#include "libgraphkit/analysis/order/frontier.h"

#include <algorithm>
#include <utility>

namespace graphkit {

FrontierReplay::FrontierReplay(const Trace& trace, GraphSlice slice)
    : trace_(trace),
      slice_(std::move(slice)),
      streams_(slice_.streams.size()),
      events_(slice_.events.size()) {
  for (size_t i = 0; i < slice_.captures.size(); ++i) {
    const auto number = static_cast<uint32_t>(slice_.captures[i]);
    const Capture& capture = trace.captures[number];
    boundaries_.push_back({capture.begin, number, false});
    if (capture.end != kNever) boundaries_.push_back({capture.end, number, true});
  }
  std::ranges::sort(boundaries_, {}, &Boundary::seq);
}

// Mostly it's the next node's turn.
void FrontierReplay::AdvanceTo(Seq seq) {
  const Rows& nodes = slice_.nodes;
  const Rows& ops = slice_.stream_ops;
  while (true) {
    const Seq op = op_ < ops.size() ? trace_.stream_ops[ops[op_]].seq : kNever;
    const Seq boundary = boundary_ < boundaries_.size() ? boundaries_[boundary_].seq : kNever;
    const Seq other = std::min({op, boundary, seq});
    for (; node_ < nodes.size() && trace_.nodes[nodes[node_]].seq < other; ++node_) {
      Apply(trace_.nodes[nodes[node_]], NodeId(nodes[node_]));
    }
    if (other == seq) return;
    if (boundary == other) {
      Apply(boundaries_[boundary_++]);
    } else {
      Apply(trace_.stream_ops[ops[op_++]]);
    }
  }
}

void FrontierReplay::Apply(const Node& node, NodeId id) {
  const size_t number = slice_.streams.NumberOf(node.stream.index());
  if (number >= streams_.size()) return;
  if (streams_[number].graph != node.graph) Join(number, node.graph);
  Launch(number, id);
}

void FrontierReplay::Launch(size_t number, NodeId node) {
  StreamFrontier& stream = streams_[number];
  wide_.Forget(number, stream.entries);
  stream.entries.resize(1);
  stream.entries[0] = {.node = node};
  Moved(number);
}

void FrontierReplay::Join(size_t stream, GraphId graph) {
  streams_[stream].graph = graph;
  if (const auto open = open_.find(graph); open != open_.end()) open->second.push_back(stream);
}

void FrontierReplay::Leave(size_t number) {
  StreamFrontier& stream = streams_[number];
  wide_.Forget(number, stream.entries);
  stream = {.graph = {}, .version = stream.version};
  Moved(number);
}

std::span<const FrontierEntry> FrontierReplay::Entries(const StreamOp& op) const {
  return std::span(trace_.frontier_entries).subspan(op.entries.first, op.entries.count);
}

void FrontierReplay::Wait(size_t number, const StreamFrontier& event) {
  if (!open_.contains(event.graph)) return;
  StreamFrontier& stream = streams_[number];
  if (!stream.capturing()) {
    Join(number, event.graph);
    wide_.Forget(number, stream.entries);
    stream.entries.clear();
  }
  if (stream.graph != event.graph) return;
  wide_.Add(number, event.entries, &stream.entries);
  Moved(number);
}

void FrontierReplay::Apply(const StreamOp& op) {
  const size_t number = slice_.streams.NumberOf(op.stream.index());
  const size_t event = slice_.events.NumberOf(op.event.index());
  if (number >= streams_.size() || op.external) return;
  StreamFrontier& stream = streams_[number];
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (event >= events_.size()) return;
      events_[event].graph = stream.graph;
      if (op.has_entries) {
        const auto entries = Entries(op);
        events_[event].entries.assign(entries.begin(), entries.end());
      } else {
        events_[event].entries = stream.entries;
      }
      return;
    case StreamOpKind::kEventWait:
      if (event < events_.size()) Wait(number, events_[event]);
      return;
    case StreamOpKind::kSetFrontier:
      wide_.Forget(number, stream.entries);
      stream.entries.clear();
      [[fallthrough]];
    case StreamOpKind::kAddToFrontier:
      for (const FrontierEntry& entry : Entries(op)) stream.entries.push_back(entry);
      Moved(number);
      return;
    default:
      return;
  }
}

void FrontierReplay::Apply(const Boundary& boundary) {
  const Capture& capture = trace_.captures[boundary.capture];
  if (!boundary.end) {
    if (capture.graph.valid()) open_.try_emplace(capture.graph);
    const size_t number = slice_.streams.NumberOf(capture.origin.index());
    if (number >= streams_.size()) return;
    Leave(number);
    Join(number, capture.graph);
    return;
  }
  const auto ended = open_.extract(capture.graph);
  if (ended.empty()) return;
  for (const size_t number : ended.mapped()) {
    if (streams_[number].graph == capture.graph) Leave(number);
  }
}

}  // namespace graphkit
