// Moves records from traces into another one: gives what they define the next ids there, and
// renames what they refer to. For merging several traces of one process.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "libgraphkit/io/trace_assembler.h"
#include "libgraphkit/model/tool_ids.h"

namespace graphkit {

// By tag: what the ids of one trace became.
struct MovedIds {
  std::vector<GraphId> graphs;
  std::vector<NodeId> nodes;
  std::vector<EdgeId> edges;
  std::vector<StreamId> streams;
  std::vector<EventId> events;
  std::vector<CaptureId> captures;
  std::vector<BlockId> blocks;
  std::vector<SegmentId> segments;
  std::vector<PoolId> pools;
  std::vector<ExecId> execs;
  std::vector<KernelId> kernels;
  std::vector<ThreadId> threads;
  std::vector<StackId> stacks;
  std::vector<uint32_t> failures;
};

struct MovedSource {
  MovedIds ids;
  bool first = false;            // its process, its clocks
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

  template <typename Record>
  void Move(Record record) {
    if (failed_ || StaysBehind(record)) return;
    const int64_t moved = static_cast<int64_t>(record.time) + from->shift.value_or(0);
    const bool known = from->shift && record.time != 0 && moved > 0;
    record.time = known ? static_cast<Nanoseconds>(moved) : 0;
    Renaming renaming{*this};
    VisitFields(renaming, record);
    if constexpr (std::is_same_v<Record, AllocRecord>) {
      if (from->memory_only) record.graph = {};
    }
    failed_ = !to.Add(record);
  }

  // So that nodes may name a graph before its record.
  void ExpectGraph(GraphId old, GraphId now) { Keep(from->ids.graphs, old) = now; }

 private:
  // Renames the ids of one record; "id" is the one that it defines.
  struct Renaming {
    RecordMover& mover;

    template <typename... Rest>
    void Required(std::string_view key, auto& value, const Rest&...) {
      mover.Rename(key, value);
    }
    template <typename... Rest>
    void Always(std::string_view key, auto& value, const Rest&...) {
      mover.Rename(key, value);
    }
    template <typename... Rest>
    void Optional(std::string_view key, auto& value, const Rest&...) {
      mover.Rename(key, value);
    }
    void Hex(std::string_view, uint64_t) {}
    void AlwaysHex(std::string_view, uint64_t) {}
    void RequiredHex(std::string_view, uint64_t) {}
    void Present(std::string_view key, bool, auto& value) { mover.Rename(key, value); }
  };

  template <typename Tag>
  static Id<Tag>& Keep(std::vector<Id<Tag>>& ids, Id<Tag> old) {
    if (old.index() >= ids.size()) ids.resize(old.index() + 1);
    return ids[old.index()];
  }

  std::vector<GraphId>& Of(GraphId) { return from->ids.graphs; }
  std::vector<NodeId>& Of(NodeId) { return from->ids.nodes; }
  std::vector<EdgeId>& Of(EdgeId) { return from->ids.edges; }
  std::vector<StreamId>& Of(StreamId) { return from->ids.streams; }
  std::vector<EventId>& Of(EventId) { return from->ids.events; }
  std::vector<CaptureId>& Of(CaptureId) { return from->ids.captures; }
  std::vector<BlockId>& Of(BlockId) { return from->ids.blocks; }
  std::vector<SegmentId>& Of(SegmentId) { return from->ids.segments; }
  std::vector<PoolId>& Of(PoolId) { return from->ids.pools; }
  std::vector<ExecId>& Of(ExecId) { return from->ids.execs; }
  std::vector<KernelId>& Of(KernelId) { return from->ids.kernels; }
  std::vector<ThreadId>& Of(ThreadId) { return from->ids.threads; }
  std::vector<StackId>& Of(StackId) { return from->ids.stacks; }

  template <typename Tag>
  Id<Tag> NextId() {
    return Id<Tag>(next_[Counter(Id<Tag>())]++);
  }
  static size_t Counter(GraphId) { return 0; }
  static size_t Counter(NodeId) { return 1; }
  static size_t Counter(EdgeId) { return 2; }
  static size_t Counter(StreamId) { return 3; }
  static size_t Counter(EventId) { return 4; }
  static size_t Counter(CaptureId) { return 5; }
  static size_t Counter(BlockId) { return 6; }
  static size_t Counter(SegmentId) { return 7; }
  static size_t Counter(PoolId) { return 8; }
  static size_t Counter(ExecId) { return 9; }
  static size_t Counter(KernelId) { return 10; }
  static size_t Counter(ThreadId) { return 11; }
  static size_t Counter(StackId) { return 12; }

