// Moves records from traces into another one: gives what they define the next ids there, and
// renames what they refer to. For merging several traces of one process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_types.h"
#include "libgraphkit/io/trace/trace_assembler.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// New ids of one trace's things in the merged trace.
class MovedIds {
 public:
  std::vector<uint32_t> failures;

  // None: it didn't move, so far.
  template <typename Tag>
  Id<Tag> operator[](Id<Tag> old) const {
    const auto& ids = std::get<std::vector<Id<Tag>>>(ids_);
    return old.index() < ids.size() ? ids[old.index()] : Id<Tag>();
  }
  template <typename Tag>
  void Keep(Id<Tag> old, Id<Tag> now) {
    auto& ids = std::get<std::vector<Id<Tag>>>(ids_);
    if (old.index() >= ids.size()) ids.resize(old.index() + 1);
    ids[old.index()] = now;
  }

 private:
  template <typename... Ids>
  using Columns = std::tuple<std::vector<Ids>...>;
  EachId<Columns> ids_;
};

struct MovedSource {
  MovedIds ids;
  bool first = false;            // its process, its clocks
  bool places_stay = true;       // false: its history, which names places, stays behind
  bool memory_only = false;      // its graphs, nodes and captures stay behind
  std::optional<int64_t> shift;  // added to its times; none: they stay behind
  // Blocks of this source that are blocks of `other`, by their ids there.
  const MovedIds* other = nullptr;
  std::map<BlockId, BlockId> same_block;
};

class RecordMover {
 public:
  TraceAssembler to{DeviceKind::kImported};
  MovedSource* from = nullptr;

  bool failed() const { return failed_; }

  // `values`: where the record's texts and lists are.
  template <typename Record>
  void Move(const Record& from_record, const TraceValues& values) {
    if (failed_ || StaysBehind(from_record, values)) return;
    Record record = FieldCopier<Record>(from_record).to;
    const int64_t moved = static_cast<int64_t>(record.time) + from->shift.value_or(0);
    const bool known = from->shift && record.time != 0 && moved > 0;
    record.time = known ? static_cast<Nanoseconds>(moved) : 0;
    moved_.Clear();
    Moving moving{{}, *this, values};
    record.Fields(moving);
    if constexpr (std::is_same_v<Record, AllocRecord>) {
      if (from->memory_only) record.row.graph = {};
    }
    failed_ = !to.Add(kRecordIndex<Record>, &record, moved_);
  }

 private:
  // Renames the ids of one record, and takes over its texts and lists.
  struct Moving : EachField<Moving> {
    RecordMover& mover;
    const TraceValues& values;

    // "id" is the one that the record defines.
    template <typename Tag>
    void Field(std::string_view key, Id<Tag>& id) {
      if (id) id = key == "id" ? mover.Next(id) : mover.from->ids[id];
    }
    void Field(std::string_view, StringId& text) { text = mover.moved_.Add(values[text]); }
    void Field(std::string_view key, uint32_t& number) {
      const std::vector<uint32_t>& failures = mover.from->ids.failures;
      if (key == "failure" && number < failures.size()) number = failures[number];
    }
    void Field(std::string_view key, Later later) { Field(key, later.value); }
    void Field(std::string_view key, std::span<const GraphId>& graphs) {
      std::vector<GraphId> moved(graphs.begin(), graphs.end());
      for (GraphId& graph : moved) Field(key, graph);
      graphs = mover.moved_.arena.Copy(moved);
    }
    template <typename Column>
    void Field(std::string_view key, Listed<Column> list) {
      auto& moved = mover.moved_.Entries(list.column);
      for (auto entry : values.Of(list.value, list.column)) {
        Parts(entry, [&](auto&&... parts) { return (Field(key, parts), ..., true); });
        moved.push_back(entry);
      }
      list.value = {0, static_cast<uint32_t>(moved.size())};
    }
    // Nodes that followed one another need not do so any more.
    void Field(std::string_view, Listed<std::vector<ToolIdRun>> list) {
      std::vector<ToolIdRun>& moved = mover.moved_.Entries(list.column);
      for (const ToolIdRun& run : values.Of(list.value, list.column)) {
        for (uint32_t i = 0; i < run.count; ++i) {
          const NodeId node = mover.from->ids[NodeId(run.first.value + i)];
          if (node) AppendToolId(moved, node, run.tool_id + i);
        }
      }
      list.value = {0, static_cast<uint32_t>(moved.size())};
    }
    template <typename T>
    void Field(std::string_view, T&&) {}
  };

