// The records that describe the process. How to read this: record.h.
#pragma once

#include <string>

#include "libgraphkit/io/record/record.h"
#include "libgraphkit/io/record/record_line.h"

namespace graphkit {

struct ProcessRecord : NamedRecord<"process"> {
  Process process;
  void Fields(auto& v) {
    v.Always("pid", process.pid);
    v.Always("program", process.program);
    v.Always("args", process.args);
    v.Optional("executable", process.executable);
    v.Optional("device_name", process.device_name);
    v.Optional("driver", process.driver_version);
    v.Optional("runtime", process.runtime_version);
    v.Optional("cupti", process.cupti_version);
    v.Optional("cupti_path", process.cupti_path);
    v.Optional("tracer", process.tracer_version);
    v.Optional("env", process.environment);
    v.Optional("unknown_memory", process.unknown_memory);
    v.Optional("all_work", process.all_work);
  }
};

struct ClockRecord : RowRecord<"clock", &Trace::clocks, &ClockPair::seq> {
  void Fields(auto& v) {
    v.Required("mono", row.monotonic);
    v.Required("wall", row.wall);
  }
};

struct ThreadRecord : DeclaredRecord<"thread", ThreadId, &Thread::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("tid", row.tid);
    v.Optional("name", row.name);
  }
};

struct KernelRecord : DeclaredRecord<"kernel", KernelId, &Kernel::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("name", row.name);
    v.Present("params", row.has_layout, Listed(row.params, &Trace::kernel_params));
    v.Optional("waits", row.waits);
    v.Optional("triggers", row.triggers);
    v.Optional("writes_after_trigger", row.writes_after_trigger);
  }
};

struct StackRecord : DeclaredRecord<"stack", StackId, &Stack::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("frames", Listed(row.frames, &Trace::stack_frames));
  }
};

struct NvtxPushRecord : RowRecord<"nvtx_push", &Trace::nvtx_ranges, &NvtxRange::begin> {
  void Fields(auto& v) {
    v.Required("thread", row.thread);
    v.Optional("domain", row.domain);
    v.Required("name", row.name);
    v.Optional("colour", Hex{row.colour});
  }
};

struct NvtxPopRecord : PlacedAt<"nvtx_pop", &Trace::nvtx_ranges, &NvtxRange::end> {
  ThreadId thread;
  StringId domain;
  void Fields(auto& v) {
    v.Required("thread", thread);
    v.Optional("domain", domain);
  }
};

struct FailureRecord : RowRecord<"failure", &Trace::failures, &Failure::seq> {
  void Fields(auto& v) {
    v.Required("call", row.call);
    v.Required("error", row.error);
    v.Optional("thread", row.thread);
    v.Optional("stream", row.stream);
    v.Optional("graph", row.graph);
    v.Optional("stack", row.stack);
    v.Optional("args", row.arguments);
    v.Optional("of", row.of.graph);
    v.Optional("node", row.of.node);
    v.Optional("reason", row.of.reason);
    v.Optional("flags", row.of.flags);
    v.Optional("device", row.device);
    v.Optional("requested", row.requested);
    v.Optional("free", row.free_on_device);
  }
};

struct ImportedRecord : RowRecord<"imported", &Trace::imported_from, &ImportedFrom::seq> {
  void Fields(auto& v) {
    v.Required("format", row.format);
    v.Optional("file", row.file);
    v.Optional("summary", row.summary);
  }
};

struct HistoryRecord : RowRecord<"history", &Trace::histories, &MemoryHistory::seq> {
  void Fields(auto& v) { v.Required("devices", row.devices); }
};

struct HistoryEventsRecord
    : RowRecord<"history_events", &Trace::history_events, &HistoryEvents::seq> {
  void Fields(auto& v) {
    v.Optional("device", row.device);
    v.Required("first", row.first);
    v.Required("steps", row.steps);
  }
};

struct DroppedRecord : NamedRecord<"dropped"> {
  uint64_t records = 0;
  void Fields(auto& v) { v.Required("records", records); }
};

struct NoteRecord : NamedRecord<"note"> {
  std::string text;
  bool stopped = false;
  void Fields(auto& v) {
    v.Required("text", text);
    v.Optional("stopped", stopped);
  }
};

// Holds a place, and says nothing.
struct BlankRecord : NamedRecord<"blank"> {
  void Fields(auto&) {}
};

inline constexpr uint64_t kNotCounted = ~uint64_t{0};

struct EndRecord : NamedRecord<"end"> {
  uint64_t records = 0;
  RecordCounts counts = {kNotCounted, kNotCounted, kNotCounted, kNotCounted, kNotCounted};
  void Fields(auto& v) {
    v.Required("records", records);
    counts.VisitWith(counts, [&](std::string_view key, uint64_t& count, uint64_t) {
      v.Optional(key, count, kNotCounted);
    });
  }
};

}  // namespace graphkit