  template <typename Tag>
  void Rename(std::string_view key, Id<Tag>& id) {
    if (!id) return;
    if (key == "id") {
      Id<Tag>& kept = Keep(Of(id), id);
      const Id<Tag> next = NextId<Tag>();
      id = kept = next;
      return;
    }
    const std::vector<Id<Tag>>& ids = Of(id);
    id = id.index() < ids.size() ? ids[id.index()] : Id<Tag>();
  }
  void Rename(std::string_view key, uint32_t& number) {
    if (key != "failure" || number >= from->ids.failures.size()) return;
    number = from->ids.failures[number];
  }
  void Rename(std::string_view, std::span<const Access>& accesses) {
    accesses_.assign(accesses.begin(), accesses.end());
    for (Access& access : accesses_) Rename("memory", access.block);
    accesses = accesses_;
  }
  void Rename(std::string_view, std::span<const FrontierEntry>& entries) {
    entries_.assign(entries.begin(), entries.end());
    for (FrontierEntry& entry : entries_) Rename("node", entry.node);
    entries = entries_;
  }
  // Nodes that followed one another need not do so any more.
  void Rename(std::string_view, std::span<const ToolIdRun>& runs) {
    runs_.clear();
    for (const ToolIdRun& run : runs) {
      for (uint32_t i = 0; i < run.count; ++i) {
        NodeId node(run.first.value + i);
        Rename("node", node);
        if (node) AppendToolId(runs_, node, run.tool_id + i);
      }
    }
    runs = runs_;
  }
  void Rename(std::string_view, std::span<const GraphId>& graphs) {
    graphs_.assign(graphs.begin(), graphs.end());
    for (GraphId& graph : graphs_) Rename("graph", graph);
    graphs = graphs_;
  }
  template <typename T>
  void Rename(std::string_view, T&) {}

  // Also joins what several sources speak of.
  template <typename Record>
  bool StaysBehind(Record& record) {
    using R = std::remove_cvref_t<Record>;
    constexpr bool process = std::is_same_v<R, ProcessRecord> || std::is_same_v<R, ClockRecord>;
    constexpr bool work = std::is_same_v<R, GraphRecord> || std::is_same_v<R, NodeRecord> ||
                          std::is_same_v<R, EdgeRecord> || std::is_same_v<R, WorkRecord> ||
                          std::is_same_v<R, CaptureBeginRecord> ||
                          std::is_same_v<R, CaptureEndRecord> ||
                          std::is_same_v<R, RecordStreamRecord> || std::is_same_v<R, BlankRecord>;
    if constexpr (process) return !from->first;
    if constexpr (work) return from->memory_only;
    if constexpr (std::is_same_v<R, StreamRecord>) return JoinStream(record);
    if constexpr (std::is_same_v<R, AllocRecord>) return JoinBlock(record);
    if constexpr (std::is_same_v<R, FreeRecord>) return from->same_block.contains(record.memory);
    if constexpr (std::is_same_v<R, FailureRecord>) {
      from->ids.failures.push_back(failures_++);
    }
    return false;
  }

  // Streams of different sources with one handle on one device are one stream.
  bool JoinStream(const StreamRecord& record) {
    if (!record.name.empty() && from->memory_only) return true;  // "not in the snapshot"
    const auto [at, added] =
        streams_.emplace(std::pair(record.device, record.handle), Owned{from, {}});
    if (!added && at->second.owner != from) {
      Keep(from->ids.streams, record.id) = at->second.id;
      return true;
    }
    at->second = {from, StreamId(next_[Counter(StreamId())])};
    return false;
  }

  bool JoinBlock(const AllocRecord& record) {
    const auto same = from->same_block.find(record.id);
    if (same == from->same_block.end()) return false;
    const size_t there = same->second.index();
    const bool moved = there < from->other->blocks.size() && from->other->blocks[there];
    if (moved) Keep(from->ids.blocks, record.id) = from->other->blocks[there];
    if (!moved) from->same_block.erase(same);
    return moved;
  }

  struct Owned {
    const MovedSource* owner;
    StreamId id;
  };

  bool failed_ = false;
  std::array<uint32_t, 13> next_ = {};
  uint32_t failures_ = 0;
  std::map<std::pair<int16_t, uint64_t>, Owned> streams_;
  std::vector<Access> accesses_;
  std::vector<FrontierEntry> entries_;
  std::vector<GraphId> graphs_;
  std::vector<ToolIdRun> runs_;
};

}  // namespace graphkit
