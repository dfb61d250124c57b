// What a call makes of something that is there already: clones, embedded graphs, execs. Their nodes
// do what their sources do at that time, with the parameters set since these were made.
#include <algorithm>
#include <unordered_map>

#include "libgraphkit/io/record/field_reader.h"
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

constexpr uint64_t kNoPlace = ~uint64_t{0};

}  // namespace

// Notes what the events of the call say of graphs and nodes that it makes, whatever their order.
void Recorder::CollectMade(const ThreadState& thread, const Call& call) {
  for (const GraphEvent& event : thread.events) {
    if (event.kind != GraphEventKind::kGraphCreated) continue;
    made_.Insert(event.graph, static_cast<uint32_t>(embedded_.size()));
    embedded_.push_back({event.graph, event.original_graph, event.tool_id, false});
  }
  if (embedded_.empty()) return;
  ExecInfo* exec = call.kind == CallKind::kGraphLaunch ? execs_.Find(call.exec) : nullptr;
  HandleMap<uint32_t> exec_nodes;  // places in exec->nodes
  for (uint32_t i = 0; exec != nullptr && i < exec->nodes.size(); ++i) {
    exec_nodes.Insert(exec->nodes[i].handle, i);
  }
  for (const GraphEvent& event : thread.events) {
    EmbeddedGraph* made = Made(event.graph);
    if (made == nullptr) continue;
    const bool cloned = event.kind == GraphEventKind::kNodeCloned;
    if (cloned) OnNodeCloned(event, exec, exec_nodes);
    if (cloned || event.kind == GraphEventKind::kGraphCloned) made->original = event.original_graph;
  }
  if (call.kind == CallKind::kGraphLaunch) NoteUnknownNodes(thread, exec);
}

void Recorder::OnNodeCloned(const GraphEvent& event, ExecInfo* exec,
                            HandleMap<uint32_t>& exec_nodes) {
  if (const uint32_t* at = exec_nodes.Find(event.original_node)) {
    const ExecNodeInfo& node = exec->nodes[*at];
    CloneInfo& clone = clones_.Insert(event.node, {node.source, node.now, &exec->edge_data});
    if (exec->unseen_update) clone.original.place = kNoPlace;
    return;
  }
  const NodeInfo* node = nodes_.Find(event.original_node);
  if (node == nullptr) return;
  GraphInfo* graph = FindGraph(event.original_graph);
  clones_.Insert(event.node, {node->id, *node, graph != nullptr ? &graph->edge_data : nullptr});
}

// A graph that is launched into a capture is what its exec is: of one that was made, or updated,
// without a word of CUPTI's that isn't known.
void Recorder::NoteUnknownNodes(const ThreadState& thread, const ExecInfo* exec) {
  const bool known = std::all_of(thread.events.begin(), thread.events.end(), [&](auto& event) {
    return event.kind != GraphEventKind::kNodeStarting || Made(event.graph) == nullptr ||
           clones_.Find(event.node) != nullptr;
  });
  if (known && exec != nullptr && !exec->unseen_update) return;
  WriteNote(
      "what the nodes of a graph that was launched into a capture do isn't known: CUPTI "
      "didn't say what they were made of");
}

Recorder::EmbeddedGraph* Recorder::Made(uint64_t handle) {
  const uint32_t* at = made_.Find(handle);
  return at != nullptr ? &embedded_[*at] : nullptr;
}

// The graph that the call itself works on: one that is there, or the clone that it makes.
uint64_t Recorder::TargetOf(const ThreadState& thread, const Call& call) {
  if (call.graph != 0) return call.graph;
  if (call.kind == CallKind::kGraphClone) return embedded_.front().handle;
  for (const GraphEvent& event : thread.events) {
    if (event.kind == GraphEventKind::kNodeStarting && Made(event.graph) == nullptr &&
        FindGraph(event.graph) != nullptr) {
      return event.graph;
    }
  }
  return 0;
}

// The events of a call that makes graphs, graph by graph: a graph that a node embeds is recorded
// after that node, and before its own nodes.
void Recorder::ApplyByGraph(ThreadState& thread, const Call& call) {
  std::unordered_map<uint64_t, std::vector<GraphEvent>> by_graph;
  for (const GraphEvent& event : thread.events) by_graph[event.graph].push_back(event);
  size_t next = 0;
  auto apply_open = [&] {
    for (; next < in_order_.size(); ++next) {
      const auto events = by_graph.extract(in_order_[next]);
      if (events.empty()) continue;
      for (const GraphEvent& event : events.mapped()) ApplyEvent(thread, call, event);
      Flush(thread, call);
    }
  };
  const uint64_t target = TargetOf(thread, call);
  if (target != 0 && Made(target) == nullptr) in_order_.push_back(target);
  if (EmbeddedGraph* made = Made(target)) OnGraphCreated(call, *made);
  apply_open();
  for (size_t i = 0; i < embedded_.size(); ++i) {
    if (embedded_[i].claimed) continue;
    OnGraphCreated(call, embedded_[i]);
    apply_open();
  }
  for (const GraphEvent& event : thread.events) {
    if (by_graph.contains(event.graph)) ApplyEvent(thread, call, event);
  }
  Flush(thread, call);
}

