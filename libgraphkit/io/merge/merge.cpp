#include "libgraphkit/io/merge/merge.h"

#include <deque>
#include <set>

#include "libgraphkit/io/merge/joins.h"
#include "libgraphkit/io/merge/same_memory.h"
#include "libgraphkit/io/merge/same_process.h"
#include "libgraphkit/io/trace/record_rows.h"

namespace graphkit {
namespace {

struct MergeSource {
  const MergeInput* input = nullptr;
  std::vector<PlacedRecord> records;
  std::vector<int64_t> wall;  // by place, never falling
  MovedSource moved;
};

const Trace& TraceOf(const MergeSource& source) { return source.input->imported.trace; }

// The difference between its times and wall times; none: it has no times, or no wall clock.
std::optional<int64_t> WallOffset(const Trace& trace) {
  if (trace.clocks.empty() || trace.times.empty()) return std::nullopt;
  return trace.clocks[0].wall - static_cast<int64_t>(trace.clocks[0].monotonic);
}

// A record without a time stands with the one before it.
std::vector<int64_t> WallTimes(const Trace& trace, size_t records) {
  std::vector<int64_t> wall(records, kAtOnce);
  const std::optional<int64_t> offset = WallOffset(trace);
  int64_t last = kAtOnce;
  for (size_t i = 0; i < records; ++i) {
    const Nanoseconds time = i < trace.times.size() ? trace.times[i] : 0;
    if (offset && time != 0) last = std::max<int64_t>(last, static_cast<int64_t>(time) + *offset);
    wall[i] = last;
  }
  return wall;
}

// From the first to the last record that has a time.
std::optional<Interval<int64_t>> TimeOf(const std::vector<int64_t>& wall) {
  const auto first = std::ranges::find_if(wall, [](int64_t time) { return time != kAtOnce; });
  if (first == wall.end()) return std::nullopt;
  return Interval<int64_t>{*first, wall.back()};
}

bool IsRecorded(const MergeInput* input) {
  return input->imported.trace.process.device != DeviceKind::kImported;
}

class Merger {
 public:
  Merger(std::vector<MergeInput> inputs, MergeOf of) : inputs_(std::move(inputs)), of_(of) {}

  Result<Merged> Run() {
    if (Result<void> chosen = ChooseSources(); !chosen) return chosen.error();
    if (Result<void> aligned = AlignClocks(); !aligned) return aligned.error();
    if (Result<void> moved = MoveAll(); !moved) return moved.error();
    Join();
    merged_.not_joined = not_joined_.Take();
    return std::move(merged_);
  }

 private:
  // The input, or the snapshot chosen before it: the longer one.
  const MergeInput* LongerSnapshot(const MergeInput* chosen, const MergeInput& input) {
    if (chosen == nullptr) return &input;
    const bool longer =
        CountHistoryEvents(input.imported.trace) > CountHistoryEvents(chosen->imported.trace);
    not_joined_.Add("snapshots beside the longest one", longer ? chosen->name : input.name);
    return longer ? &input : chosen;
  }

  // Topologies that a tracer recorded first; of several snapshots the longest one.
  Result<void> ChooseSources() {
    const MergeInput* snapshot = nullptr;
    std::vector<const MergeInput*> topologies, origins;
    for (const MergeInput& input : inputs_) {
      const Imported& imported = input.imported;
      if (HistoryOf(imported.trace) != nullptr) {
        snapshot = LongerSnapshot(snapshot, input);
      } else if (!imported.times.empty()) {
        profiles_.push_back(&input);
      } else if (!imported.origins.empty()) {
        origins.push_back(&input);
      } else if (imported.trace.graphs.empty() && imported.trace.blocks.empty()) {
        not_joined_.Add("files that hold neither graphs nor memory", input.name);
      } else {
        topologies.push_back(&input);
      }
    }
    std::stable_partition(topologies.begin(), topologies.end(), IsRecorded);
    if (Result<void> one = OfOneProcess(topologies); !one) return one;
    if (topologies.empty() && !snapshot && !profiles_.empty()) topologies.push_back(profiles_[0]);
    if (snapshot) topologies.push_back(snapshot);
    if (topologies.empty()) {
      return Error{.message = "import: none of the files holds graphs, memory or durations"};
    }
    const size_t last = topologies.size() - 1;
    const bool traced = IsRecorded(topologies.front());
    topologies.insert(topologies.end(), origins.begin(), origins.end());  // for their stacks
    sources_.reserve(topologies.size());
    for (const MergeInput* input : topologies) {
      if (Result<void> added = AddSource(*input); !added) return added;
    }
    sources_[0].moved.first = true;
    if (snapshot) snapshot_ = &sources_[last];
    // Only a tracer knows which blocks nodes use. Beside others' nodes the pools' own graphs stay.
    if (snapshot_) snapshot_->moved.memory_only = last > 0 && traced;
    return {};
  }

  Result<void> AddSource(const MergeInput& input) {
    MergeSource source;
    source.input = &input;
    source.moved.places_stay = false;
    Result<std::vector<PlacedRecord>> records = PlaceRecords(input.imported.trace);
    if (!records) return records.error();
    source.records = std::move(*records);
    source.wall = WallTimes(input.imported.trace, source.records.size());
    sources_.push_back(std::move(source));
    return {};
  }

