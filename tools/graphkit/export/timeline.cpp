// A trace laid out over time, for viewers: streams as tracks, captured nodes and launches as slices
// on them, edges as flows, memory as counters.
//
// A capture has no running times. So time is, by choice, the place in the trace (1 µs a record:
// order, not measurement) or the host's clock at the call, where it was recorded.
#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/printable.h"
#include "libgraphkit/render/json.h"
#include "tools/graphkit/export/export.h"

namespace graphkit {
namespace {

constexpr Nanoseconds kRecord = 1000;  // one record on the axis of order
constexpr size_t kSliceColumns = 80;

// The time of each place: rises strictly.
std::vector<Nanoseconds> TimesOf(const Ran& trace, TimeAxis axis) {
  std::vector<Nanoseconds> times(trace.records);
  Nanoseconds last = 0;
  for (size_t seq = 0; seq < times.size(); ++seq) {
    const Nanoseconds recorded = seq < trace.times.size() ? trace.times[seq] : 0;
    last = axis == TimeAxis::kOrder ? seq * kRecord : std::max(last + 1, recorded);
    times[seq] = last;
  }
  return times;
}

// By node: what it is called in the first exec that has it; 0: unknown.
std::vector<uint64_t> FirstExecToolIds(const Trace& trace) {
  std::vector<uint64_t> ids(trace.nodes.size());
  const ExecToolIds execs(trace);
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    for (const ToolIdRun& run : execs.Of(ExecId(i))) {
      for (uint32_t j = 0; j < run.count; ++j) {
        uint64_t& tool_id = ids[run.first.index() + j];
        if (tool_id == 0) tool_id = run.tool_id + j;
      }
    }
  }
  return ids;
}

// The subject of a track: a stream's nodes or launches, or nodes of a graph without a stream.
enum class TrackKind : uint8_t { kNodes, kLaunches, kExplicit };

struct TimelineSlice {
  size_t track = 0;
  Nanoseconds begin = 0;
  std::string name;
  const char* category = "node";
  Json args;                              // what a viewer shows with it
  std::vector<EdgeId> out = {}, in = {};  // flows that start and end here
};

struct TimelineWriter {
  const Ran& trace;
  const ExportProcess& process;
  const std::vector<Nanoseconds> times;
  std::ostream& out;
  std::vector<std::string> tracks = {};
  std::map<std::pair<TrackKind, uint32_t>, size_t> known_tracks = {};
  std::vector<TimelineSlice> slices = {};
  std::vector<size_t> slice_of = {};  // of each node, before slices are sorted
  bool first = true;

  static constexpr size_t kNoSlice = ~size_t{0};

  void Write() {
    const std::vector<uint64_t> own = OwnToolIds(trace), in_exec = FirstExecToolIds(trace);
    for (size_t i = 0; i < trace.nodes.size(); ++i) AddNode(NodeId(i), own[i], in_exec[i]);
    for (size_t i = 0; i < trace.edges.size(); ++i) AddFlow(EdgeId(i));
    for (size_t i = 0; i < trace.launches.size(); ++i) AddLaunch(LaunchId(i));
    std::ranges::stable_sort(slices, {}, &TimelineSlice::begin);
    WriteName("process_name", 0, process.name);
    for (size_t i = 0; i < tracks.size(); ++i) WriteName("thread_name", i + 1, tracks[i]);
    WriteSlices();
    WriteCounters();
  }

  Nanoseconds TimeOf(Seq seq) const { return seq < times.size() ? times[seq] : 0; }

  size_t Track(TrackKind kind, uint32_t id, const std::string& name) {
    const auto [found, fresh] = known_tracks.emplace(std::pair(kind, id), tracks.size());
    if (fresh) tracks.push_back(name);
    return found->second;
  }

  size_t NodeTrack(const Node& node) {
    if (node.stream) {
      return Track(TrackKind::kNodes, node.stream.value, StreamTitle(trace, node.stream));
    }
    return Track(TrackKind::kExplicit, node.graph.value, GraphTitle(trace, node.graph));
  }

  void AddNode(NodeId id, uint64_t tool_id, uint64_t exec_tool_id) {
    const Node& node = trace[id];
    slice_of.push_back(kNoSlice);
    if (!trace.graph_nodes.Has(id)) return;
    slice_of.back() = slices.size();
    Json args{{"node", id}, {"graph", node.graph}, {"kind", NodeKindName(node.kind)}};
    if (node.kernel) {
      args["kernel"] = Printable(trace[trace[node.kernel].name]);
      if (node.shape < trace.shapes.size()) {
        args["grid"] = SizesText(trace.shapes[node.shape].grid);
        args["block_size"] = SizesText(trace.shapes[node.shape].block);
      }
    }
    if (node.block) args["block"] = node.block;
    if (node.duration_ns > 0) args["duration_ns"] = uint64_t{node.duration_ns};
    if (tool_id != 0) args["tool_id"] = tool_id;
    if (exec_tool_id != 0) args["exec_node_tool_id"] = exec_tool_id;
    const std::string stack = StackTitle(trace, node.stack);
    if (!stack.empty()) args["source"] = stack;
    slices.push_back({.track = NodeTrack(node),
                      .begin = TimeOf(node.seq),
                      .name = NodeTitle(trace, id, kSliceColumns),
                      .args = std::move(args)});
  }

