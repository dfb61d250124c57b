#include "libgraphkit/io/trace_assembler.h"

namespace graphkit {

bool TraceAssembler::Apply(const StreamRecord& r) {
  if (!IsNext(r.id, trace_.streams.size(), "streams")) return false;
  Stream stream;
  stream.handle = r.handle;
  stream.kind = r.kind;
  stream.non_blocking = r.non_blocking;
  stream.device = r.device;
  stream.priority = r.priority;
  stream.created = place();
  stream.name = Intern(r.name);
  trace_.streams.push_back(stream);
  return true;
}

bool TraceAssembler::Apply(const StreamDestroyedRecord& r) {
  if (!RefersToStream(r.stream)) return false;
  End(trace_.streams[r.stream.index()].destroyed);
  return true;
}

bool TraceAssembler::Apply(const EventRecord& r) {
  if (!IsNext(r.id, trace_.events.size(), "events")) return false;
  trace_.events.push_back({.handle = r.handle, .created = place()});
  return true;
}

bool TraceAssembler::Apply(const EventDestroyedRecord& r) {
  if (!RefersToEvent(r.event)) return false;
  End(trace_.events[r.event.index()].destroyed);
  return true;
}

bool TraceAssembler::Apply(const CaptureBeginRecord& r) {
  if (!IsNext(r.id, trace_.captures.size(), "captures")) return false;
  if (!RefersToGraph(r.graph) || !RefersToStream(r.stream) || !RefersToThread(r.thread)) {
    return false;
  }
  Capture capture;
  capture.graph = r.graph;
  capture.origin = r.stream;
  capture.thread = r.thread;
  capture.mode = r.mode;
  capture.begin = place();
  trace_.captures.push_back(capture);
  return true;
}

bool TraceAssembler::Apply(const CaptureEndRecord& r) {
  const Capture nothing;
  if (!Refers("capture", r.capture, trace_.captures.size(), "captures")) return false;
  if (r.failure != nothing.failure && r.failure >= trace_.failures.size()) {
    return FailReference("failure", r.failure, trace_.failures.size(), "failures");
  }
  Capture& capture = trace_.captures[r.capture.index()];
  if (capture.end != kNever) {
    return Fail("ends capture " + std::to_string(r.capture.value) + " a second time");
  }
  const bool completed = r.error == 0 && r.failure == nothing.failure;
  capture.status = completed ? CaptureStatus::kCompleted : CaptureStatus::kInvalidated;
  capture.error = r.error;
  capture.failure = r.failure;
  capture.end = place();
  return true;
}

bool TraceAssembler::AddEntries(std::span<const FrontierEntry> entries, Slice& slice) {
  for (const FrontierEntry& entry : entries) {
    if (!Refers("node", entry.node, trace_.nodes.size(), "nodes")) return false;
  }
  return AddSlice(entries, trace_.frontier_entries, slice);
}

bool TraceAssembler::Apply(const EventRecordRecord& r) {
  if (!RefersToStream(r.stream) || !RefersToEvent(r.event)) return false;
  StreamOp op{.seq = place(), .kind = StreamOpKind::kEventRecord};
  op.capturing = r.capturing;
  op.external = r.external;
  op.has_entries = r.has_entries;
  op.stream = r.stream;
  op.event = r.event;
  if (!AddEntries(r.entries, op.entries)) return false;
  trace_.stream_ops.push_back(op);
  return true;
}

bool TraceAssembler::Apply(const EventWaitRecord& r) {
  if (!RefersToStream(r.stream) || !RefersToEvent(r.event)) return false;
  StreamOp op{.seq = place(), .kind = StreamOpKind::kEventWait};
  op.capturing = r.capturing;
  op.external = r.external;
  op.stream = r.stream;
  op.event = r.event;
  trace_.stream_ops.push_back(op);
  return true;
}

bool TraceAssembler::Apply(const FrontierRecord& r) {
  if (!RefersToStream(r.stream)) return false;
  const bool set = r.mode == FrontierMode::kSet;
  StreamOp op{.seq = place()};
  op.kind = set ? StreamOpKind::kSetFrontier : StreamOpKind::kAddToFrontier;
  op.capturing = true;
  op.has_entries = true;
  op.stream = r.stream;
  if (!AddEntries(r.entries, op.entries)) return false;
  trace_.stream_ops.push_back(op);
  return true;
}

bool TraceAssembler::Apply(const SyncRecord& r) {
  if (!RefersToStream(r.stream) || !RefersToEvent(r.event)) return false;
  static constexpr StreamOpKind kKinds[] = {StreamOpKind::kDeviceSync, StreamOpKind::kStreamSync,
                                            StreamOpKind::kEventSync};
  StreamOp op{.seq = place(), .kind = kKinds[static_cast<size_t>(r.what)]};
  op.stream = r.stream;
  op.event = r.event;
  trace_.stream_ops.push_back(op);
  return true;
}

}  // namespace graphkit
