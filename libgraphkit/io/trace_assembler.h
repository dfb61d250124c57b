// Puts records, in the order of the file, into a trace: gives each its place, checks that ids are
// dense and that what they refer to has appeared, and keeps the columns consistent with each other.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/io/record_graph.h"
#include "libgraphkit/io/record_memory.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/io/record_stream.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// What is wrong with a record: "has graph 7, but only 3 graphs were declared".
struct Problem {
  std::string message;
  std::string hint = {};
  std::optional<Seq> place = {};  // of the record, when it isn't the last one added
};

class TraceAssembler {
 public:
  explicit TraceAssembler(DeviceKind device) { trace_.process.device = device; }

  // Each takes the next place, and returns false when the record is wrong: see problem().
  template <typename Record>
  bool Add(const Record& record) {
    if (ended_) return Fail("comes after the end record");
    if (trace_.records == kNever - 1) return Fail("is one too many: a trace holds 2^32-2 records");
    if (!Apply(record)) return false;
    if (record.time != 0) SetTime(record.time);
    ++trace_.records;
    return true;
  }
  bool Add(const EndRecord& record);

  // A record of a type that this version doesn't know: it only takes a place.
  bool AddUnknown() { return Add(BlankRecord()); }

  const Problem& problem() const { return problem_; }
  Seq place() const { return trace_.records; }
  bool ended() const { return ended_; }

  // Makes room for a trace that is so many times as long as what was added: without it, columns are
  // copied as they grow, each time into memory that nobody has touched before.
  void MakeRoom(double times);

  // Checks what only shows after the last record, and takes the trace out.
  bool Finish();
  Trace Take() { return std::move(trace_); }

 private:
  // The process: assemble_process.cpp.
  bool Apply(const ProcessRecord& r);
  bool Apply(const ClockRecord& r);
  bool Apply(const ThreadRecord& r);
  bool Apply(const KernelRecord& r);
  bool Apply(const StackRecord& r);
  bool Apply(const NvtxPushRecord& r);
  bool Apply(const NvtxPopRecord& r);
  bool Apply(const FailureRecord& r);
  bool Apply(const DroppedRecord& r);
  bool Apply(const NoteRecord& r);
  bool Apply(const BlankRecord&) { return true; }

  // Streams and order: assemble_stream.cpp.
  bool Apply(const StreamRecord& r);
  bool Apply(const StreamDestroyedRecord& r);
  bool Apply(const EventRecord& r);
  bool Apply(const EventDestroyedRecord& r);
  bool Apply(const CaptureBeginRecord& r);
  bool Apply(const CaptureEndRecord& r);
  bool Apply(const EventRecordRecord& r);
  bool Apply(const EventWaitRecord& r);
  bool Apply(const FrontierRecord& r);
  bool Apply(const SyncRecord& r);

  // Graphs: assemble_graph.cpp.
  bool Apply(const GraphRecord& r);
  bool Apply(const GraphDestroyedRecord& r);
  bool Apply(const NodeRecord& r);
  bool Apply(const NodeSetRecord& r);
  bool Apply(const NodeDestroyedRecord& r);
  bool Apply(const EdgeRecord& r);
  bool Apply(const EdgeRemovedRecord& r);
  bool Apply(const ExecRecord& r);
  bool Apply(const ExecDestroyedRecord& r);
  bool Apply(const ExecUpdatedRecord& r);
  bool Apply(const LaunchRecord& r);
  bool Apply(const WorkRecord& r);

  // Memory: assemble_memory.cpp.
  bool Apply(const PoolRecord& r);
  bool Apply(const PoolDestroyedRecord& r);
  bool Apply(const SegmentRecord& r);
  bool Apply(const SegmentFreedRecord& r);
  bool Apply(const AllocRecord& r);
  bool Apply(const RecordStreamRecord& r);
  bool Apply(const FreeRecord& r);
  bool Apply(const FreeRequestedRecord& r);
  bool Apply(const FreeCompletedRecord& r);

  bool Fail(std::string message, std::string hint = {});
  StringId Intern(std::string_view text);
  void SetTime(Nanoseconds time);

  // Whether a new thing's id is the next one; whether a reference (or none) refers to something.
  template <typename Tag>
  bool IsNext(Id<Tag> id, size_t count, const char* what) {
    return id.value == count || FailNext(id.value, count, what);
  }
  template <typename Tag>
  bool Refers(const char* key, Id<Tag> id, size_t count, const char* what) {
    return !id.valid() || id.value < count || FailReference(key, id.value, count, what);
  }
  bool FailNext(uint32_t id, size_t count, const char* what);
  bool FailReference(const char* key, uint32_t id, size_t count, const char* what);
  bool RefersToGraph(GraphId id) { return Refers("graph", id, trace_.graphs.size(), "graphs"); }
  bool RefersToStream(StreamId id) {
    return Refers("stream", id, trace_.streams.size(), "streams");
  }
  bool RefersToEvent(EventId id) { return Refers("event", id, trace_.events.size(), "events"); }
  bool RefersToThread(ThreadId id) {
    return Refers("thread", id, trace_.threads.size(), "threads");
  }
  bool RefersToStack(StackId id) { return Refers("stack", id, trace_.stacks.size(), "stacks"); }
  bool RefersToBlock(BlockId id) { return Refers("memory", id, trace_.blocks.size(), "blocks"); }
  bool RefersToExec(ExecId id) { return Refers("exec", id, trace_.execs.size(), "execs"); }

  // Marks the end of something's life; the first end counts.
  void End(Seq& end) {
    if (end == kNever) end = place();
  }

  // Appends the entries of a record to their column; empty: the slice stays.
  template <typename T>
  bool AddSlice(std::span<const T> entries, std::vector<T>& column, Slice& slice) {
    if (entries.empty()) return true;
    constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
    if (column.size() > kMost || entries.size() > kMost - column.size()) {
      return Fail("is one too many: a trace holds 2^32-1 entries of its kind");
    }
    slice = {static_cast<uint32_t>(column.size()), static_cast<uint32_t>(entries.size())};
    column.insert(column.end(), entries.begin(), entries.end());
    return true;
  }
  bool AddEntries(std::span<const FrontierEntry> entries, Slice& slice);
  bool AddAccesses(std::span<const Access> accesses, Slice& slice);
  bool AddToolIds(std::span<const ToolIdRun> runs, Slice& slice);
  template <typename Record>
  uint32_t InternShape(const Record& r);
  bool LinkBodies(const NodeRecord& r);
  bool Adopt(GraphId graph, NodeId parent, uint32_t body);
  bool TakeBlock(const NodeRecord& r);
  bool RequestFree(const FreeFields& r);

  struct ShapeHash {
    size_t operator()(const LaunchShape& shape) const;
  };
  // A graph that a node names as its child or body, before the graph's own record.
  struct Expected {
    NodeId parent;
    uint32_t body = 0;
    Seq place = 0;
  };

  Trace trace_;
  bool ended_ = false;
  Problem problem_;
  std::unordered_map<LaunchShape, uint32_t, ShapeHash> shapes_;
  uint32_t last_shape_ = 0;
  std::map<GraphId, Expected> expected_graphs_;
  std::map<std::pair<ThreadId, StringId>, std::vector<uint32_t>> open_ranges_;
};

}  // namespace graphkit
