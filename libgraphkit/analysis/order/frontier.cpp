#include "libgraphkit/analysis/order/frontier.h"

#include <algorithm>

namespace graphkit {

FrontierReplay::FrontierReplay(const Trace& trace)
    : trace_(trace),
      open_(trace.graphs.size()),
      streams_(trace.streams.size()),
      events_(trace.events.size()) {
  for (size_t i = 0; i < trace.captures.size(); ++i) {
    const Capture& capture = trace.captures[i];
    boundaries_.push_back({capture.begin, static_cast<uint32_t>(i), false});
    if (capture.end != kNever) {
      boundaries_.push_back({capture.end, static_cast<uint32_t>(i), true});
    }
  }
  std::sort(boundaries_.begin(), boundaries_.end(),
            [](const Boundary& a, const Boundary& b) { return a.seq < b.seq; });
}

// Mostly it's the next node's turn.
void FrontierReplay::AdvanceTo(Seq seq) {
  while (true) {
    const Seq op = op_ < trace_.stream_ops.size() ? trace_.stream_ops[op_].seq : kNever;
    const Seq boundary = boundary_ < boundaries_.size() ? boundaries_[boundary_].seq : kNever;
    const Seq other = std::min({op, boundary, seq});
    for (; node_ < trace_.nodes.size() && trace_.nodes[node_].seq < other; ++node_) {
      Apply(trace_.nodes[node_], NodeId(node_));
    }
    if (other == seq) return;
    if (boundary == other) {
      Apply(boundaries_[boundary_++]);
    } else {
      Apply(trace_.stream_ops[op_++]);
    }
  }
}

void FrontierReplay::Apply(const Node& node, NodeId id) {
  if (node.stream.index() >= streams_.size()) return;
  StreamFrontier& stream = streams_[node.stream.index()];
  stream.graph = node.graph;
  stream.entries.resize(1);
  stream.entries[0] = {.node = id};
  ++stream.version;
}

std::span<const FrontierEntry> FrontierReplay::Entries(const StreamOp& op) const {
  return std::span(trace_.frontier_entries).subspan(op.entries.first, op.entries.count);
}

void FrontierReplay::Wait(StreamFrontier* stream, const StreamFrontier& event) {
  if (!Open(event.graph)) return;
  if (!stream->capturing()) {
    stream->graph = event.graph;
    stream->entries.clear();
  }
  if (stream->graph != event.graph) return;
  for (const FrontierEntry& entry : event.entries) {
    if (std::find(stream->entries.begin(), stream->entries.end(), entry) == stream->entries.end()) {
      stream->entries.push_back(entry);
    }
  }
  ++stream->version;
}

void FrontierReplay::Apply(const StreamOp& op) {
  if (op.stream.index() >= streams_.size() || op.external) return;
  StreamFrontier& stream = streams_[op.stream.index()];
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (op.event.index() >= events_.size()) return;
      events_[op.event.index()].graph = stream.graph;
      if (op.has_entries) {
        const auto entries = Entries(op);
        events_[op.event.index()].entries.assign(entries.begin(), entries.end());
      } else {
        events_[op.event.index()].entries = stream.entries;
      }
      return;
    case StreamOpKind::kEventWait:
      if (op.event.index() < events_.size()) Wait(&stream, events_[op.event.index()]);
      return;
    case StreamOpKind::kSetFrontier:
      stream.entries.clear();
      [[fallthrough]];
    case StreamOpKind::kAddToFrontier:
      for (const FrontierEntry& entry : Entries(op)) stream.entries.push_back(entry);
      ++stream.version;
      return;
    default:
      return;
  }
}

void FrontierReplay::Apply(const Boundary& boundary) {
  const Capture& capture = trace_.captures[boundary.capture];
  if (!boundary.end) {
    if (capture.graph.valid()) open_[capture.graph.index()] = true;
    if (capture.origin.index() >= streams_.size()) return;
    StreamFrontier& origin = streams_[capture.origin.index()];
    origin = {.graph = capture.graph, .version = origin.version + 1};
    return;
  }
  if (!capture.graph.valid()) return;
  open_[capture.graph.index()] = false;
  for (StreamFrontier& stream : streams_) {
    if (stream.graph == capture.graph) stream = {.graph = {}, .version = stream.version + 1};
  }
}

}  // namespace graphkit
