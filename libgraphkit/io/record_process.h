// The records that describe the process, as they stand in a trace file: one struct a type, and its
// keys in the order in which they are written (docs/format.md). Reading, writing and checking all
// go through VisitFields, so a key is named here and nowhere else. The verbs:
//
//     Required   must be there
//     Always     is always written; may be missing
//     Optional   is left out at its default
//     Hex        a number written as "0x…"; left out at 0
//     Present    a list that may be absent, which isn't the same as empty
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/process.h"

namespace graphkit {

// What every record may carry, after its own keys.
struct RecordBase {
  Nanoseconds time = 0;
  Source source = Source::kCallback;
};

struct ProcessRecord : RecordBase {
  static constexpr std::string_view kType = "process";
  int64_t pid = 0;
  std::string_view program;
  std::span<const std::string_view> args;
  std::string_view device_name;
  int32_t driver = 0;
  int32_t runtime = 0;
  int32_t cupti = 0;
  std::string_view cupti_path;
  std::string_view tracer;
  std::span<const std::string_view> env;
  std::string_view unknown_memory;
};

template <typename Visitor>
void VisitFields(Visitor& v, ProcessRecord& r) {
  v.Always("pid", r.pid);
  v.Always("program", r.program);
  v.Always("args", r.args);
  v.Optional("device_name", r.device_name);
  v.Optional("driver", r.driver);
  v.Optional("runtime", r.runtime);
  v.Optional("cupti", r.cupti);
  v.Optional("cupti_path", r.cupti_path);
  v.Optional("tracer", r.tracer);
  v.Optional("env", r.env);
  v.Optional("unknown_memory", r.unknown_memory);
}

struct ClockRecord : RecordBase {
  static constexpr std::string_view kType = "clock";
  Nanoseconds mono = 0;
  int64_t wall = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, ClockRecord& r) {
  v.Required("mono", r.mono);
  v.Required("wall", r.wall);
}

struct ThreadRecord : RecordBase {
  static constexpr std::string_view kType = "thread";
  ThreadId id;
  int64_t tid = 0;
  std::string_view name;
};

template <typename Visitor>
void VisitFields(Visitor& v, ThreadRecord& r) {
  v.Required("id", r.id);
  v.Required("tid", r.tid);
  v.Optional("name", r.name);
}

struct KernelRecord : RecordBase {
  static constexpr std::string_view kType = "kernel";
  KernelId id;
  std::string_view name;
  bool has_params = false;
  std::span<const KernelParam> params;
  Ternary waits = Ternary::kUnknown;
};

template <typename Visitor>
void VisitFields(Visitor& v, KernelRecord& r) {
  v.Required("id", r.id);
  v.Required("name", r.name);
  v.Present("params", r.has_params, r.params);
  v.Optional("waits", r.waits);
}

struct FrameRecord {
  std::string_view function;
  std::string_view file;
  uint32_t line = 0;
};

struct StackRecord : RecordBase {
  static constexpr std::string_view kType = "stack";
  StackId id;
  std::span<const FrameRecord> frames;
};

template <typename Visitor>
void VisitFields(Visitor& v, StackRecord& r) {
  v.Required("id", r.id);
  v.Required("frames", r.frames);
}

struct NvtxPushRecord : RecordBase {
  static constexpr std::string_view kType = "nvtx_push";
  ThreadId thread;
  std::string_view domain;
  std::string_view name;
  uint64_t colour = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, NvtxPushRecord& r) {
  v.Required("thread", r.thread);
  v.Optional("domain", r.domain);
  v.Required("name", r.name);
  v.Hex("colour", r.colour);
}

struct NvtxPopRecord : RecordBase {
  static constexpr std::string_view kType = "nvtx_pop";
  ThreadId thread;
  std::string_view domain;
};

template <typename Visitor>
void VisitFields(Visitor& v, NvtxPopRecord& r) {
  v.Required("thread", r.thread);
  v.Optional("domain", r.domain);
}

struct FailureRecord : RecordBase {
  static constexpr std::string_view kType = "failure";
  std::string_view call;
  int32_t error = 0;
  ThreadId thread;
  StreamId stream;
  GraphId graph;
  StackId stack;
  std::string_view args;
};

template <typename Visitor>
void VisitFields(Visitor& v, FailureRecord& r) {
  v.Required("call", r.call);
  v.Required("error", r.error);
  v.Optional("thread", r.thread);
  v.Optional("stream", r.stream);
  v.Optional("graph", r.graph);
  v.Optional("stack", r.stack);
  v.Optional("args", r.args);
}

struct DroppedRecord : RecordBase {
  static constexpr std::string_view kType = "dropped";
  uint64_t records = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, DroppedRecord& r) {
  v.Required("records", r.records);
}

struct NoteRecord : RecordBase {
  static constexpr std::string_view kType = "note";
  std::string_view text;
};

template <typename Visitor>
void VisitFields(Visitor& v, NoteRecord& r) {
  v.Required("text", r.text);
}

// Holds a place, and says nothing.
struct BlankRecord : RecordBase {
  static constexpr std::string_view kType = "blank";
};

template <typename Visitor>
void VisitFields(Visitor&, BlankRecord&) {}

inline constexpr uint64_t kNotCounted = ~uint64_t{0};

struct EndRecord : RecordBase {
  static constexpr std::string_view kType = "end";
  uint64_t records = 0;
  uint64_t graphs = kNotCounted;
  uint64_t nodes = kNotCounted;
  uint64_t edges = kNotCounted;
  uint64_t blocks = kNotCounted;
  uint64_t launches = kNotCounted;
};

template <typename Visitor>
void VisitFields(Visitor& v, EndRecord& r) {
  v.Required("records", r.records);
  v.Optional("graphs", r.graphs, kNotCounted);
  v.Optional("nodes", r.nodes, kNotCounted);
  v.Optional("edges", r.edges, kNotCounted);
  v.Optional("blocks", r.blocks, kNotCounted);
  v.Optional("launches", r.launches, kNotCounted);
}

}  // namespace graphkit
