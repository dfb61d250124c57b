#include "libgraphkit/analysis/memory/host_copies.h"

#include <algorithm>
#include <cstdio>

#include "libgraphkit/model/graph_versions.h"
#include "libgraphkit/model/node_changes.h"

namespace graphkit {

std::vector<HostCopy> FindHostCopies(const Trace& trace) {
  std::vector<HostCopy> copies;
  if (trace.host_ends.empty()) return copies;
  const NodeChanges changes(trace);
  for (const HostEnd& end : trace.host_ends) {
    const auto node = std::ranges::lower_bound(trace.nodes, end.seq, {}, &Node::seq);
    if (node != trace.nodes.end() && node->seq == end.seq) {
      const NodeId id(static_cast<size_t>(node - trace.nodes.begin()));
      if (InGraph(trace, *node)) copies.push_back({id, end, changes.Text(id).empty()});
      continue;
    }
    const auto change = std::ranges::lower_bound(trace.node_changes, end.seq, {}, &NodeChange::seq);
    if (change == trace.node_changes.end() || change->seq != end.seq) continue;
    Node set = trace[change->node];
    if (!change->exec.valid())
      set.seq = change->seq;  // for what takes the graph over from there on
    if (InGraph(trace, set)) copies.push_back({change->node, end, false});
  }
  std::ranges::stable_sort(copies, {}, &HostCopy::node);
  return copies;
}

bool IsRegistered(const Trace& trace, const Block& block) {
  if (!block.pool.valid()) return false;
  const Pool& pool = trace[block.pool];
  return pool.kind == PoolKind::kHost && trace[pool.name] == "registered";
}

std::string HostCopyText(const HostEnd& end) {
  char address[24];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(end.address));
  const std::string bytes = end.length == kLengthUnknown ? "" : FormatBytes(end.length) + " of ";
  const char* kind = end.kind == HostMemoryKind::kStack     ? "a function's stack"
                     : end.kind == HostMemoryKind::kProgram ? "the program's own memory"
                                                            : "pageable memory";
  return (end.mode == AccessMode::kWrite ? "writes " : "reads ") + bytes + kind + " at " + address;
}

}  // namespace graphkit
