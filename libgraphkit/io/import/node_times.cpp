#include "libgraphkit/io/import/node_times.h"

#include <limits>
#include <span>

namespace graphkit {
namespace {

std::string WorkOf(uint64_t count) {
  return count == 1 ? "1 kernel, copy or set" : FormatCount(count) + " kernels, copies and sets";
}

// "1 capture with 544 kernel launches".
std::string CapturesOf(const ProfileCounts& counts) {
  return Counted(counts.captures, "capture") + " with " +
         Counted(counts.captured_kernels, "kernel launch");
}

}  // namespace

NodeRun RunOf(const ReplayedWork& work, const Profile& profile) {
  NodeRun run{.tool_id = work.tool_id,
              .kind = work.kind,
              .shape = work.shape,
              .stream = work.stream,
              .device = work.device,
              .duration_ns = work.duration_ns};
  if (run.kind == NodeKind::kKernel) run.kernel = profile[work.kernel];
  if (run.shape.grid[0] == 0) std::ranges::fill(run.shape.grid, 1u);
  return run;
}

void NodeTimes::Add(const NodeRun& run) {
  Entry& entry = nodes_[run.tool_id];
  if (entry.runs == 0) {
    entry.first = run;
    entry.kernel = run.kernel;
    entry.first.kernel = {};
  }
  ++entry.runs;
  ++runs_;
  entry.timed += run.duration_ns > 0 ? 1 : 0;
  const uint64_t room = std::numeric_limits<uint64_t>::max() - entry.total_ns;
  entry.total_ns += std::min(run.duration_ns, room);
}

void NodeTimes::MakeGraphs(TraceMaker& make, bool named) const {
  std::map<uint64_t, GraphId> graphs;
  for (const auto& [tool_id, entry] : nodes_) {
    GraphId& graph = graphs[tool_id >> 32];
    if (!graph) graph = make.AddGraph({}, named ? tool_id >> 32 : 0);
    Node node{.graph = graph,
              .stream = make.Stream(entry.first.device, entry.first.stream),
              .kind = entry.first.kind,
              .source = Source::kImported};
    if (node.kind == NodeKind::kKernel) make.SetKernel(node, entry.kernel, entry.first.shape);
    node.duration_ns = entry.timed == 0 ? 0 : entry.total_ns / entry.timed;
    make.AddNode(node, named ? tool_id : 0);
  }
}

std::vector<NodeTime> NodeTimes::Times() const {
  std::vector<NodeTime> times;
  for (const auto& [tool_id, entry] : nodes_) {
    times.push_back({tool_id, entry.kernel, entry.timed, entry.total_ns});
  }
  return times;
}

uint64_t MakeLaunchedGraphs(const Profile& profile, TraceMaker& make) {
  NodeTimes times;
  std::map<std::vector<uint64_t>, uint32_t> graphs;     // by the work of a launch
  std::vector<std::pair<uint32_t, StreamId>> launched;  // graphs
  for (const ReplayLaunch& launch : profile.launches) {
    if (launch.work.count == 0) continue;
    const std::span work =
        std::span(profile.replayed).subspan(launch.work.first, launch.work.count);
    std::vector<uint64_t> key;
    for (const ReplayedWork& piece : work) {
      const LaunchShape& shape = piece.shape;
      const bool kernel = piece.kind == NodeKind::kKernel;
      key.insert(key.end(), {static_cast<uint64_t>(piece.kind), kernel ? piece.kernel.value : 0,
                             shape.shared_bytes});
      key.insert(key.end(), shape.grid, shape.grid + 3);
      key.insert(key.end(), shape.block, shape.block + 3);
    }
    const auto count = static_cast<uint32_t>(graphs.size());
    const uint32_t graph = graphs.try_emplace(std::move(key), count).first->second;
    for (size_t i = 0; i < work.size(); ++i) {
      NodeRun run = RunOf(work[i], profile);
      run.tool_id = uint64_t{graph} << 32 | i;
      times.Add(run);
    }
    launched.emplace_back(graph, make.Stream(work[0].device, work[0].stream));
  }
  times.MakeGraphs(make, false);
  for (size_t graph = 0; graph < graphs.size(); ++graph) {
    make.trace.execs.push_back({.graph = GraphId(graph), .created = make.Next()});
  }
  for (const auto& [graph, stream] : launched) {
    make.trace.launches.push_back({ExecId(size_t{graph}), stream, make.Next()});
  }
  return times.runs();
}

bool GraphLaunchCalls::Take(std::string_view name, uint64_t count) {
  constexpr std::array<std::string_view, 3> kCalls = {"cudaGraphLaunch", "cuGraphLaunch",
                                                      "hipGraphLaunch"};
  for (size_t api = 0; api < kCalls.size(); ++api) {
    if (!name.starts_with(kCalls[api])) continue;
    const std::string_view version = name.substr(kCalls[api].size());
    if (!version.empty() && version.front() != '_') continue;
    by_api_[api] += count;
    return true;
  }
  return false;
}

std::string ProfileSummary(const NodeTimes& times, const ProfileCounts& counts) {
  const std::string captures = counts.captures == 0 ? "" : ", " + CapturesOf(counts);
  if (counts.work == 0 && counts.graph_launches == 0) return "no work on a GPU" + captures;
  if (counts.graph_launches == 0 && times.empty())
    return WorkOf(counts.work) + ", no graph launch" + captures;
  if (counts.launched_work > 0) {
    return WorkOf(counts.work) + ", " + FormatCount(counts.launched_work) + " of them in " +
           Counted(counts.graph_launches, "graph launch") + captures;
  }
  const std::string nodes = times.empty() ? "none of them named as a run of a graph node"
                                          : FormatCount(times.runs()) + " of them runs of " +
                                                Counted(times.size(), "graph node");
  return WorkOf(counts.work) + ", " + nodes + "; " +
         Counted(counts.graph_launches, "graph launch") + captures;
}

std::string ProfileNote(const NodeTimes& times, const ProfileCounts& counts,
                        std::string_view remedy) {
  if (!times.empty()) return "a profile has no edges: merge it with a trace";
  if (counts.launched_work > 0) {
    return "the profile names no graph nodes, and has no edges: what ran is known of each launch, "
           "and launches of the same work in the same order count as one graph's";
  }
  const std::string work = WorkOf(counts.work);
  if (counts.graph_launches == 0 && counts.captures > 0) {
    return "the profile is of " + CapturesOf(counts) +
           ", and launches no graph: " + "profile a launch to see what a graph runs";
  }
  if (counts.work == 0 && counts.graph_launches == 0) return "the profile holds no work on a GPU";
  if (counts.graph_launches == 0) return "the profile launches no graph, only " + work;
  return "the profile names no graph nodes: which of its " + work + " ran in its " +
         Counted(counts.graph_launches, "graph launch") + " isn't known; " + std::string(remedy);
}

}  // namespace graphkit
