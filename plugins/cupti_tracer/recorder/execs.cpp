#include "plugins/cupti_tracer/recorder/execs.h"

#include <algorithm>
#include <map>

#include "libgraphkit/model/tool_ids.h"
#include "plugins/cupti_tracer/recorder/host_content.h"

namespace graphkit {
namespace {

// The work of the exec's nodes while their parameters aren't set: that of the graph's nodes now.
void KeepNodes(const std::vector<ExecNode>& made, const Graphs& graphs, ExecInfo& exec) {
  exec.nodes.reserve(made.size());
  std::map<uint64_t, uint64_t> originals;  // of its graphs
  for (const ExecNode& one : made) {
    const NodeInfo* node = graphs.FindNode(one.original);
    if (node == nullptr) continue;
    exec.nodes.push_back({one.node, node->id, *node});
    exec.copies_stack |= node->copies_stack;
    exec.AddHostRead(node->host_read);
    originals.try_emplace(one.graph, one.original_graph);
  }
  for (const auto& [handle, original] : originals) {
    const GraphInfo* source = graphs.Find(original);
    if (source == nullptr) continue;
    exec.graphs.push_back({handle, source->id, source->parent});
    exec.edge_data.Merge(source->edge_data);
  }
  if (!std::ranges::is_sorted(exec.nodes, {}, &ExecInfo::Node::source))
    std::ranges::sort(exec.nodes, {}, &ExecInfo::Node::source);
}

// CUPTI's ids of the exec's nodes: runs of nodes and of ids that follow one another.
std::vector<ToolIdRun> ToolIds(const std::vector<ExecNode>& made, const Graphs& graphs) {
  std::vector<ToolIdRun> runs;
  for (const ExecNode& one : made) {
    const NodeInfo* node = one.tool_id != 0 ? graphs.FindNode(one.original) : nullptr;
    if (node != nullptr) AppendToolId(runs, node->id, one.tool_id);
  }
  return runs;
}

}  // namespace

void ExecInfo::AddHostRead(uint32_t number) {
  if (number == HostContent::kNone || host_reads.size() == HostContent::kMostRanges) return;
  if (std::ranges::find(host_reads, number) == host_reads.end()) host_reads.push_back(number);
}

ExecInfo::Node* ExecInfo::Find(NodeId source) {
  auto at = std::ranges::lower_bound(nodes, source, {}, &Node::source);
  return at != nodes.end() && at->source == source ? &*at : nullptr;
}

const ExecInfo::Graph* ExecInfo::FindGraph(uint64_t handle) const {
  auto at = std::ranges::lower_bound(graphs, handle, {}, &Graph::handle);
  return at != graphs.end() && at->handle == handle ? &*at : nullptr;
}

bool ExecInfo::HasNodesInside(NodeId holder) const {
  return std::ranges::find(graphs, holder, &Graph::parent) != graphs.end();
}

HandleMap<uint32_t> ExecInfo::Places() const {
  HandleMap<uint32_t> places;
  for (uint32_t i = 0; i < nodes.size(); ++i) places.Insert(nodes[i].handle, i);
  return places;
}

bool ExecInfo::Update(const GraphInfo& from, const Graphs& of) {
  std::vector<const NodeInfo*> updated;
  bool flat = graphs.size() < 2;
  for (const uint64_t handle : from.nodes) {
    const NodeInfo* node = of.FindNode(handle);
    if (node == nullptr || node->graph != from.id) continue;
    updated.push_back(node);
    flat = flat && node->kind != NodeKind::kChildGraph && node->kind != NodeKind::kConditional;
  }
  if (!flat || updated.size() != nodes.size()) {
    unseen_update = !nodes.empty();
    return false;
  }
  bool same = !unseen_update;
  unseen_update = false;
  host_reads.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    NodeInfo& now = nodes[i].now;
    same = same && now.Equals(updated[i]->fingerprint);
    const bool off = now.off;
    now = *updated[i];
    now.off = off;
    copies_stack |= now.copies_stack;
    AddHostRead(now.host_read);
  }
  return same;
}

void Execs::Instantiate(const Call& call, const GraphInfo& graph, const std::vector<ExecNode>& made,
                        const Graphs& graphs) {
  End(call.exec, call.time, Source::kDerived);
  ExecInfo& exec = execs_.Insert(call.exec, {.id = ExecId(next_++), .graph = graph.id});
  KeepNodes(made, graphs, exec);
  const std::vector<ToolIdRun> runs = ToolIds(made, graphs);
  ExecRecord r;
  r.id = exec.id;
  r.row.graph = exec.graph;
  r.row.handle = call.exec;
  r.row.flags = call.flags;
  r.row.tool_id = call.tool_id;
  r.row.node_ids = records_.Add(runs);
  r.row.stack = call.stack;
  records_.Write(call, r);
}

void Execs::WriteUpdate(const Call& call, const ExecUpdate& update) {
  ExecUpdatedRecord r;
  r.row = update;
  records_.Write(call, r);
}

bool Execs::HaveAlready(const NodeInfo& node, uint64_t fingerprint) const {
  bool any = false, all = true;
  execs_.ForEach([&](uint64_t, const ExecInfo& exec) {
    if (exec.graph != node.graph) return;
    const auto own = std::ranges::lower_bound(exec.nodes, node.id, {}, &ExecInfo::Node::source);
    if (own == exec.nodes.end() || own->source != node.id) return;
    any = true;
    all = all && own->now.Equals(fingerprint) && !exec.unseen_update;
  });
  return any && all;
}

void Execs::Launch(ExecInfo& exec, graphkit::Launch row, uint64_t time) {
  exec.launched = true;
  LaunchRecord r;
  r.row = row;
  r.row.exec = exec.id;
  r.time = time;
  records_.Counted(records_.Write(r), &RecordCounts::launches);
}

void Execs::WriteReading(const Call& call, const ExecInfo& exec, ExecCall what) {
  if (call.measured == nullptr) return;
  ExecMemoryRecord r;
  r.row.exec = exec.id;
  r.row.call = what;
  r.row.before = call.measured->before;
  r.row.after = call.measured->after;
  r.row.disturbed = call.measured->disturbed;
  records_.Write(call, r);
}

void Execs::End(uint64_t handle, uint64_t time, Source source) {
  const ExecInfo* exec = execs_.Find(handle);
  if (exec == nullptr) return;
  records_.WriteEnd<ExecDestroyedRecord>(exec->id, source, time);
  execs_.Erase(handle);
}

}  // namespace graphkit
