#include "libgraphkit/render/longest_path.h"

#include <algorithm>
#include <cstdint>

#include "libgraphkit/analysis/topology.h"

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

}  // namespace

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
  std::vector<NodeId> path;
  for (NodeId at = end; at; at = before[at.index()]) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

}  // namespace graphkit
