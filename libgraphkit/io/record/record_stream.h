// The records of streams, events, captures and what orders them. How to read this: record.h.
#pragma once

#include "libgraphkit/io/record/record.h"

namespace graphkit {

struct StreamRecord : DeclaredRecord<StreamId, &Stream::created> {
  static constexpr std::string_view kType = "stream";
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

struct StreamDestroyedRecord : EndingRecord<StreamId, &Stream::destroyed> {
  static constexpr std::string_view kType = "stream_destroyed";
};

struct EventRecord : DeclaredRecord<EventId, &Event::created> {
  static constexpr std::string_view kType = "event";
  void Fields(auto& v) {
    v.Required("id", id);
    v.Always("handle", Hex{row.handle});
  }
};

struct EventDestroyedRecord : EndingRecord<EventId, &Event::destroyed> {
  static constexpr std::string_view kType = "event_destroyed";
};

struct CaptureBeginRecord : DeclaredRecord<CaptureId, &Capture::begin> {
  static constexpr std::string_view kType = "capture_begin";
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("graph", row.graph);
    v.Required("stream", row.origin);
    v.Optional("thread", row.thread);
    v.Required("mode", row.mode);
    v.Optional("recapture", row.recapture);
  }
};

struct CaptureEndRecord : PlacedAt<&Trace::captures, &Capture::end> {
  static constexpr std::string_view kType = "capture_end";
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
template <StreamOpKind First, StreamOpKind Last = First>
struct StreamOpRecord : RowRecord<&Trace::stream_ops, &StreamOp::seq> {
  StreamOpRecord() { row.kind = First; }
  static bool Says(const StreamOp& op) { return op.kind >= First && op.kind <= Last; }
};

struct EventRecordRecord : StreamOpRecord<StreamOpKind::kEventRecord> {
  static constexpr std::string_view kType = "event_record";
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("event", row.event);
    v.Optional("capturing", row.capturing);
    v.Optional("external", row.external);
    v.Optional("thread", row.thread);
    v.Present("entries", row.has_entries, Listed(row.entries, &Trace::frontier_entries));
  }
};

struct EventWaitRecord : StreamOpRecord<StreamOpKind::kEventWait> {
  static constexpr std::string_view kType = "event_wait";
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("event", row.event);
    v.Optional("capturing", row.capturing);
    v.Optional("external", row.external);
  }
};

struct FrontierRecord : StreamOpRecord<StreamOpKind::kSetFrontier, StreamOpKind::kAddToFrontier> {
  static constexpr std::string_view kType = "frontier";
  FrontierRecord() { row.capturing = row.has_entries = true; }
  void Fields(auto& v) {
    v.Required("stream", row.stream);
    v.Required("mode", AsWord<FrontierMode>{row.kind});
    v.Required("entries", Listed(row.entries, &Trace::frontier_entries));
  }
};

struct SyncRecord : StreamOpRecord<StreamOpKind::kStreamSync, StreamOpKind::kDeviceSync> {
  static constexpr std::string_view kType = "sync";
  void Fields(auto& v) {
    v.Required("what", AsWord<SyncTarget>{row.kind});
    v.Optional("thread", row.thread);
    v.Optional("stream", row.stream);
    v.Optional("event", row.event);
  }
};

}  // namespace graphkit
