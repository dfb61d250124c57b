#include "libgraphkit/analysis/memory/known_memory.h"

#include <algorithm>
#include <cstdint>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/ran/node_changes.h"

namespace graphkit {
namespace {

struct AllocNodes {
  uint64_t all = 0;
  uint64_t without_block = 0;
};

std::vector<AllocNodes> CountAllocNodes(const Ran& trace, const std::vector<GraphId>& roots) {
  std::vector<AllocNodes> counts(roots.size());
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    if (node.kind != NodeKind::kMemAlloc) continue;
    AllocNodes& count = counts[roots[node.graph.index()].index()];
    ++count.all;
    count.without_block += !node.block.valid();
  }
  return counts;
}

std::string Reason(const AllocNodes& count) {
  return "the sizes of " + FormatCount(count.without_block) + " of " + FormatCount(count.all) +
         " memory-alloc nodes weren't recorded";
}

}  // namespace

UnknownMemory FindUnknownMemory(const Ran& trace, const std::vector<GraphId>& roots) {
  UnknownMemory unknown{.graphs = std::vector(roots.size(), trace.process.unknown_memory),
                        .any = trace.process.unknown_memory};
  if (!unknown.any.empty()) return unknown;
  const std::vector<bool> histories = GraphsOfHistories(trace);
  const bool beside = std::ranges::any_of(histories, [](bool history) { return history; });
  for (size_t i = 0; beside && i < roots.size(); ++i) {
    if (!histories[i]) unknown.graphs[i] = "which memory its nodes use isn't recorded";
  }
  const std::vector<AllocNodes> counts = CountAllocNodes(trace, roots);
  for (size_t i = 0; i < roots.size(); ++i) {
    const AllocNodes& count = counts[roots[i].index()];
    if (count.without_block == 0) continue;
    unknown.graphs[i] = Reason(count);
    if (unknown.any.empty()) unknown.any = unknown.graphs[i];
  }
  return unknown;
}

bool KnowsWhatWasFreed(const Ran& trace) {
  return !trace.completeness.truncated && trace.process.device != DeviceKind::kImported;
}

std::vector<bool> GraphsOfHistories(const Ran& trace) {
  const bool imported = trace.process.device == DeviceKind::kImported;
  std::vector<bool> histories(trace.graphs.size(), imported);
  for (size_t i = 0; imported && i < trace.nodes.size(); ++i) {
    if (trace.nodes[i].source != Source::kDerived) histories[trace.nodes[i].graph.index()] = false;
  }
  return histories;
}

std::string NothingToPlace(const Ran& trace) {
  if (trace.graph_nodes.empty()) return "it holds no graph";
  const UnknownMemory unknown = FindUnknownMemory(trace, FindRoots(trace));
  if (!unknown.any.empty()) return "its memory is unknown: " + unknown.any;
  const std::vector<bool> backs_segment = BacksSegment(trace);
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if ((block.graph || block.alloc_node) && !backs_segment[i]) return {};
  }
  return "its graphs allocate no memory";
}

std::vector<HostCopy> FindHostCopies(const Ran& trace) {
  std::vector<HostCopy> copies;
  if (trace.host_ends.empty()) return copies;
  const NodeChanges changes(trace);
  for (const HostEnd& end : trace.host_ends) {
    if (const NodeId id = NodeAt(trace, end.seq); id.valid()) {
      if (trace.graph_nodes.Has(id)) copies.push_back({id, end, changes.Text(id).empty()});
      continue;
    }
    const auto change = std::ranges::lower_bound(trace.node_changes, end.seq, {}, &NodeChange::seq);
    if (change == trace.node_changes.end() || change->seq != end.seq) continue;
    // What is set in the graph is so for what takes it over from there on.
    const Node& node = trace[change->node];
    const auto shown = ShownVersions(trace, node.graph);
    const bool in_graph = shown.empty() || change->exec.valid()
                              ? trace.graph_nodes.Has(change->node)
                              : std::ranges::any_of(shown, [&](const GraphVersion& version) {
                                  return change->seq < version.seq && version.seq < node.destroyed;
                                });
    if (in_graph) copies.push_back({change->node, end, false});
  }
  std::ranges::stable_sort(copies, {}, &HostCopy::node);
  return copies;
}

}  // namespace graphkit