// Of an edge between two clones: the data of the edge between what they were made of; null: that is
// a full one, or they are no clones.
const FrontierEntry* Recorder::ClonedData(uint64_t from, uint64_t to) {
  if (clones_.size() == 0) return nullptr;
  CloneInfo* producer = clones_.Find(from);
  CloneInfo* consumer = clones_.Find(to);
  if (producer == nullptr || consumer == nullptr || consumer->edges == nullptr) return nullptr;
  return consumer->edges->Find(EdgeKey(producer->source, consumer->source));
}

// Takes over what the record of a node, or of its last parameters, says of its work. False: it
// isn't known.
bool Recorder::ReadWork(const NodeInfo& node, NodeRecord& r) {
  if (node.place == kNoPlace) return false;
  std::string line(sink_.Read(node.place));
  line += '\n';
  line.resize(line.size() + kLinePadding);
  LooseValues values;
  FieldReader fields(JsonCursor(line.data()), values);
  std::string_view type;
  if (!fields.TakeNext("type", type)) return false;
  if (type == NodeRecord::kType) {
    fields.Read(r);
  } else {
    NodeSetRecord set;
    fields.Read(set);
    if (set.row.what != NodeChangeKind::kParams) return false;
    r.row.kernel = set.row.kernel;
    r.row.event = set.row.event;
    r.row.accesses = set.row.accesses;
    r.row.accesses_complete = set.row.accesses_complete;
    r.shape = set.shape;
  }
  const std::span<const Access> accesses = values.Of(r.row.accesses, &Trace::accesses);
  const std::span<const Collective> collectives = values.Of(r.collectives, &Trace::collectives);
  found_.assign(accesses.begin(), accesses.end());
  found_collectives_.assign(collectives.begin(), collectives.end());
  return true;
}

// What else a clone has of its original.
void Recorder::WriteInherited(const Call& call, NodeInfo& node, const NodeInfo& original) {
  if (original.updatable) WriteUpdatable(call, node);
  if (!original.off) return;
  NodeSetRecord r;
  r.row.node = node.id;
  r.row.what = NodeChangeKind::kDisabled;
  Write(call, r);
}

void Recorder::Claim(EmbeddedGraph& graph) {
  graph.claimed = true;
  claimed_.push_back(graph);
  in_order_.push_back(graph.handle);
}

// Chooses, among the graphs that were made in this call, those that the node at hand embeds. Their
// records follow the node's, in this order, so their ids are known before.
void Recorder::ClaimGraphs(const Call& call, bool of_call) {
  claimed_.clear();
  const bool conditional = fresh_.kind == NodeKind::kConditional;
  if (conditional && of_call) return ClaimBodies(call);
  if (const CloneInfo* clone = clones_.Find(fresh_.handle)) {
    for (EmbeddedGraph& graph : embedded_) {
      const bool holds = !graph.claimed && HolderOf(graph.original, call) == clone->source;
      if (holds) Claim(graph);
    }
  }
  if (conditional || !claimed_.empty() || MovedGraph(call, of_call) != nullptr) return;
  const uint64_t launched = call.kind == CallKind::kGraphLaunch ? call.exec : call.original;
  auto free = [](const EmbeddedGraph& graph) { return !graph.claimed; };
  auto best = std::find_if(embedded_.begin(), embedded_.end(), [&](const EmbeddedGraph& graph) {
    return free(graph) && of_call && launched != 0 && graph.original == launched;
  });
  if (best == embedded_.end()) best = std::find_if(embedded_.begin(), embedded_.end(), free);
  if (best != embedded_.end()) Claim(*best);
}

void Recorder::ClaimBodies(const Call& call) {
  for (uint32_t i = 0; i < call.body_count; ++i) {
    EmbeddedGraph unseen{call.bodies[i], 0, 0, true};
    EmbeddedGraph* made = Made(call.bodies[i]);
    Claim(made != nullptr ? *made : unseen);
  }
}

// The node that holds a graph of which the call makes a copy.
NodeId Recorder::HolderOf(uint64_t graph, const Call& call) {
  ExecInfo* exec = call.kind == CallKind::kGraphLaunch ? execs_.Find(call.exec) : nullptr;
  if (const ExecGraphInfo* inner = exec != nullptr ? FindExecGraph(*exec, graph) : nullptr) {
    return inner->parent;
  }
  const GraphInfo* known = FindGraph(graph);
  return known != nullptr ? known->parent : NodeId();
}

