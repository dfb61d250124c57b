#include "libgraphkit/analysis/trace_timeline.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

constexpr Nanoseconds kRecord = 1000;  // one record on the axis of order
constexpr size_t kSliceColumns = 80;

// The time of each place: rises strictly.
std::vector<Nanoseconds> TimesOf(const Trace& trace, TimeAxis axis) {
  std::vector<Nanoseconds> times(trace.records);
  Nanoseconds last = 0;
  for (size_t seq = 0; seq < times.size(); ++seq) {
    const Nanoseconds recorded = seq < trace.times.size() ? trace.times[seq] : 0;
    last = axis == TimeAxis::kOrder ? seq * kRecord : std::max(last + 1, recorded);
    times[seq] = last;
  }
  return times;
}

// The subject of a track: a stream's nodes or launches, or nodes of a graph without a stream.
enum class TrackKind : uint8_t { kNodes, kLaunches, kExplicit };

class TimelineMaker {
 public:
  TimelineMaker(const Trace& trace, TimeAxis axis)
      : trace_(trace),
        times_(TimesOf(trace, axis)),
        tool_ids_(OwnToolIds(trace)),
        exec_tool_ids_(FirstExecToolIds(trace)) {}

  Timeline Make() {
    const std::string program = Printable(trace_.process.program);
    timeline_.process = program.empty() ? "trace" : program;
    timeline_.pid = trace_.process.pid;
    for (size_t i = 0; i < trace_.nodes.size(); ++i) AddNode(NodeId(i));
    for (size_t i = 0; i < trace_.edges.size(); ++i) AddFlow(EdgeId(i));
    for (size_t i = 0; i < trace_.launches.size(); ++i) AddLaunch(LaunchId(i));
    AddCounters();
    std::ranges::stable_sort(timeline_.slices, {}, &TimelineSlice::begin);
    SetLengths();
    return std::move(timeline_);
  }

 private:
  Nanoseconds TimeOf(Seq seq) const { return seq < times_.size() ? times_[seq] : 0; }

  uint32_t Track(TrackKind kind, uint32_t id, const std::string& name) {
    const auto [found, fresh] =
        tracks_.emplace(std::pair(kind, id), static_cast<uint32_t>(timeline_.tracks.size()));
    if (fresh) timeline_.tracks.push_back(name);
    return found->second;
  }

  uint32_t NodeTrack(const Node& node) {
    if (node.stream) {
      return Track(TrackKind::kNodes, node.stream.value, StreamTitle(trace_, node.stream));
    }
    return Track(TrackKind::kExplicit, node.graph.value, GraphTitle(trace_, node.graph));
  }

  void AddNode(NodeId id) {
    const Node& node = trace_[id];
    slice_of_.push_back(kNoSlice);
    if (!InGraph(trace_, node)) return;
    slice_of_.back() = timeline_.slices.size();
    TimelineSlice slice{.track = NodeTrack(node),
                        .begin = TimeOf(node.seq),
                        .name = NodeTitle(trace_, id, kSliceColumns)};
    slice.args = {{"node", uint64_t{id.value}},
                  {"graph", uint64_t{node.graph.value}},
                  {"kind", std::string(NodeKindName(node.kind))}};
    if (node.kernel) AddKernelArgs(node, slice);
    if (node.block) slice.args.push_back({"block", uint64_t{node.block.value}});
    if (node.duration_ns > 0) slice.args.push_back({"duration_ns", uint64_t{node.duration_ns}});
    AddToolIds(id, slice);
    const std::string stack = StackTitle(trace_, node.stack);
    if (!stack.empty()) slice.args.push_back({"source", stack});
    timeline_.slices.push_back(std::move(slice));
  }

  void AddKernelArgs(const Node& node, TimelineSlice& slice) const {
    slice.args.push_back({"kernel", Printable(trace_[trace_[node.kernel].name])});
    if (node.shape >= trace_.shapes.size()) return;
    slice.args.push_back({"grid", SizesText(trace_.shapes[node.shape].grid)});
    slice.args.push_back({"block_size", SizesText(trace_.shapes[node.shape].block)});
  }

  void AddToolIds(NodeId id, TimelineSlice& slice) const {
    const uint64_t own = tool_ids_[id.index()], in_exec = exec_tool_ids_[id.index()];
    if (own != 0) slice.args.push_back({"tool_id", own});
    if (in_exec != 0) slice.args.push_back({"exec_node_tool_id", in_exec});
  }

