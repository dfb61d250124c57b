#include "libgraphkit/ran/ran.h"

#include <algorithm>
#include <iterator>

namespace graphkit {
Ternary WaitsOf(const Trace& trace, KernelId kernel) {
  return kernel.index() < trace.kernels.size() ? trace[kernel].waits : Ternary::kUnknown;
}

std::span<const ExecGraph> Ran::GraphsOf(ExecId exec) const {
  if (exec.index() + 1 >= first_exec_graph.size()) return {};
  const uint32_t first = first_exec_graph[exec.index()];
  return std::span(exec_graphs).subspan(first, first_exec_graph[exec.index() + 1] - first);
}

ExecGraph Ran::GraphBefore(ExecId exec, Seq at) const {
  const std::span<const ExecGraph> graphs = GraphsOf(exec);
  const auto next = std::ranges::lower_bound(graphs, at, {}, &ExecGraph::since);
  return next == graphs.begin() ? ExecGraph() : *std::prev(next);
}

size_t CountVersions(const Ran& trace) {
  size_t most = 0;
  for (const GraphVersion& version : trace.versions)
    most = std::max(most, VersionsOf(trace, version.graph).size());
  return most;
}

bool HasSeveralVersions(const Ran& trace, GraphId graph) {
  const std::span<const GraphVersion> shown = ShownVersions(trace, graph);
  return !shown.empty() && VersionsOf(trace, shown[0].graph).size() > 1;
}

std::span<const GraphVersion> VersionsOf(const Ran& trace, GraphId root) {
  const auto& all = trace.versions;
  const auto first = std::ranges::lower_bound(all, root, {}, &GraphVersion::graph);
  return {first, std::ranges::upper_bound(first, all.end(), root, {}, &GraphVersion::graph)};
}

std::span<const GraphVersion> ShownVersions(const Ran& trace, GraphId graph) {
  if (graph.index() >= trace.shown_versions.size()) return {};
  const Slice shown = trace.shown_versions[graph.index()];
  return std::span(trace.versions).subspan(shown.first, shown.count);
}

const ChangedNode* FindChanged(const Ran& trace, NodeId node) {
  const auto at = std::ranges::lower_bound(trace.changed_nodes, node, {}, &ChangedNode::node);
  return at != trace.changed_nodes.end() && at->node == node ? &*at : nullptr;
}

Ternary WaitsFor(const Ran& trace, NodeId node) {
  if (const ChangedNode* changed = FindChanged(trace, node)) return changed->waits;
  return WaitsOf(trace, trace[node].kernel);
}

Ternary EndWaitsFor(const Ran& trace, NodeId node) {
  const Ternary waits = WaitsFor(trace, node);
  const KernelId kernel = trace[node].kernel;
  const bool some = waits == Ternary::kUnknown && kernel.index() < trace.kernels.size() &&
                    !FindChanged(trace, node) && trace[kernel].waits == Ternary::kUnknown &&
                    trace[kernel].triggers != Triggers::kUnknown;
  return some ? Ternary::kYes : waits;
}

EarlyStart EarlyStartOf(const Ran& trace, const Edge& edge) {
  EarlyStart start{.from_port = edge.from_port, .waits = WaitsFor(trace, edge.to)};
  const ChangedNode* changed = FindChanged(trace, edge.from);
  const KernelId kernel = trace[edge.from].kernel;
  if ((changed != nullptr && changed->kernels_vary) || kernel.index() >= trace.kernels.size()) {
    return start;
  }
  start.triggers = trace[kernel].triggers;
  start.writes_after_trigger = trace[kernel].writes_after_trigger;
  return start;
}

bool MayTouchAnything(const Ran& trace, NodeId id) {
  if (const ChangedNode* changed = FindChanged(trace, id)) return changed->opaque;
  return MayTouchAnything(trace, trace[id].kind, trace[id]);
}

}  // namespace graphkit
