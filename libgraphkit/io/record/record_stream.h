// The records of streams, events, captures and what orders them. How to read this: record.h.
#pragma once

#include "libgraphkit/io/record/record.h"

namespace graphkit {

struct StreamRecord : DeclaredRecord<"stream", StreamId, &Stream::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Always("handle", Hex{row.handle});
    v.Optional("kind", row.kind);
    v.Optional("non_blocking", row.non_blocking);
    v.Optional("priority", row.priority);
    v.Optional("device", row.device);
    v.Optional("name", row.name);
  }
};

struct StreamDestroyedRecord : EndingRecord<"stream_destroyed", StreamId, &Stream::destroyed> {};

struct EventRecord : DeclaredRecord<"event", EventId, &Event::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Always("handle", Hex{row.handle});
  }
};

struct EventDestroyedRecord : EndingRecord<"event_destroyed", EventId, &Event::destroyed> {};

struct CaptureBeginRecord : DeclaredRecord<"capture_begin", CaptureId, &Capture::begin> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("graph", row.graph);
    v.Required("stream", row.origin);
    v.Optional("thread", row.thread);
    v.Required("mode", row.mode);
    v.Optional("recapture", row.recapture);
  }
};

struct CaptureEndRecord : PlacedAt<"capture_end", &Trace::captures, &Capture::end> {
  CaptureId capture;
  int32_t error = 0;
  uint32_t failure = Capture().failure;
  void Fields(auto& v) {
    v.Required("capture", capture);
    v.Optional("error", error);
    v.Optional("failure", failure, Capture().failure);
  }
};

// Kinds of StreamOp that one type of record says, by words of its own.
struct SyncTarget {
  static constexpr std::array<std::string_view, 3> value = {"device", "stream", "event"};
  static constexpr StreamOpKind kKinds[] = {StreamOpKind::kDeviceSync, StreamOpKind::kStreamSync,
                                            StreamOpKind::kEventSync};
};
struct FrontierMode {
  static constexpr std::array<std::string_view, 2> value = {"set", "add"};
  static constexpr StreamOpKind kKinds[] = {StreamOpKind::kSetFrontier,
                                            StreamOpKind::kAddToFrontier};
};
// The records of one kind of StreamOp, or of some.
template <TypeName kName, StreamOpKind First, StreamOpKind Last = First>
struct StreamOpRecord : RowRecord<kName, &Trace::stream_ops, &StreamOp::seq> {
  StreamOpRecord() { this->row.kind = First; }
  static bool Says(const StreamOp& op) { return op.kind >= First && op.kind <= Last; }
};

struct EventRecordRecord : StreamOpRecord<"event_record", StreamOpKind::kEventRecord> {
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("event", row.event);
    v.Optional("capturing", row.capturing);
    v.Optional("external", row.external);
    v.Optional("thread", row.thread);
    v.Present("entries", row.has_entries, Listed(row.entries, &Trace::frontier_entries));
  }
};

struct EventWaitRecord : StreamOpRecord<"event_wait", StreamOpKind::kEventWait> {
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("event", row.event);
    v.Optional("capturing", row.capturing);
    v.Optional("external", row.external);
  }
};

struct FrontierRecord
    : StreamOpRecord<"frontier", StreamOpKind::kSetFrontier, StreamOpKind::kAddToFrontier> {
  FrontierRecord() { row.capturing = row.has_entries = true; }
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("mode", AsWord<FrontierMode>{row.kind});
    v.Required("entries", Listed(row.entries, &Trace::frontier_entries));
  }
};

struct SyncRecord : StreamOpRecord<"sync", StreamOpKind::kStreamSync, StreamOpKind::kDeviceSync> {
  void Fields(auto& v) {
    v.Required("what", AsWord<SyncTarget>{row.kind});
    v.Optional("thread", row.thread);
    v.Optional("stream", row.stream);
    v.Optional("event", row.event);
  }
};

}  // namespace graphkit
