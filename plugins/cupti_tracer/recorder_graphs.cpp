// Graphs, their edges, and what is made from them.
#include <algorithm>

#include "libgraphkit/model/tool_ids.h"
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

constexpr const char* kOriginNames[] = {"capture", "explicit", "clone",
                                        "child",   "body",     "imported"};

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
  line_.Start("graph");
  line_.Number("id", graph->id.value);
  line_.Name("origin", kOriginNames[static_cast<int>(origin)]);
  Ref("original", original);
  Ref("parent", parent);
  if (body != 0) line_.Number("body", body);
  line_.Hex("handle", handle);
  if (tool_id != 0) line_.Number("tool_id", tool_id);
  Write(&RecordCounts::graphs);
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
  line_.Start("kernel");
  line_.Number("id", kernel.id.value);
  line_.Text("name", kernel.name);
  if (kernel.has_layout) {
    line_.OpenArray("params");
    for (const KernelParam& param : kernel.params) {
      line_.OpenInner();
      line_.Item(param.offset);
      line_.Item(param.size);
      line_.CloseArray();
    }
    line_.CloseArray();
  }
  if (kernel.waits != Ternary::kUnknown) {
    line_.Text("waits", kernel.waits == Ternary::kYes ? "yes" : "no");
  }
  Write();
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
  line_.Start("edge");
  line_.Number("id", id.value);
  line_.Number("from", from.value);
  line_.Number("to", to.value);
  if (data.from_port != 0) line_.Number("from_port", data.from_port);
  if (data.edge_type != 0) line_.Number("edge_type", data.edge_type);
  Write(&RecordCounts::edges);
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
  line_.Start("edge_removed");
  line_.Number("edge", last->id.value);
  Write();
  graph->edges.erase(std::next(last).base());
  graph->edge_data.Erase(EdgeKey(from->id, to->id));
}

void Recorder::OnInstantiate(ThreadState& thread, const Call& call) {
  GraphInfo* graph = GraphOf(call.graph);
  EndExec(call.exec, call.time, Source::kDerived);
  ExecInfo& exec = execs_.Insert(call.exec, {.id = ExecId(next_exec_++), .graph = graph->id});
  KeepExecNodes(thread, exec);
  line_.Start("exec");
  line_.Number("id", exec.id.value);
  line_.Number("graph", exec.graph.value);
  line_.Hex("handle", call.exec);
  if (call.flags != 0) line_.Number("flags", call.flags);
  if (call.tool_id != 0) line_.Number("tool_id", call.tool_id);
  WriteToolIds(thread);
  Ref("stack", call.stack);
  Time(call);
  Write();
}

// What CUPTI calls the exec's nodes: runs of nodes and of ids that follow one another.
void Recorder::WriteToolIds(ThreadState& thread) {
  if (thread.exec_nodes.empty()) return;
  std::vector<ToolIdRun> runs;
  for (const ExecNode& made : thread.exec_nodes) {
    NodeInfo* node = made.tool_id != 0 ? nodes_.Find(made.original) : nullptr;
    if (node != nullptr) AppendToolId(runs, node->id, made.tool_id);
  }
  thread.exec_nodes = {};  // not needed again soon, and as many as the graph has nodes
  if (runs.empty()) return;
  line_.OpenArray("node_ids");
  for (const ToolIdRun& run : runs) {
    line_.OpenInner();
    line_.Item(run.first.value);
    line_.Item(run.count);
    line_.Item(run.tool_id >> 32);
    line_.Item(run.tool_id & 0xffffffffu);
    line_.CloseArray();
  }
  line_.CloseArray();
}

void Recorder::OnExecUpdate(ThreadState& thread, const Call& call, int32_t result) {
  ExecInfo* exec = execs_.Find(call.exec);
  if (exec == nullptr) return;
  GraphInfo* graph = GraphOf(call.graph);
  line_.Start("exec_updated");
  line_.Number("exec", exec->id.value);
  line_.Number("graph", graph->id.value);
  constexpr uint64_t kFailed = 1;
  const uint64_t outcome = result != 0 && call.flags == 0 ? kFailed : call.flags;
  if (outcome != 0) line_.Number("result", outcome);
  Time(call);
  Write();
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
  line_.Start("launch");
  line_.Number("exec", exec->id.value);
  line_.Number("stream", stream->id.value);
  if (call.correlation != 0) line_.Number("correlation", call.correlation);
  Time(call);
  Write(&RecordCounts::launches);
}

}  // namespace graphkit