  void AddFlow(EdgeId id) {
    const Edge& edge = trace[id];
    if (!trace.graph_edges.Has(id)) return;
    const size_t from = slice_of[edge.from.index()], to = slice_of[edge.to.index()];
    // Viewers draw flows forwards in time; an explicit edge may point to an older node.
    if (from == kNoSlice || to == kNoSlice || slices[from].begin >= slices[to].begin) return;
    slices[from].out.push_back(id);
    slices[to].in.push_back(id);
  }

  void AddLaunch(LaunchId id) {
    const Launch& launch = trace.launches[id.index()];
    const Exec& exec = trace[launch.exec];
    Json args{{"launch", id},
              {"exec", launch.exec},
              {"exec_tool_id", exec.tool_id},
              {"graph_tool_id", exec.graph ? trace[exec.graph].tool_id : 0}};
    if (launch.correlation != 0) args["correlation"] = uint64_t{launch.correlation};
    slices.push_back({.track = Track(TrackKind::kLaunches, launch.stream.value,
                                     StreamTitle(trace, launch.stream) + ": launches"),
                      .begin = TimeOf(launch.seq),
                      .name = "launch " + GraphTitle(trace, exec.graph),
                      .category = "launch",
                      .args = std::move(args)});
  }

  // Times of the format are in microseconds.
  static double Micros(Nanoseconds time) { return static_cast<double>(time) / 1000; }

  Json Event(const char* phase, size_t thread, Nanoseconds time) const {
    return Json{{"ph", phase}, {"pid", process.pid}, {"tid", thread}, {"ts", Micros(time)}};
  }

  void Put(const Json& event) {
    out << (first ? "" : ",\n") << Dump(event);
    first = false;
  }

  void WriteName(const char* what, size_t thread, const std::string& name) {
    Put(Json{{"ph", "M"},
             {"pid", process.pid},
             {"tid", thread},
             {"name", what},
             {"args", Json{{"name", name}}}});
  }

  // A slice ends where the next one of its track begins, after one record at most.
  void WriteSlices() {
    std::vector<Nanoseconds> next(tracks.size(), ~Nanoseconds{0}), lengths(slices.size());
    for (size_t i = slices.size(); i-- > 0;) {
      lengths[i] = std::min(next[slices[i].track] - slices[i].begin, kRecord);
      next[slices[i].track] = slices[i].begin;
    }
    for (size_t i = 0; i < slices.size(); ++i) {
      TimelineSlice& slice = slices[i];
      Json event = Event("X", slice.track + 1, slice.begin);
      event["dur"] = Micros(lengths[i]);
      event["name"] = slice.name;
      event["cat"] = slice.category;
      event["args"] = std::move(slice.args);
      Put(event);
      for (const EdgeId edge : slice.out) WriteFlow("s", edge, slice);
      for (const EdgeId edge : slice.in) WriteFlow("f", edge, slice);
    }
  }

  void WriteFlow(const char* phase, EdgeId edge, const TimelineSlice& slice) {
    Json event = Event(phase, slice.track + 1, slice.begin);
    event["id"] = (process.rank << 32) + edge.value;
    event["name"] = "edge";
    event["cat"] = "edge";
    if (*phase == 'f') event["bp"] = "e";  // binds to the slice around it
    Put(event);
  }

  using Changes = std::vector<std::pair<Seq, int64_t>>;

  void WriteCounters() {
    std::vector<Changes> live(trace.pools.size()), deferred(trace.pools.size());
    for (const Block& block : trace.blocks) {
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
    for (size_t i = 0; i < trace.pools.size(); ++i) {
      std::string name = "pool " + std::to_string(i);
      const std::string_view text = trace[trace.pools[i].name];
      if (!text.empty()) name += " " + Printable(text);
      WriteCounter(name + ": live bytes", std::move(live[i]));
      WriteCounter(name + ": deferred bytes", std::move(deferred[i]));
    }
  }

  void WriteCounter(const std::string& name, Changes changes) {
    std::ranges::sort(changes);
    int64_t sum = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      sum += changes[i].second;
      if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
      Json event = Event("C", 0, TimeOf(changes[i].first));
      event["name"] = name;
      event["args"] = Json{{"bytes", sum}};
      Put(event);
    }
  }
};

}  // namespace

void RenderTraceEvents(const Ran& trace, TimeAxis axis, const ExportProcess& process,
                       std::ostream& out) {
  TimelineWriter{trace, process, TimesOf(trace, axis), out}.Write();
}

}  // namespace graphkit
