// Graphs, their edges, and what is made from them.
#include <algorithm>

#include "libgraphkit/model/tool_ids.h"
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

GraphOrigin OriginOf(CallKind kind) {
  if (kind == CallKind::kBeginCapture) return GraphOrigin::kCapture;
  if (kind == CallKind::kGraphClone) return GraphOrigin::kClone;
  return GraphOrigin::kExplicit;
}

}  // namespace

Recorder::GraphInfo* Recorder::AddGraph(uint64_t handle, GraphOrigin origin, uint64_t tool_id,
                                        GraphId original, NodeId parent, uint32_t body) {
  EndGraph(handle, Source::kDerived);
  auto& graph = graphs_.Insert(handle, std::make_unique<GraphInfo>());
  graph->id = GraphId(next_graph_++);
  graph->handle = handle;
  graph->parent = parent;
  if (parent) AddInnerGraph(parent, handle, graph->id);
  GraphRecord r;
  r.id = graph->id;
  r.row.origin = origin;
  r.row.original = original;
  r.row.parent = parent;
  r.row.body = body;
  r.row.handle = handle;
  r.row.tool_id = tool_id;
  Counted(Write(r), &RecordCounts::graphs);
  return graph.get();
}

Recorder::GraphInfo* Recorder::FindGraph(uint64_t handle) {
  auto* known = graphs_.Find(handle);
  return known ? known->get() : nullptr;
}

// A graph that was made before the tracer looked is taken as it comes.
Recorder::GraphInfo* Recorder::GraphOf(uint64_t handle) {
  GraphInfo* known = FindGraph(handle);
  return known ? known : AddGraph(handle, GraphOrigin::kExplicit, 0, {}, {}, 0);
}

void Recorder::AddKernel(uint64_t function, KernelLayout layout) {
  bool is_new = false;
  KernelInfo& kernel = kernels_.Add(function, std::move(layout), is_new);
  if (!is_new) return;
  KernelRecord r;
  r.id = kernel.id;
  r.row.name = values_.Add(kernel.name);
  r.row.has_layout = kernel.has_layout;
  r.row.params = values_.Add(kernel.params);
  r.row.waits = kernel.waits;
  Write(r);
}

// The events of one call.
void Recorder::ApplyEvents(ThreadState& thread, const Call& call, bool succeeded) {
  if (thread.events.empty()) return;
  const bool makes = succeeded && call.kind != CallKind::kInternal &&
                     call.kind != CallKind::kInstantiate && call.kind != CallKind::kExecUpdate;
  embedded_.clear();
  in_order_.clear();
  made_.Clear();
  clones_.Clear();
  if (!call.operations.empty()) CountNodes(thread);
  if (makes) CollectMade(thread, call);
  if (!embedded_.empty()) {
    ApplyByGraph(thread, call);
  } else {
    for (const GraphEvent& event : thread.events) {
      if (makes || event.kind == GraphEventKind::kDependencyDestroyed)
        ApplyEvent(thread, call, event);
    }
    Flush(thread, call);
  }
  thread.events.clear();
}

void Recorder::CountNodes(const ThreadState& thread) {
  next_operation_ = 0;
  nodes_made_ = static_cast<size_t>(std::count_if(
      thread.events.begin(), thread.events.end(),
      [](const GraphEvent& event) { return event.kind == GraphEventKind::kNodeStarting; }));
}

void Recorder::LooseEvents(ThreadState& thread, uint64_t time) {
  std::erase_if(thread.events,
                [this](const GraphEvent& e) { return FindGraph(e.graph) == nullptr; });
  Call call;
  call.time = time;
  ApplyEvents(thread, call, true);
}

void Recorder::ApplyEvent(ThreadState& thread, const Call& call, const GraphEvent& event) {
  switch (event.kind) {
    case GraphEventKind::kNodeStarting:
      Flush(thread, call);
      fresh_.open = true;
      fresh_.handle = event.node;
      fresh_.graph = event.graph;
      fresh_.kind = static_cast<NodeKind>(event.node_type);
      fresh_.dependencies.clear();
      return;
    case GraphEventKind::kDependencyCreated:
      return OnDependency(thread, call, event);
    case GraphEventKind::kDependencyDestroyed:
      return RemoveEdge(event);
    case GraphEventKind::kGraphCreated:  // CollectMade has seen them
    case GraphEventKind::kGraphCloned:
    case GraphEventKind::kNodeCloned:
    case GraphEventKind::kNodeCreated:
      return;
  }
}

void Recorder::OnGraphCreated(const Call& call, EmbeddedGraph& made) {
  made.claimed = true;
  in_order_.push_back(made.handle);
  GraphInfo* original = FindGraph(call.kind == CallKind::kGraphClone ? call.original : 0);
  AddGraph(made.handle, OriginOf(call.kind), made.tool_id, original ? original->id : GraphId(), {},
           0);
}

