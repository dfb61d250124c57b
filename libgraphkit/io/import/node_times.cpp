#include "libgraphkit/io/import/node_times.h"

#include <algorithm>
#include <limits>

namespace graphkit {

void NodeTimes::Add(const NodeRun& run) {
  Entry& entry = nodes_[run.tool_id];
  if (entry.launches == 0) {
    entry.first = run;
    entry.kernel = run.kernel;
    entry.first.kernel = {};
  }
  ++entry.launches;
  ++runs_;
  const uint64_t room = std::numeric_limits<uint64_t>::max() - entry.total_ns;
  entry.total_ns += std::min(run.duration_ns, room);
}

void NodeTimes::MakeGraphs(TraceMaker& make) const {
  std::map<uint64_t, GraphId> graphs;
  for (const auto& [tool_id, entry] : nodes_) {
    GraphId& graph = graphs[tool_id >> 32];
    if (!graph) graph = make.AddGraph({}, tool_id >> 32);
    Node node;
    node.graph = graph;
    node.kind = entry.first.kind;
    node.source = Source::kImported;
    node.stream = make.Stream(entry.first.device, entry.first.stream);
    if (node.kind == NodeKind::kKernel) {
      node.kernel = make.Kernel(entry.kernel.empty() ? "unknown kernel" : entry.kernel);
      node.shape = make.Shape(entry.first.shape);
    }
    const uint64_t mean = entry.total_ns / entry.launches;
    node.duration_ns =
        static_cast<uint32_t>(std::min<uint64_t>(mean, std::numeric_limits<uint32_t>::max()));
    make.tool_ids[make.AddNode(node)] = tool_id;
  }
}

std::vector<NodeTime> NodeTimes::Times() const {
  std::vector<NodeTime> times;
  for (const auto& [tool_id, entry] : nodes_) {
    times.push_back({tool_id, entry.kernel, entry.launches, entry.total_ns});
  }
  return times;
}

}  // namespace graphkit
