// The records of streams, events, captures and what orders them. How to read this:
// record_process.h.
#pragma once

#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

struct StreamRecord : RecordBase {
  static constexpr std::string_view kType = "stream";
  StreamId id;
  uint64_t handle = 0;
  StreamKind kind = StreamKind::kCreated;
  bool non_blocking = false;
  int32_t priority = 0;
  int16_t device = 0;
  std::string_view name;
};

template <typename Visitor>
void VisitFields(Visitor& v, StreamRecord& r) {
  v.Required("id", r.id);
  v.AlwaysHex("handle", r.handle);
  v.Optional("kind", r.kind);
  v.Optional("non_blocking", r.non_blocking);
  v.Optional("priority", r.priority);
  v.Optional("device", r.device);
  v.Optional("name", r.name);
}

struct StreamDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "stream_destroyed";
  StreamId stream;
};

template <typename Visitor>
void VisitFields(Visitor& v, StreamDestroyedRecord& r) {
  v.Required("stream", r.stream);
}

struct EventRecord : RecordBase {
  static constexpr std::string_view kType = "event";
  EventId id;
  uint64_t handle = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, EventRecord& r) {
  v.Required("id", r.id);
  v.AlwaysHex("handle", r.handle);
}

struct EventDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "event_destroyed";
  EventId event;
};

template <typename Visitor>
void VisitFields(Visitor& v, EventDestroyedRecord& r) {
  v.Required("event", r.event);
}

struct CaptureBeginRecord : RecordBase {
  static constexpr std::string_view kType = "capture_begin";
  CaptureId id;
  GraphId graph;
  StreamId stream;
  ThreadId thread;
  CaptureMode mode = CaptureMode::kGlobal;
};

template <typename Visitor>
void VisitFields(Visitor& v, CaptureBeginRecord& r) {
  v.Required("id", r.id);
  v.Required("graph", r.graph);
  v.Required("stream", r.stream);
  v.Optional("thread", r.thread);
  v.Required("mode", r.mode);
}

struct CaptureEndRecord : RecordBase {
  static constexpr std::string_view kType = "capture_end";
  CaptureId capture;
  int32_t error = 0;
  uint32_t failure = 0xffffffffu;
};

template <typename Visitor>
void VisitFields(Visitor& v, CaptureEndRecord& r) {
  v.Required("capture", r.capture);
  v.Optional("error", r.error);
  v.Optional("failure", r.failure, 0xffffffffu);
}

struct EventRecordRecord : RecordBase {
  static constexpr std::string_view kType = "event_record";
  StreamId stream;
  EventId event;
  bool capturing = false;
  bool external = false;
  bool has_entries = false;
  std::span<const FrontierEntry> entries;
};

template <typename Visitor>
void VisitFields(Visitor& v, EventRecordRecord& r) {
  v.Required("stream", r.stream);
  v.Required("event", r.event);
  v.Optional("capturing", r.capturing);
  v.Optional("external", r.external);
  v.Present("entries", r.has_entries, r.entries);
}

struct EventWaitRecord : RecordBase {
  static constexpr std::string_view kType = "event_wait";
  StreamId stream;
  EventId event;
  bool capturing = false;
  bool external = false;
};

template <typename Visitor>
void VisitFields(Visitor& v, EventWaitRecord& r) {
  v.Required("stream", r.stream);
  v.Required("event", r.event);
  v.Optional("capturing", r.capturing);
  v.Optional("external", r.external);
}

struct FrontierRecord : RecordBase {
  static constexpr std::string_view kType = "frontier";
  StreamId stream;
  FrontierMode mode = FrontierMode::kSet;
  std::span<const FrontierEntry> entries;
};

template <typename Visitor>
void VisitFields(Visitor& v, FrontierRecord& r) {
  v.Required("stream", r.stream);
  v.Required("mode", r.mode);
  v.Required("entries", r.entries);
}

struct SyncRecord : RecordBase {
  static constexpr std::string_view kType = "sync";
  SyncTarget what = SyncTarget::kDevice;
  StreamId stream;
  EventId event;
};

template <typename Visitor>
void VisitFields(Visitor& v, SyncRecord& r) {
  v.Required("what", r.what);
  v.Optional("stream", r.stream);
  v.Optional("event", r.event);
}

}  // namespace graphkit
