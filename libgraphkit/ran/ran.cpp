#include "libgraphkit/ran/ran.h"

#include <algorithm>
#include <iterator>

namespace graphkit {
namespace {

Slice ShownOf(const Ran& trace, GraphId graph) {
  return graph.index() < trace.shown_versions.size() ? trace.shown_versions[graph.index()]
                                                     : Slice();
}

// Of some versions, those between two places.
Slice Between(const Ran& trace, Slice versions, Seq made, Seq gone) {
  const auto all = std::span(trace.versions).subspan(versions.first, versions.count);
  const auto first = std::ranges::upper_bound(all, made, {}, &GraphVersion::seq);
  const auto last = std::ranges::lower_bound(first, all.end(), gone, {}, &GraphVersion::seq);
  return {versions.first + static_cast<uint32_t>(first - all.begin()),
          static_cast<uint32_t>(last - first)};
}

// True when all of the first versions are among the second.
bool Within(Slice inner, Slice outer) {
  return outer.first <= inner.first && inner.first + inner.count <= outer.first + outer.count;
}

}  // namespace

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
  size_t most = 0, count = 0;
  for (size_t i = 0; i < trace.versions.size(); ++i) {
    count = i > 0 && trace.versions[i - 1].graph == trace.versions[i].graph ? count + 1 : 1;
    most = std::max(most, count);
  }
  return most;
}

bool HasSeveralVersions(const Ran& trace, GraphId graph) {
  return ShownOf(trace, graph).count > 1 || ShownAlone(trace, graph) != nullptr;
}

const GraphVersion* ShownAlone(const Ran& trace, GraphId graph) {
  const Slice shown = ShownOf(trace, graph);
  if (shown.count != 1) return nullptr;
  const GraphVersion& version = trace.versions[shown.first];
  const auto first =
      std::ranges::lower_bound(trace.versions, version.graph, {}, &GraphVersion::graph);
  const bool several =
      std::next(first) != trace.versions.end() && std::next(first)->graph == version.graph;
  return several ? &version : nullptr;
}

bool IsShown(const Ran& trace, GraphId root, Seq fixed) {
  const Slice shown = ShownOf(trace, root);
  if (shown.count == 0) return true;
  const auto versions = std::span(trace.versions).subspan(shown.first, shown.count);
  const auto next = std::ranges::upper_bound(versions, fixed, {}, &GraphVersion::since);
  return next != versions.begin() && fixed < std::prev(next)->until;
}

bool IsInShown(const Ran& trace, const Node& node) {
  const Slice shown = ShownOf(trace, node.graph);
  if (shown.count != 0) return Between(trace, shown, node.seq, node.destroyed).count != 0;
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}

bool IsInShown(const Ran& trace, const Edge& edge) {
  const Node from = trace[edge.from], to = trace[edge.to];
  const Slice shown = ShownOf(trace, from.graph);
  if (shown.count == 0) {
    return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
           IsInShown(trace, from) && IsInShown(trace, to);
  }
  const Slice with = Between(trace, shown, to.seq, to.destroyed);
  return with.count != 0 && Within(with, Between(trace, shown, edge.seq, edge.removed)) &&
         Within(with, Between(trace, shown, from.seq, from.destroyed));
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
