#include "libgraphkit/model/tool_ids.h"

namespace graphkit {

std::vector<uint64_t> OwnToolIds(const Trace& trace) {
  std::vector<uint64_t> ids(trace.nodes.size());
  std::vector<uint32_t> next(trace.graphs.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const GraphId graph = trace.nodes[i].graph;
    const uint32_t number = next[graph.index()]++;
    if (const uint64_t id = trace[graph].tool_id) ids[i] = id << 32 | number;
  }
  return ids;
}

ExecToolIds::ExecToolIds(const Trace& trace) : trace_(trace), nodes_(trace.graphs.size()) {
  std::vector<bool> wanted(trace.graphs.size());
  bool any = false;
  for (const Exec& exec : trace.execs) {
    if (exec.tool_id == 0 || exec.node_ids.count != 0) continue;
    any = wanted[exec.graph.index()] = true;
  }
  for (size_t i = 0; any && i < trace.nodes.size(); ++i) {
    const size_t graph = trace.nodes[i].graph.index();
    if (wanted[graph]) nodes_[graph].push_back(NodeId(i));
  }
}

std::vector<ToolIdRun> ExecToolIds::Of(ExecId id) const {
  const Exec& exec = trace_[id];
  if (exec.node_ids.count != 0) {
    const auto first = trace_.tool_id_runs.begin() + exec.node_ids.first;
    return {first, first + exec.node_ids.count};
  }
  std::vector<ToolIdRun> runs;
  if (exec.tool_id == 0) return runs;
  uint64_t next = exec.tool_id << 32;
  for (const NodeId node : nodes_[exec.graph.index()]) {
    const bool copied = trace_[node].seq < exec.created && trace_[node].destroyed > exec.created;
    if (copied) AppendToolId(runs, node, next++);
  }
  return runs;
}

}  // namespace graphkit