// The user's graph of which the call makes a copy.
GraphId Recorder::SourceOf(uint64_t graph, const Call& call, bool of_call) {
  ExecInfo* exec = call.kind == CallKind::kGraphLaunch ? execs_.Find(call.exec) : nullptr;
  if (of_call && exec != nullptr) return exec->graph;
  if (const ExecGraphInfo* inner = exec != nullptr ? FindExecGraph(*exec, graph) : nullptr) {
    return inner->source;
  }
  const GraphInfo* known = FindGraph(graph);
  if (known == nullptr && of_call) known = FindGraph(call.original);
  return known != nullptr ? known->id : GraphId();
}

// The graph that the call's node takes over as it is; null: none.
Recorder::GraphInfo* Recorder::MovedGraph(const Call& call, bool of_call) {
  return of_call && call.moves_graph ? FindGraph(call.original) : nullptr;
}

// The graph that the child graph node at hand holds, whose record may follow.
GraphId Recorder::HeldGraph(const Call& call, bool of_call) {
  if (!claimed_.empty()) return GraphId(next_graph_);
  const GraphInfo* moved = MovedGraph(call, of_call);
  return moved != nullptr ? moved->id : GraphId();
}

void Recorder::WriteClaimedGraphs(const Call& call, NodeId parent, bool of_call) {
  const bool conditional = fresh_.kind == NodeKind::kConditional;
  const GraphOrigin origin = conditional ? GraphOrigin::kBody : GraphOrigin::kChild;
  for (uint32_t i = 0; i < claimed_.size(); ++i) {
    const bool is_new = conditional && of_call;
    const GraphId source = is_new ? GraphId() : SourceOf(claimed_[i].original, call, of_call);
    AddGraph(claimed_[i].handle, origin, claimed_[i].tool_id, source, parent, i);
  }
  claimed_.clear();
  if (GraphInfo* moved = MovedGraph(call, of_call)) {
    moved->parent = parent;
    AddInnerGraph(parent, moved->handle, moved->id);
  }
}

// What the nodes of an exec do, as long as their parameters are not set: what the graph's do now.
void Recorder::KeepExecNodes(const ThreadState& thread, ExecInfo& exec) {
  exec.nodes.reserve(thread.exec_nodes.size());
  for (const ExecNode& made : thread.exec_nodes) {
    const NodeInfo* node = nodes_.Find(made.original);
    if (node == nullptr) continue;
    exec.nodes.push_back({made.node, node->id, *node});
    GraphInfo* source = FindGraph(made.original_graph);
    if (source == nullptr || FindExecGraph(exec, made.graph) != nullptr) continue;
    exec.graphs.push_back({made.graph, source->id, source->parent});
    source->edge_data.ForEach(
        [&exec](uint64_t key, const FrontierEntry& data) { exec.edge_data.Insert(key, data); });
  }
  auto by_source = [](const ExecNodeInfo& a, const ExecNodeInfo& b) { return a.source < b.source; };
  if (std::is_sorted(exec.nodes.begin(), exec.nodes.end(), by_source)) return;
  std::sort(exec.nodes.begin(), exec.nodes.end(), by_source);
}

// Nodes of an exec take the parameters of other nodes. Before CUDA 13 CUPTI doesn't say which.
void Recorder::UpdateExecNodes(const ThreadState& thread, ExecInfo& exec) {
  if (thread.exec_nodes.empty()) exec.unseen_update = !exec.nodes.empty();
  HandleMap<uint32_t> by_handle;
  for (uint32_t i = 0; !thread.exec_nodes.empty() && i < exec.nodes.size(); ++i) {
    by_handle.Insert(exec.nodes[i].handle, i);
  }
  for (const ExecNode& updated : thread.exec_nodes) {
    const uint32_t* at = by_handle.Find(updated.node);
    const NodeInfo* from = nodes_.Find(updated.original);
    if (at == nullptr || from == nullptr) {
      exec.unseen_update = true;
      continue;
    }
    ExecNodeInfo& node = exec.nodes[*at];
    const bool off = node.now.off;
    node.now = *from;
    node.now.off = off;
  }
}

Recorder::ExecNodeInfo* Recorder::FindExecNode(ExecInfo& exec, NodeId source) {
  auto at = std::lower_bound(
      exec.nodes.begin(), exec.nodes.end(), source,
      [](const ExecNodeInfo& node, NodeId wanted) { return node.source < wanted; });
  return at != exec.nodes.end() && at->source == source ? &*at : nullptr;
}

const Recorder::ExecGraphInfo* Recorder::FindExecGraph(const ExecInfo& exec, uint64_t handle) {
  auto at = std::find_if(exec.graphs.rbegin(), exec.graphs.rend(),
                         [handle](const ExecGraphInfo& graph) { return graph.handle == handle; });
  return at != exec.graphs.rend() ? &*at : nullptr;
}

// Whether the graph that the exec has in this child graph node isn't empty.
bool Recorder::HasNodesInside(const ExecInfo& exec, NodeId holder) {
  return std::any_of(exec.graphs.begin(), exec.graphs.end(),
                     [holder](const ExecGraphInfo& graph) { return graph.parent == holder; });
}

}  // namespace graphkit
