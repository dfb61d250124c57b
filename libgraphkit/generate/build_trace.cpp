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
  const ThreadId id(trace_.threads.size());
  const auto tid = static_cast<int64_t>(id.value) + 1;
  trace_.threads.push_back({.tid = tid, .name = Intern(name), .created = Next()});
  return id;
}

StackId TraceBuilder::Stack(std::initializer_list<FrameText> frames) {
  const StackId id(trace_.stacks.size());
  const Slice slice{static_cast<uint32_t>(trace_.stack_frames.size()),
                    static_cast<uint32_t>(frames.size())};
  for (const FrameText& frame : frames) {
    const StringId function = Intern(frame.function);
    trace_.stack_frames.push_back({function, Intern(frame.file), frame.line});
  }
  trace_.stacks.push_back({.frames = slice, .created = Next()});
  return id;
}

KernelId TraceBuilder::Function(std::string_view name, Ternary waits) {
  const KernelId id(trace_.kernels.size());
  graphkit::Kernel kernel;
  kernel.name = Intern(name);
  kernel.waits = waits;
  kernel.created = Next();
  trace_.kernels.push_back(kernel);
  functions_.emplace(kernel.name.value, id);
  return id;
}

void TraceBuilder::NvtxPush(std::string_view name, std::string_view domain) {
  NvtxRange range;
  range.thread = thread_ ? thread_ : (thread_ = Thread());
  range.domain = Intern(domain);
  range.name = Intern(name);
  range.begin = Next();
  trace_.nvtx_ranges.push_back(range);
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
  Failure failure;
  failure.thread = thread_ ? thread_ : (thread_ = Thread());
  failure.call = Intern(call);
  failure.error = error;
  failure.stream = stream;
  failure.graph = graph;
  failure.stack = stack_;
  failure.seq = Next();
  trace_.failures.push_back(failure);
  return static_cast<uint32_t>(trace_.failures.size() - 1);
}

StreamId TraceBuilder::Stream(std::string_view name, StreamKind kind) {
  const StreamId id(trace_.streams.size());
  graphkit::Stream stream;
  stream.handle = kind == StreamKind::kCreated ? 0x1000 + 0x10 * uint64_t{id.value} : 0;
  stream.kind = kind;
  stream.name = Intern(name);
  stream.created = Next();
  trace_.streams.push_back(stream);
  streams_.emplace_back();
  return id;
}

EventId TraceBuilder::Event() {
  const EventId id(trace_.events.size());
  trace_.events.push_back({.handle = 0x100000 + 0x10 * uint64_t{id.value}, .created = Next()});
  events_.emplace_back();
  return id;
}

void TraceBuilder::Destroy(StreamId stream) { trace_.streams[stream.index()].destroyed = Next(); }

void TraceBuilder::Destroy(EventId event) { trace_.events[event.index()].destroyed = Next(); }

void TraceBuilder::AddStreamOp(StreamOp op) {
  op.seq = Next();
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
  for (const FrontierEntry& entry : recorded.entries) {
    if (std::ranges::find(front.entries, entry) == front.entries.end()) {
      front.entries.push_back(entry);
    }
  }
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

void TraceBuilder::EditFrontier(StreamId stream, std::initializer_list<FrontierEntry> entries,
                                StreamOpKind kind) {
  Front& front = FrontOf(stream);
  if (kind == StreamOpKind::kSetFrontier) front.entries.clear();
  front.entries.insert(front.entries.end(), entries);
  const Slice slice{static_cast<uint32_t>(trace_.frontier_entries.size()),
                    static_cast<uint32_t>(entries.size())};
  trace_.frontier_entries.insert(trace_.frontier_entries.end(), entries);
  AddStreamOp({.kind = kind,
               .capturing = true,
               .has_entries = true,
               .stream = stream,
               .event = {},
               .entries = slice});
}

void TraceBuilder::SetFrontier(StreamId stream, std::initializer_list<FrontierEntry> entries) {
  EditFrontier(stream, entries, StreamOpKind::kSetFrontier);
}

void TraceBuilder::AddToFrontier(StreamId stream, std::initializer_list<FrontierEntry> entries) {
  EditFrontier(stream, entries, StreamOpKind::kAddToFrontier);
}

void TraceBuilder::Synchronize() { AddStreamOp({.kind = StreamOpKind::kDeviceSync}); }

void TraceBuilder::Synchronize(StreamId stream) {
  AddStreamOp({.kind = StreamOpKind::kStreamSync, .stream = stream});
}

void TraceBuilder::Synchronize(EventId event) {
  AddStreamOp({.kind = StreamOpKind::kEventSync, .stream = {}, .event = event});
}

GraphId TraceBuilder::BeginCapture(StreamId origin, std::string_view name, CaptureMode mode) {
  if (!thread_) thread_ = Thread();
  const GraphId graph = Graph(name, GraphOrigin::kCapture);
  graphkit::Capture capture;
  capture.graph = graph;
  capture.origin = origin;
  capture.thread = thread_;
  capture.mode = mode;
  capture.begin = Next();
  trace_.captures.push_back(capture);
  FrontOf(origin) = {.graph = graph};
  return graph;
}

void TraceBuilder::LeaveCapture(GraphId graph) {
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

bool TraceBuilder::Capturing(StreamId stream) const {
  return streams_[stream.index()].graph.valid();
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
