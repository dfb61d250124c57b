#include "libgraphkit/render/longest_path.h"

#include <algorithm>
#include <cstdint>

#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {

namespace {

bool AllKernelsMeasured(const Trace& trace, const std::vector<bool>& nodes) {
  bool any = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!nodes[i] || node.kind != NodeKind::kKernel) continue;
    if (node.duration_ns == 0) return false;
    any = true;
  }
  return any;
}

// The path that ends at a node, from its start.
std::vector<NodeId> PathTo(NodeId end, const std::vector<NodeId>& before) {
  std::vector<NodeId> path;
  for (NodeId at = end; at; at = before[at.index()]) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

// By graph: whether all of its kernels have a duration.
std::vector<bool> MeasuredGraphs(const Trace& trace) {
  std::vector<bool> any(trace.graphs.size()), measured(trace.graphs.size(), true);
  for (const Node& node : trace.nodes) {
    if (node.kind != NodeKind::kKernel || !InGraph(trace, node)) continue;
    any[node.graph.index()] = true;
    if (node.duration_ns == 0) measured[node.graph.index()] = false;
  }
  for (size_t i = 0; i < any.size(); ++i) measured[i] = measured[i] && any[i];
  return measured;
}

}  // namespace

std::vector<std::vector<NodeId>> LongestPaths(const Trace& trace) {
  const InEdges in = FindInEdges(trace);
  const std::vector<bool> measured = MeasuredGraphs(trace);
  std::vector<uint64_t> length(trace.nodes.size());
  std::vector<NodeId> before(trace.nodes.size()), ends(trace.graphs.size());
  for (const uint32_t id : SortNodes(in)) {
    const Node& node = trace.nodes[id];
    if (!InGraph(trace, node)) continue;
    for (const InEdge& edge : in.Of(id)) {
      const bool longer = !before[id] || length[edge.from.index()] > length[before[id].index()];
      if (longer) before[id] = edge.from;
    }
    length[id] = (before[id] ? length[before[id].index()] : 0) +
                 (measured[node.graph.index()] ? node.duration_ns : 1);
    NodeId& end = ends[node.graph.index()];
    if (!end || length[id] > length[end.index()]) end = NodeId(id);
  }
  std::vector<std::vector<NodeId>> paths;
  for (const NodeId end : ends) paths.push_back(PathTo(end, before));
  return paths;
}

std::vector<NodeId> LongestPath(const Trace& trace, const std::vector<bool>& nodes) {
  const InEdges in = FindInEdges(trace);
  const bool measured = AllKernelsMeasured(trace, nodes);
  std::vector<uint64_t> length(nodes.size());
  std::vector<NodeId> before(nodes.size());
  NodeId end;
  for (const uint32_t id : SortNodes(in)) {
    if (!nodes[id]) continue;
    for (const InEdge& edge : in.Of(id)) {
      const size_t from = edge.from.index();
      const bool longer = nodes[from] && (!before[id] || length[from] > length[before[id].index()]);
      if (longer) before[id] = edge.from;
    }
    length[id] = (before[id] ? length[before[id].index()] : 0) +
                 (measured ? trace.nodes[id].duration_ns : 1);
    if (!end || length[id] > length[end.index()]) end = NodeId(id);
  }
  return PathTo(end, before);
}

}  // namespace graphkit
