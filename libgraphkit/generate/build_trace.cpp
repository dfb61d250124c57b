#include "libgraphkit/generate/build_trace.h"

#include <algorithm>
#include <utility>

#include "libgraphkit/model/node_versions.h"

namespace graphkit {

TraceBuilder::TraceBuilder(DeviceKind device) {
  trace_.process.device = device;
  trace_.process.seq = Next();
}

StringId TraceBuilder::Intern(std::string_view text) {
  return text.empty() ? StringId() : trace_.strings.Intern(text);
}

ThreadId TraceBuilder::Thread(std::string_view name) {
  const auto tid = static_cast<int64_t>(trace_.threads.size()) + 1;
  return Append<ThreadId>(trace_.threads, {.tid = tid, .name = Intern(name), .created = Next()});
}

StackId TraceBuilder::Stack(std::initializer_list<FrameText> frames) {
  std::vector<StackFrame> rows;
  for (const FrameText& frame : frames) {
    rows.push_back({Intern(frame.function), Intern(frame.file), frame.line});
  }
  const Slice slice = AppendAll<StackFrame>(trace_.stack_frames, rows);
  return Append<StackId>(trace_.stacks, {.frames = slice, .created = Next()});
}

KernelId TraceBuilder::Function(std::string_view name, Ternary waits, Triggers triggers,
                                Ternary writes_after_trigger) {
  const StringId text = Intern(name);
  const auto id = Append<KernelId>(trace_.kernels, {.name = text,
                                                    .waits = waits,
                                                    .triggers = triggers,
                                                    .writes_after_trigger = writes_after_trigger,
                                                    .created = Next()});
  functions_.emplace(text.value, id);
  return id;
}

void TraceBuilder::NvtxPush(std::string_view name, std::string_view domain) {
  trace_.nvtx_ranges.push_back(
      {.thread = OwnThread(), .domain = Intern(domain), .name = Intern(name), .begin = Next()});
}

void TraceBuilder::NvtxPop(std::string_view domain) {
  for (auto range = trace_.nvtx_ranges.rbegin(); range != trace_.nvtx_ranges.rend(); ++range) {
    if (range->thread != thread_ || trace_[range->domain] != domain) continue;
    if (range->end != kNever) continue;
    range->end = Next();
    return;
  }
}

uint32_t TraceBuilder::Fail(std::string_view call, int32_t error, StreamId stream, GraphId graph) {
  const ThreadId thread = OwnThread();
  trace_.failures.push_back({.call = Intern(call),
                             .error = error,
                             .thread = thread,
                             .stream = stream,
                             .graph = graph,
                             .stack = stack_,
                             .seq = Next()});
  return static_cast<uint32_t>(trace_.failures.size() - 1);
}

StreamId TraceBuilder::Stream(std::string_view name, StreamKind kind) {
  const uint64_t handle =
      kind == StreamKind::kCreated ? 0x1000 + 0x10 * uint64_t{streams_.size()} : 0;
  streams_.emplace_back();
  return Append<StreamId>(
      trace_.streams, {.handle = handle, .kind = kind, .created = Next(), .name = Intern(name)});
}

EventId TraceBuilder::Event() {
  const uint64_t handle = 0x100000 + 0x10 * uint64_t{events_.size()};
  events_.emplace_back();
  return Append<EventId>(trace_.events, {.handle = handle, .created = Next()});
}

void TraceBuilder::AddStreamOp(StreamOp op) {
  op.seq = Next();
  const bool waits = op.kind >= StreamOpKind::kStreamSync;
  if (waits || op.kind == StreamOpKind::kEventRecord) op.thread = FurtherThread();
  trace_.stream_ops.push_back(op);
}

void TraceBuilder::Record(EventId event, StreamId stream) {
  events_[event.index()] = FrontOf(stream);
  AddStreamOp({.kind = StreamOpKind::kEventRecord,
               .capturing = Capturing(stream),
               .stream = stream,
               .event = event});
}

void TraceBuilder::Wait(StreamId stream, EventId event) {
  Front& front = FrontOf(stream);
  const Front& recorded = events_[event.index()];
  if (recorded.graph && !front.graph) front = {.graph = recorded.graph};
  wide_.Add(stream.index(), recorded.entries, &front.entries);
  AddStreamOp({.kind = StreamOpKind::kEventWait,
               .capturing = Capturing(stream),
               .stream = stream,
               .event = event});
}

void TraceBuilder::Order(StreamId before, StreamId after) {
  const EventId event = Event();
  Record(event, before);
  Wait(after, event);
}

void TraceBuilder::EditFrontier(StreamId stream, Entries entries, StreamOpKind kind) {
  Front& front = FrontOf(stream);
  wide_.Forget(stream.index(), front.entries);
  if (kind == StreamOpKind::kSetFrontier) front.entries.clear();
  front.entries.insert(front.entries.end(), entries);
  AddStreamOp({.kind = kind,
               .capturing = true,
               .has_entries = true,
               .stream = stream,
               .entries = AppendAll<FrontierEntry>(trace_.frontier_entries, entries)});
}

GraphId TraceBuilder::BeginCapture(StreamId origin, std::string_view name, CaptureMode mode) {
  OwnThread();
  return BeginCaptureToGraph(origin, Graph(name, GraphOrigin::kCapture), mode);
}

GraphId TraceBuilder::BeginCaptureToGraph(StreamId origin, GraphId graph, CaptureMode mode) {
  trace_.captures.push_back(
      {.graph = graph, .origin = origin, .thread = OwnThread(), .mode = mode, .begin = Next()});
  wide_.Forget(origin.index(), FrontOf(origin).entries);
  FrontOf(origin) = {.graph = graph};
  return graph;
}

void TraceBuilder::LeaveCapture(GraphId graph) {
  wide_ = {};
  for (std::vector<Front>* fronts : {&streams_, &events_}) {
    for (Front& front : *fronts) {
      if (front.graph == graph) front = {};
    }
  }
}

void TraceBuilder::EndCapture(StreamId origin, CaptureStatus status, int32_t error,
                              uint32_t failure) {
  const GraphId graph = FrontOf(origin).graph;
  for (graphkit::Capture& capture : trace_.captures) {
    if (capture.graph != graph || capture.end != kNever) continue;
    capture.status = status;
    capture.error = error;
    capture.failure = failure;
    capture.end = Next();
  }
  LeaveCapture(graph);
}

void TraceBuilder::EndCapture(StreamId origin) {
  EndCapture(origin, CaptureStatus::kCompleted, 0, graphkit::Capture().failure);
}

void TraceBuilder::InvalidateCapture(StreamId origin, std::string_view call, int32_t error) {
  const uint32_t failure = Fail(call, error, origin, FrontOf(origin).graph);
  constexpr int32_t kStreamCaptureInvalidated = 901;  // driver_types.h
  EndCapture(origin, CaptureStatus::kInvalidated, kStreamCaptureInvalidated, failure);
}

void TraceBuilder::Note(std::string_view text) {
  trace_.completeness.notes.emplace_back(text);
  Next();
}

void TraceBuilder::SetTime(Nanoseconds time) {
  trace_.times.resize(trace_.records);
  trace_.times.back() = time;
}

Trace TraceBuilder::Build() {
  Trace trace = std::exchange(*this, TraceBuilder()).trace_;
  ApplyNodeChanges(&trace);
  return trace;
}

}  // namespace graphkit
