#include "libgraphkit/io/record_rows.h"
#include "libgraphkit/io/record_stream.h"

namespace graphkit {
namespace {

void PutStreams(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.streams.size(); ++i) places.Put(trace.streams[i].created, i);
}

void PrintStream(PlacePrinter& to, uint32_t index) {
  const Stream& stream = to.trace.streams[index];
  StreamRecord r;
  r.id = StreamId(index);
  r.handle = stream.handle;
  r.kind = stream.kind;
  r.non_blocking = stream.non_blocking;
  r.priority = stream.priority;
  r.device = stream.device;
  r.name = to.trace[stream.name];
  to.Print(r);
}

void PutDestroyedStreams(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.streams.size(); ++i) places.Put(trace.streams[i].destroyed, i);
}

void PrintDestroyedStream(PlacePrinter& to, uint32_t index) {
  StreamDestroyedRecord r;
  r.stream = StreamId(index);
  to.Print(r);
}

void PutEvents(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.events.size(); ++i) places.Put(trace.events[i].created, i);
}

void PrintEvent(PlacePrinter& to, uint32_t index) {
  EventRecord r;
  r.id = EventId(index);
  r.handle = to.trace.events[index].handle;
  to.Print(r);
}

void PutDestroyedEvents(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.events.size(); ++i) places.Put(trace.events[i].destroyed, i);
}

void PrintDestroyedEvent(PlacePrinter& to, uint32_t index) {
  EventDestroyedRecord r;
  r.event = EventId(index);
  to.Print(r);
}

void PutCaptures(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.captures.size(); ++i) places.Put(trace.captures[i].begin, i);
}

void PrintCapture(PlacePrinter& to, uint32_t index) {
  const Capture& capture = to.trace.captures[index];
  CaptureBeginRecord r;
  r.id = CaptureId(index);
  r.graph = capture.graph;
  r.stream = capture.origin;
  r.thread = capture.thread;
  r.mode = capture.mode;
  to.Print(r);
}

void PutCaptureEnds(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.captures.size(); ++i) places.Put(trace.captures[i].end, i);
}

void PrintCaptureEnd(PlacePrinter& to, uint32_t index) {
  const Capture& capture = to.trace.captures[index];
  CaptureEndRecord r;
  r.capture = CaptureId(index);
  r.error = capture.error;
  r.failure = capture.failure;
  to.Print(r);
}

void PutStreamOps(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.stream_ops.size(); ++i) places.Put(trace.stream_ops[i].seq, i);
}

void PrintEventRecord(PlacePrinter& to, const StreamOp& op) {
  EventRecordRecord r;
  r.stream = op.stream;
  r.event = op.event;
  r.capturing = op.capturing;
  r.external = op.external;
  r.has_entries = op.has_entries;
  r.entries = PlacePrinter::Of(to.trace.frontier_entries, op.entries);
  to.Print(r);
}

void PrintEventWait(PlacePrinter& to, const StreamOp& op) {
  EventWaitRecord r;
  r.stream = op.stream;
  r.event = op.event;
  r.capturing = op.capturing;
  r.external = op.external;
  to.Print(r);
}

void PrintFrontier(PlacePrinter& to, const StreamOp& op) {
  FrontierRecord r;
  r.stream = op.stream;
  r.mode = op.kind == StreamOpKind::kSetFrontier ? FrontierMode::kSet : FrontierMode::kAdd;
  r.entries = PlacePrinter::Of(to.trace.frontier_entries, op.entries);
  to.Print(r);
}

void PrintSync(PlacePrinter& to, const StreamOp& op) {
  SyncRecord r;
  if (op.kind == StreamOpKind::kStreamSync) r.what = SyncTarget::kStream;
  if (op.kind == StreamOpKind::kEventSync) r.what = SyncTarget::kEvent;
  r.stream = op.stream;
  r.event = op.event;
  to.Print(r);
}

void PrintStreamOp(PlacePrinter& to, uint32_t index) {
  const StreamOp& op = to.trace.stream_ops[index];
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      return PrintEventRecord(to, op);
    case StreamOpKind::kEventWait:
      return PrintEventWait(to, op);
    case StreamOpKind::kSetFrontier:
    case StreamOpKind::kAddToFrontier:
      return PrintFrontier(to, op);
    case StreamOpKind::kStreamSync:
    case StreamOpKind::kEventSync:
    case StreamOpKind::kDeviceSync:
      return PrintSync(to, op);
  }
}

constexpr RecordRow kStreamRows[] = {
    {PutStreams, PrintStream},     {PutDestroyedStreams, PrintDestroyedStream},
    {PutEvents, PrintEvent},       {PutDestroyedEvents, PrintDestroyedEvent},
    {PutCaptures, PrintCapture},   {PutCaptureEnds, PrintCaptureEnd},
    {PutStreamOps, PrintStreamOp},
};

}  // namespace

std::span<const RecordRow> StreamRows() { return kStreamRows; }

}  // namespace graphkit