  // The id in the merged trace of what the record defines.
  template <typename Tag>
  Id<Tag> Next(Id<Tag> old) {
    const Id<Tag> next((to.trace().*ThingsOf(old).column).size());
    from->ids.Keep(old, next);
    return next;
  }

  // Also joins what several sources speak of.
  template <typename R>
  bool StaysBehind(const R& record, const TraceValues& values) {
    constexpr bool process = std::is_same_v<R, ProcessRecord> || std::is_same_v<R, ClockRecord>;
    constexpr bool work = std::is_same_v<R, GraphRecord> || std::is_same_v<R, NodeRecord> ||
                          std::is_same_v<R, EdgeRecord> || std::is_same_v<R, WorkRecord> ||
                          std::is_same_v<R, CaptureBeginRecord> ||
                          std::is_same_v<R, CaptureEndRecord> ||
                          std::is_same_v<R, RecordStreamRecord> || std::is_same_v<R, BlankRecord>;
    constexpr bool history = std::is_same_v<R, ImportedRecord> ||
                             std::is_same_v<R, HistoryRecord> ||
                             std::is_same_v<R, HistoryEventsRecord>;
    if constexpr (process) return !from->first;
    if constexpr (history) return !from->places_stay;
    if constexpr (work) return from->memory_only;
    if constexpr (std::is_same_v<R, StreamRecord>) return JoinStream(record, values);
    if constexpr (std::is_same_v<R, AllocRecord>) return JoinBlock(record);
    if constexpr (std::is_same_v<R, FreeRecord>) return from->same_block.contains(record.memory);
    if constexpr (std::is_same_v<R, FailureRecord>) {
      from->ids.failures.push_back(failures_++);
    }
    return false;
  }

  // Streams of different sources with one handle on one device are one stream.
  bool JoinStream(const StreamRecord& record, const TraceValues& values) {
    const bool named = !values[record.row.name].empty();
    if (named && from->memory_only) return true;  // "not in the snapshot"
    const auto [at, added] =
        streams_.emplace(std::pair(record.row.device, record.row.handle), Owned{from, {}});
    if (!added && at->second.owner != from) {
      from->ids.Keep(record.id, at->second.id);
      return true;
    }
    at->second = {from, StreamId(to.trace().streams.size())};
    return false;
  }

  bool JoinBlock(const AllocRecord& record) {
    const auto same = from->same_block.find(record.id);
    if (same == from->same_block.end()) return false;
    const BlockId there = (*from->other)[same->second];
    if (there) from->ids.Keep(record.id, there);
    if (!there) from->same_block.erase(same);
    return there.valid();
  }

  struct Owned {
    const MovedSource* owner;
    StreamId id;
  };

  bool failed_ = false;
  uint32_t failures_ = 0;
  std::map<std::pair<int16_t, uint64_t>, Owned> streams_;
  LooseValues moved_;
};

// A trace as the sequence of its records: one row per type of record says at which places they
// stand, and makes one.

// The record at a place: a row, and the index of the thing that the record describes.
struct PlacedRecord {
  const struct RecordRow* row = nullptr;  // none: nothing; written as a blank record
  uint32_t index = 0;
};

// Makes the records of a trace, each where it stands: prints them, or moves them.
class PlacePrinter {
 public:
  // Each record is moved by `mover`, or else appended to `out`.
  PlacePrinter(const Trace& trace, std::string* out, RecordMover* mover);

  void Print(const PlacedRecord& placed);
  template <typename Record>
  void Give(Record& record) {
    if (place < values_.trace.times.size()) record.time = values_.trace.times[place];
    if (mover_ != nullptr) return mover_->Move(record, values_);
    *out_ += FieldWriter(line_, values_).Write(record);
  }

  const Trace& trace() const { return values_.trace; }
  // The graphs inside the node, as far as their bodies count from 0.
  std::span<const GraphId> HeldGraphs(NodeId node) const;

  Seq place = 0;

 private:
  TraceValues values_;
  std::string* out_;
  RecordMover* mover_;
  RecordLine line_;
  // The graphs inside child graph nodes and conditional nodes, bodies in order.
  std::unordered_map<NodeId, std::vector<GraphId>> held_graphs_;
};

// Every place of the trace, in order. Notes and lost records have no place of their own: they take
// the first free ones, or follow. An error when two things claim one place, or one beyond the last.
Result<std::vector<PlacedRecord>> PlaceRecords(const Trace& trace);

}  // namespace graphkit