  // By the wall clock.
  void ShiftToFirst() {
    const std::optional<int64_t> origin = WallOffset(TraceOf(sources_[0]));
    sources_[0].moved.shift = 0;
    for (MergeSource& source : std::span(sources_).subspan(1)) {
      const std::optional<int64_t> offset = WallOffset(TraceOf(source));
      if (offset && origin) source.moved.shift = *offset - *origin;
      const bool timed = offset.has_value() && origin.has_value();
      if (!timed && !TraceOf(source).times.empty()) {
        not_joined_.Add("files whose clock has nothing in common with the first one's",
                        source.input->name);
      }
    }
  }

  // By how much earlier (negative) or later the trace saw the same allocations.
  static std::vector<int64_t> Differences(const TimedTrace& snapshot, const TimedTrace& base) {
    std::vector<int64_t> differences;
    std::set<BlockId> met;
    for (const auto& [block, other] : SameDriverBlocks(snapshot, base, kClocksApart, nullptr)) {
      if (!met.insert(other).second) continue;  // what is left of a segment is as old
      // The record of the segment, which has the time, follows that of its memory.
      const int64_t here = snapshot.wall[snapshot.trace[block].allocated + 1];
      const int64_t there = base.wall[base.trace[other].allocated];
      if (here != kAtOnce && there != kAtOnce) differences.push_back(there - here);
    }
    return differences;
  }

  // Allocations that both saw tell how the clocks differ, and none of those comes before its
  // counterpart.
  Result<void> AlignClocks() {
    ShiftToFirst();
    const MergeSource& base = sources_[0];
    if (!snapshot_ || snapshot_ == &base) return {};
    const Trace& mine = TraceOf(*snapshot_);
    const TimedTrace here{mine, snapshot_->wall}, there{TraceOf(base), base.wall};
    const std::vector<int64_t> differences = Differences(here, there);
    if (of_ == MergeOf::kFiles) {
      if (Result<void> one = JudgeSnapshot(differences); !one) return one;
    }
    if (const int64_t ahead = ClockDifference(differences); ahead != 0) {
      for (int64_t& wall : snapshot_->wall) wall += wall == kAtOnce ? 0 : ahead;
      if (snapshot_->moved.shift) *snapshot_->moved.shift += ahead;
    }
    const std::map<BlockId, BlockId> same =
        SameDriverBlocks(here, there, kClocksAgree, &not_joined_);
    snapshot_->moved.same_block = same;
    snapshot_->moved.other = &base.moved.ids;
    for (const auto& [block, other] : same) {
      int64_t& wall = snapshot_->wall[mine[block].allocated];
      wall = std::max(wall, base.wall[TraceOf(base)[other].allocated]);
    }
    int64_t last = kAtOnce;
    for (int64_t& wall : snapshot_->wall) wall = last = std::max(last, wall);
    return {};
  }

  // Before its times are moved.
  Result<void> JudgeSnapshot(const std::vector<int64_t>& differences) {
    const MergeSource& base = sources_[0];
    ProcessEvidence evidence{
        .whole = IsRecorded(base.input) && !TraceOf(base).completeness.truncated,
        .differences = differences,
        .trace_time = TimeOf(base.wall),
        .snapshot_time = TimeOf(snapshot_->wall)};
    CountSeen(TraceOf(*snapshot_), TraceOf(base), &evidence);
    Result<std::string> warning = JudgeProcess(evidence, base.input->name, snapshot_->input->name);
    if (!warning) return warning.error();
    if (!warning->empty()) merged_.warnings.push_back(std::move(*warning));
    return {};
  }

  // When which source's which record comes.
  struct Turn {
    bool later;  // stacks of nodes come before the nodes
    int64_t wall;
    uint32_t source;
    Seq place;
    auto operator<=>(const Turn&) const = default;
  };

  // By time; at one time the first source's first. No source's times fall.
  std::vector<Turn> Order() const {
    std::vector<Turn> order;
    for (uint32_t source = 0; source < sources_.size(); ++source) {
      for (Seq place = 0; place < sources_[source].wall.size(); ++place) {
        const bool later = sources_[source].input->imported.origins.empty();
        order.push_back({later, sources_[source].wall[place], source, place});
      }
    }
    std::ranges::sort(order);
    return order;
  }

  // So that nodes may name a graph before its record.
  void ExpectGraphs(const std::vector<Turn>& order) {
    std::vector<uint32_t> met(sources_.size());
    uint32_t next = 0;
    for (const auto& [later, wall, source, place] : order) {
      const std::vector<Graph>& graphs = TraceOf(sources_[source]).graphs;
      uint32_t& graph = met[source];
      if (graph == graphs.size() || graphs[graph].created != place) continue;
      MovedSource& moved = sources_[source].moved;
      if (!moved.memory_only) moved.ids.Keep(GraphId(graph), GraphId(next++));
      ++graph;
    }
  }