  void AddFlow(EdgeId id) {
    const Edge& edge = trace_[id];
    if (!InGraph(trace_, edge)) return;
    const size_t from = slice_of_[edge.from.index()], to = slice_of_[edge.to.index()];
    // Viewers draw flows forwards in time; an explicit edge may point to an older node.
    if (from == kNoSlice || to == kNoSlice) return;
    if (timeline_.slices[from].begin >= timeline_.slices[to].begin) return;
    timeline_.slices[from].out.push_back(id);
    timeline_.slices[to].in.push_back(id);
  }

  void AddLaunch(LaunchId id) {
    const Launch& launch = trace_.launches[id.index()];
    const Exec& exec = trace_[launch.exec];
    TimelineSlice slice{.begin = TimeOf(launch.seq), .category = "launch"};
    slice.track = Track(TrackKind::kLaunches, launch.stream.value,
                        StreamTitle(trace_, launch.stream) + ": launches");
    slice.name = "launch " + GraphTitle(trace_, exec.graph);
    slice.args = {{"launch", uint64_t{id.value}},
                  {"exec", uint64_t{launch.exec.value}},
                  {"exec_tool_id", exec.tool_id},
                  {"graph_tool_id", exec.graph ? trace_[exec.graph].tool_id : 0}};
    if (launch.correlation != 0) {
      slice.args.push_back({"correlation", uint64_t{launch.correlation}});
    }
    timeline_.slices.push_back(std::move(slice));
  }

  // A slice ends where the next one of its track begins, after one record at most.
  void SetLengths() {
    std::vector<Nanoseconds> next(timeline_.tracks.size(), ~Nanoseconds{0});
    for (auto slice = timeline_.slices.rbegin(); slice != timeline_.slices.rend(); ++slice) {
      slice->length = std::min(next[slice->track] - slice->begin, kRecord);
      next[slice->track] = slice->begin;
    }
  }

  void AddCounters() {
    using Changes = std::vector<std::pair<Seq, int64_t>>;
    std::vector<Changes> live(trace_.pools.size()), deferred(trace_.pools.size());
    for (const Block& block : trace_.blocks) {
      if (!block.pool) continue;
      const auto size = static_cast<int64_t>(RoundUp(block.size, kBlockGranularity));
      live[block.pool.index()].push_back({block.allocated, size});
      if (!block.freed()) continue;
      live[block.pool.index()].push_back({block.free_requested, -size});
      if (block.free_completed == block.free_requested) continue;
      deferred[block.pool.index()].push_back({block.free_requested, size});
      if (block.free_completed == kNever) continue;
      deferred[block.pool.index()].push_back({block.free_completed, -size});
    }
    for (size_t i = 0; i < trace_.pools.size(); ++i) {
      std::string name = "pool " + std::to_string(i);
      const std::string_view text = trace_[trace_.pools[i].name];
      if (!text.empty()) name += " " + Printable(text);
      AddCounter(name + ": live bytes", std::move(live[i]));
      AddCounter(name + ": deferred bytes", std::move(deferred[i]));
    }
  }

  void AddCounter(std::string name, std::vector<std::pair<Seq, int64_t>> changes) {
    if (changes.empty()) return;
    std::ranges::sort(changes);
    TimelineCounter counter{.name = std::move(name)};
    int64_t sum = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      sum += changes[i].second;
      const bool more = i + 1 < changes.size() && changes[i + 1].first == changes[i].first;
      if (!more) counter.samples.push_back({TimeOf(changes[i].first), sum});
    }
    timeline_.counters.push_back(std::move(counter));
  }

  static constexpr size_t kNoSlice = ~size_t{0};

  const Trace& trace_;
  std::vector<Nanoseconds> times_;
  std::vector<uint64_t> tool_ids_, exec_tool_ids_;  // by node
  Timeline timeline_;
  std::map<std::pair<TrackKind, uint32_t>, uint32_t> tracks_;
  std::vector<size_t> slice_of_;  // of each node, before slices are sorted
};

}  // namespace

Timeline MakeTimeline(const Trace& trace, TimeAxis axis) {
  return TimelineMaker(trace, axis).Make();
}

}  // namespace graphkit
