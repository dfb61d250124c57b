// The graph events of one call: new graphs, new nodes with what they depend on, new edges.
#include <algorithm>
#include <unordered_map>

#include "plugins/cupti_tracer/recorder/recorder.h"

namespace graphkit {

void Recorder::ApplyEvents(ThreadState& thread, const Call& call) {
  if (thread.events.empty()) return;
  const bool makes = call.result == 0 && !Is(call.kind, KindRow::kInternal);
  copies_.Clear();
  if (makes) copies_.Collect(call, thread.events);
  if (copies_.IsUnknown(call, thread.events)) {
    records_.WriteNote(
        "what the nodes of a graph that was launched into a capture do isn't known: CUPTI "
        "didn't say what they were made of");
  }
  if (!copies_.empty()) {
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

// The events of a call that makes graphs, graph by graph: a graph that a node embeds is recorded
// after that node, and before its own nodes.
void Recorder::ApplyByGraph(ThreadState& thread, const Call& call) {
  std::unordered_map<uint64_t, std::vector<GraphEvent>> by_graph;
  for (const GraphEvent& event : thread.events) by_graph[event.graph].push_back(event);
  size_t next = 0;
  auto apply_open = [&] {
    for (; next < copies_.order().size(); ++next) {
      const auto events = by_graph.extract(copies_.order()[next]);
      if (events.empty()) continue;
      for (const GraphEvent& event : events.mapped()) ApplyEvent(thread, call, event);
      Flush(thread, call);
    }
  };
  const uint64_t target = copies_.TargetOf(call, thread.events);
  if (target != 0 && !copies_.IsMade(target)) copies_.AddToOrder(target);
  if (Copies::Graph* made = copies_.Made(target)) OnGraphCreated(call, *made);
  apply_open();
  for (Copies::Graph& made : copies_.made()) {
    if (made.claimed) continue;
    OnGraphCreated(call, made);
    apply_open();
  }
  for (const GraphEvent& event : thread.events) {
    if (by_graph.contains(event.graph)) ApplyEvent(thread, call, event);
  }
  Flush(thread, call);
}

void Recorder::OnGraphCreated(const Call& call, Copies::Graph& made) {
  made.claimed = true;
  copies_.AddToOrder(made.handle);
  const bool clone = call.kind == CallKind::kGraphClone;
  graphs_.Add({.handle = made.handle,
               .origin = clone ? GraphOrigin::kClone : GraphOrigin::kExplicit,
               .tool_id = made.tool_id,
               .original = clone ? graphs_.IdOf(call.original) : GraphId()});
}

void Recorder::LooseEvents(ThreadState& thread, uint64_t time) {
  std::erase_if(thread.events,
                [this](const GraphEvent& e) { return graphs_.Find(e.graph) == nullptr; });
  Call call;
  call.time = time;
  ApplyEvents(thread, call);
}

void Recorder::ApplyEvent(ThreadState& thread, const Call& call, const GraphEvent& event) {
  switch (event.kind) {
    case GraphEventKind::kNodeStarting:
      Flush(thread, call);
      draft_.open = true;
      draft_.handle = event.node;
      draft_.graph = event.graph;
      draft_.kind = static_cast<NodeKind>(event.node_type);
      draft_.dependencies.clear();
      return;
    case GraphEventKind::kDependencyCreated:
      return OnDependency(thread, call, event);
    case GraphEventKind::kDependencyDestroyed:
      return graphs_.RemoveEdge(event);
    case GraphEventKind::kGraphCreated:  // copies_ has seen them
    case GraphEventKind::kGraphCloned:
    case GraphEventKind::kNodeCloned:
    case GraphEventKind::kNodeCreated:
      return;
  }
}

void Recorder::OnDependency(ThreadState& thread, const Call& call, const GraphEvent& event) {
  if (draft_.open && event.node == draft_.handle) {
    draft_.dependencies.push_back(event.dependency);
    return;
  }
  Flush(thread, call);
  const NodeInfo* from = graphs_.FindNode(event.dependency);
  const NodeInfo* to = graphs_.FindNode(event.node);
  if (from == nullptr || to == nullptr) return;
  graphs_.AddEdge(graphs_.Find(event.graph), to->id,
                  EdgeData(call, nullptr, event.dependency, event.node, *from, to->kind));
}

}  // namespace graphkit