  Result<void> MoveAll() {
    const std::vector<Turn> order = Order();
    ExpectGraphs(order);
    std::deque<PlacePrinter> printers;
    for (const MergeSource& source : sources_) {
      printers.emplace_back(TraceOf(source), nullptr, &mover_);
    }
    for (const auto& [later, wall, source, place] : order) {
      const PlacedRecord& record = sources_[source].records[place];
      if (record.row == nullptr) continue;
      mover_.from = &sources_[source].moved;
      printers[source].place = place;
      printers[source].Print(record);
      if (mover_.failed()) {
        return Error{.message = "can't be merged: a record " + mover_.to.problem().message,
                     .file = sources_[source].input->name};
      }
    }
    if (!mover_.to.Finish()) {
      return Error{.message = "can't be merged: a record " + mover_.to.problem().message};
    }
    merged_.trace = mover_.to.Take();
    return {};
  }

  void JoinSnapshot() {
    Trace& trace = merged_.trace;
    const Trace& mine = TraceOf(*snapshot_);
    for (const std::string& setting : mine.process.environment) {
      std::vector<std::string>& known = trace.process.environment;
      if (std::ranges::find(known, setting) == known.end()) known.push_back(setting);
    }
    std::vector<BlockId> blocks;
    for (size_t i = 0; i < mine.blocks.size(); ++i) {
      if (!mine.blocks[i].segment) continue;
      blocks.push_back(snapshot_->moved.ids[BlockId(i)]);
    }
    std::ranges::sort(blocks);
    JoinWorkspaces(blocks, &trace);
    const size_t captured = JoinCaptures(blocks, &trace, &not_joined_);
    const size_t touched = JoinAccesses(blocks, &trace, &not_joined_);
    merged_.joined.push_back(
        Counted(blocks.size(), "block") + " of the snapshot, " + FormatCount(captured) +
        " of them in captures, " + Counted(snapshot_->moved.same_block.size(), "segment") +
        " that the trace saw as well; " + Counted(touched, "address") + " of nodes in them");
  }

  // A snapshot has the memory of the process; else what one source has says nothing of another's
  // graphs.
  std::string UnknownMemoryOf() const {
    if (snapshot_) return TraceOf(*snapshot_).process.unknown_memory;
    for (const MergeSource& source : sources_) {
      const std::string& unknown = TraceOf(source).process.unknown_memory;
      if (!unknown.empty()) return unknown;
    }
    return {};
  }

  void Join() {
    Trace& trace = merged_.trace;
    trace.process.device = TraceOf(sources_[0]).process.device;
    trace.completeness.truncated = std::ranges::any_of(
        sources_, [](const MergeSource& source) { return TraceOf(source).completeness.truncated; });
    trace.process.unknown_memory = UnknownMemoryOf();
    if (snapshot_ && snapshot_->moved.memory_only) JoinSnapshot();
    if (snapshot_ && sources_.size() > 1 && !snapshot_->moved.memory_only) {
      const auto blocks = static_cast<uint64_t>(std::ranges::count_if(
          TraceOf(*snapshot_).blocks, [](const Block& block) { return block.segment.valid(); }));
      merged_.joined.push_back(Counted(blocks, "block") +
                               " of the snapshot, in graphs of their pools");
    }
    const bool has_origins = std::ranges::any_of(
        sources_, [](const MergeSource& s) { return !s.input->imported.origins.empty(); });
    if (profiles_.empty() && !has_origins) return;
    std::map<uint64_t, NodeId> by_tool_id;
    for (const MergeSource& source : sources_) {
      for (const auto& [node, tool_id] : source.input->imported.tool_ids) {
        if (!source.moved.memory_only) by_tool_id.emplace(tool_id, source.moved.ids[node]);
      }
    }
    AddTracedToolIds(trace, &by_tool_id);
    for (const MergeSource& source : sources_) {
      const std::vector<NodeOrigin>& origins = source.input->imported.origins;
      if (origins.empty()) continue;
      const size_t joined = JoinOrigins(origins, source.moved, by_tool_id, &trace, &not_joined_);
      merged_.joined.push_back("launch stacks and annotations of " + FormatCount(joined) +
                               " of the " + Counted(origins.size(), "node") + " in " +
                               source.input->name);
    }
    for (const MergeInput* profile : profiles_) {
      const std::vector<NodeTime>& times = profile->imported.times;
      const size_t joined = JoinTimes(times, by_tool_id, &trace, &not_joined_);
      merged_.joined.push_back("durations of " + FormatCount(joined) + " of the " +
                               Counted(times.size(), "node") + " in " + profile->name);
    }
  }

  std::vector<MergeInput> inputs_;
  MergeOf of_;
  std::vector<MergeSource> sources_;  // topologies, then the snapshot
  MergeSource* snapshot_ = nullptr;
  std::vector<const MergeInput*> profiles_;
  RecordMover mover_;
  NotJoinedList not_joined_;
  Merged merged_;
};

}  // namespace

Result<Merged> Merge(std::vector<MergeInput> inputs, MergeOf of) {
  return Merger(std::move(inputs), of).Run();
}

}  // namespace graphkit
