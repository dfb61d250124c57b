#include "libgraphkit/io/import/node_times.h"

#include <limits>

namespace graphkit {
namespace {

std::string WorkOf(uint64_t count) {
  return count == 1 ? "1 kernel, copy or set" : FormatCount(count) + " kernels, copies and sets";
}

}  // namespace

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

void NodeTimes::MakeGraphs(TraceMaker& make) const {
  std::map<uint64_t, GraphId> graphs;
  for (const auto& [tool_id, entry] : nodes_) {
    GraphId& graph = graphs[tool_id >> 32];
    if (!graph) graph = make.AddGraph({}, tool_id >> 32);
    Node node{.graph = graph,
              .stream = make.Stream(entry.first.device, entry.first.stream),
              .kind = entry.first.kind,
              .source = Source::kImported};
    if (node.kind == NodeKind::kKernel) make.SetKernel(node, entry.kernel, entry.first.shape);
    node.duration_ns = entry.timed == 0 ? 0 : entry.total_ns / entry.timed;
    make.AddNode(node, tool_id);
  }
}

std::vector<NodeTime> NodeTimes::Times() const {
  std::vector<NodeTime> times;
  for (const auto& [tool_id, entry] : nodes_) {
    times.push_back({tool_id, entry.kernel, entry.timed, entry.total_ns});
  }
  return times;
}

void GraphLaunchCalls::Take(std::string_view name, uint64_t count) {
  constexpr std::array<std::string_view, 3> kCalls = {"cudaGraphLaunch", "cuGraphLaunch",
                                                      "hipGraphLaunch"};
  for (size_t api = 0; api < kCalls.size(); ++api) {
    if (!name.starts_with(kCalls[api])) continue;
    const std::string_view version = name.substr(kCalls[api].size());
    if (version.empty() || version.front() == '_') by_api_[api] += count;
  }
}

std::string ProfileSummary(const NodeTimes& times, const ProfileCounts& counts) {
  if (counts.work == 0 && counts.graph_launches == 0) return "no work on a GPU";
  if (counts.graph_launches == 0 && times.empty()) return WorkOf(counts.work) + ", no graph launch";
  const std::string nodes = times.empty() ? "none of them named as a run of a graph node"
                                          : FormatCount(times.runs()) + " of them runs of " +
                                                Counted(times.size(), "graph node");
  return WorkOf(counts.work) + ", " + nodes + "; " + Counted(counts.graph_launches, "graph launch");
}

std::string ProfileNote(const NodeTimes& times, const ProfileCounts& counts,
                        std::string_view remedy) {
  if (!times.empty()) return "a profile has no edges: merge it with a trace";
  if (counts.work == 0 && counts.graph_launches == 0) return "the profile holds no work on a GPU";
  const std::string work = WorkOf(counts.work);
  if (counts.graph_launches == 0) return "the profile launches no graph, only " + work;
  return "the profile names no graph nodes: which of its " + work + " ran in its " +
         Counted(counts.graph_launches, "graph launch") + " isn't known; " + std::string(remedy);
}

}  // namespace graphkit