void Recorder::OnDependency(ThreadState& thread, const Call& call, const GraphEvent& event) {
  if (fresh_.open && event.node == fresh_.handle) {
    fresh_.dependencies.push_back(event.dependency);
    return;
  }
  Flush(thread, call);
  NodeInfo* from = nodes_.Find(event.dependency);
  NodeInfo* to = nodes_.Find(event.node);
  if (from == nullptr || to == nullptr) return;
  WriteEdge(call, FindGraph(event.graph), from->id, to->id,
            EdgeData(call, nullptr, event.dependency, event.node, *from, to->kind));
}

void Recorder::WriteEdge(const Call&, GraphInfo* graph, NodeId from, NodeId to,
                         const FrontierEntry& data) {
  EdgeId id(next_edge_++);
  EdgeRecord r;
  r.id = id;
  r.row.from = from;
  r.row.to = to;
  r.row.from_port = data.from_port;
  r.row.type = static_cast<EdgeType>(data.edge_type);
  Counted(Write(r), &RecordCounts::edges);
  if (graph == nullptr) return;
  graph->edges.push_back({from, to, id});
  if (data.from_port != 0 || data.edge_type != 0) graph->edge_data.Insert(EdgeKey(from, to), data);
}

void Recorder::RemoveEdge(const GraphEvent& event) {
  NodeInfo* from = nodes_.Find(event.dependency);
  NodeInfo* to = nodes_.Find(event.node);
  GraphInfo* graph = FindGraph(event.graph);
  if (from == nullptr || to == nullptr || graph == nullptr) return;
  auto last = std::find_if(graph->edges.rbegin(), graph->edges.rend(), [&](const EdgeInfo& edge) {
    return edge.from == from->id && edge.to == to->id;
  });
  if (last == graph->edges.rend()) return;
  WriteEnd<EdgeRemovedRecord>(last->id, Source::kCallback);
  graph->edges.erase(std::next(last).base());
  graph->edge_data.Erase(EdgeKey(from->id, to->id));
}

void Recorder::OnInstantiate(ThreadState& thread, const Call& call) {
  GraphInfo* graph = GraphOf(call.graph);
  EndExec(call.exec, call.time, Source::kDerived);
  ExecInfo& exec = execs_.Insert(call.exec, {.id = ExecId(next_exec_++), .graph = graph->id});
  KeepExecNodes(thread, exec);
  const std::vector<ToolIdRun> runs = TakeToolIds(thread);
  ExecRecord r;
  r.id = exec.id;
  r.row.graph = exec.graph;
  r.row.handle = call.exec;
  r.row.flags = call.flags;
  r.row.tool_id = call.tool_id;
  r.row.node_ids = values_.Add(runs);
  r.row.stack = call.stack;
  Write(call, r);
}

// What CUPTI calls the exec's nodes: runs of nodes and of ids that follow one another.
std::vector<ToolIdRun> Recorder::TakeToolIds(ThreadState& thread) {
  std::vector<ToolIdRun> runs;
  for (const ExecNode& made : thread.exec_nodes) {
    NodeInfo* node = made.tool_id != 0 ? nodes_.Find(made.original) : nullptr;
    if (node != nullptr) AppendToolId(runs, node->id, made.tool_id);
  }
  thread.exec_nodes = {};  // not needed again soon, and as many as the graph has nodes
  return runs;
}

void Recorder::OnExecUpdate(ThreadState& thread, const Call& call, int32_t result) {
  ExecInfo* exec = execs_.Find(call.exec);
  if (exec == nullptr) return;
  GraphInfo* graph = GraphOf(call.graph);
  constexpr uint64_t kFailed = 1;
  const uint64_t outcome = result != 0 && call.flags == 0 ? kFailed : call.flags;
  ExecUpdatedRecord r;
  r.row.exec = exec->id;
  r.row.graph = graph->id;
  r.row.result = static_cast<int32_t>(outcome);
  Write(call, r);
  if (outcome != 0) return;
  exec->graph = graph->id;
  UpdateExecNodes(thread, *exec);
}

void Recorder::OnGraphLaunch(ThreadState& thread, const Call& call) {
  bool captured = std::any_of(thread.events.begin(), thread.events.end(), [](const GraphEvent& e) {
    return e.kind == GraphEventKind::kNodeStarting;
  });
  if (captured) return;  // a child graph node
  thread.events.clear();
  StreamInfo* stream = StreamOf(thread, call);
  ExecInfo* exec = execs_.Find(call.exec);
  if (exec == nullptr) return;
  if (thread.silent_ranges != 0) WriteRanges(thread);
  LaunchRecord r;
  r.row.exec = exec->id;
  r.row.stream = stream->id;
  r.row.correlation = call.correlation;
  Counted(Write(call, r), &RecordCounts::launches);
}

}  // namespace graphkit
