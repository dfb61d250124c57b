// What is taken away: streams, events, execs, pools, memory, nodes, graphs with all in them.
//
// The driver may give out a handle again as soon as it has let go of it, which is before the call
// that takes it away returns:
//
//     thread A   |-- cuEventDestroy(e) --------------------|
//     thread B                  |-- cuEventCreate -> e --|
//
// So what the handle stands for is noted when A's call begins, and ended when it returns, unless it
// has ended before: when B's call returned, which says that the handle is another's (`derived`). A
// call that fails ends nothing, and what it was to end was there throughout.
//
// Of graphs CUPTI says when the destruction begins. They end there, so that the handles of their
// nodes stand for nothing while they may be given to nodes of CUDA's own, which aren't announced.
#include <algorithm>
#include <optional>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

// The key of the graphs inside a node.
uint64_t InnerKey(NodeId node) { return uint64_t{node.value} + 1; }

bool HoldsGraphs(NodeKind kind) {
  return kind == NodeKind::kChildGraph || kind == NodeKind::kConditional;
}

// What a call takes away when it succeeds.
std::optional<Going> TakenBy(const Call& call) {
  using What = Going::What;
  switch (call.kind) {
    case CallKind::kStreamDestroy:
      return Going{What::kStream, call.stream};
    case CallKind::kEventDestroy:
      return Going{What::kEvent, call.event};
    case CallKind::kExecDestroy:
      return Going{What::kExec, call.exec};
    case CallKind::kPoolDestroy:
      return Going{What::kPool, call.pool};
    case CallKind::kGraphDestroy:
      return Going{What::kGraph, call.graph};
    case CallKind::kDestroyNode:
      return Going{What::kNode, call.node};
    case CallKind::kFree:
      return Going{What::kMemory, call.address};
    default:
      return {};
  }
}

}  // namespace

// The id of what a handle or an address stands for now.
uint32_t Recorder::IdOf(Going::What what, uint64_t handle) {
  auto pointed = [](auto* info) { return info != nullptr ? (*info)->id.value : Going::kNobody; };
  auto direct = [](auto* info) { return info != nullptr ? info->id.value : Going::kNobody; };
  switch (what) {
    case Going::What::kStream:
      return pointed(streams_.Find(handle));
    case Going::What::kEvent:
      return pointed(events_.Find(handle));
    case Going::What::kExec:
      return direct(execs_.Find(handle));
    case Going::What::kPool: {
      const PoolId* pool = pools_.Find(handle);
      return pool != nullptr ? pool->value : Going::kNobody;
    }
    case Going::What::kGraph:
      return pointed(graphs_.Find(handle));
    case Going::What::kNode:
      return direct(nodes_.Find(handle));
    case Going::What::kMemory: {
      const auto entry = live_.At(LiveMemory::kDriver, handle);
      return entry ? entry->block.value : Going::kNobody;
    }
  }
  return Going::kNobody;
}

void Recorder::Enter(ThreadState& thread, const Call& call) {
  std::optional<Going> taken = TakenBy(call);
  if (!taken) return;
  taken->id = IdOf(taken->what, taken->handle);
  thread.going.push_back(*taken);
  if (taken->id == Going::kNobody) return;
  if (taken->what == Going::What::kMemory) {
    live_.Edit(LiveMemory::kDriver, taken->handle)->freed_on = KnownStream(thread, call);
  }
}

// The end of a call: of what it took away, if it did and that is still there.
void Recorder::EndTaken(ThreadState& thread, const Call& call, bool succeeded) {
  const std::optional<Going> taken = TakenBy(call);
  if (!taken) return;
  auto& going = thread.going;
  const auto own = std::find_if(going.rbegin(), going.rend(), [&](const Going& noted) {
    return noted.what == taken->what && noted.handle == taken->handle;
  });
  if (own == going.rend()) return;
  const Going noted = *own;
  going.erase(std::next(own).base(), going.end());
  if (noted.id == Going::kNobody || IdOf(noted.what, noted.handle) != noted.id) return;
  if (succeeded) End(thread, call, noted);
}

void Recorder::End(ThreadState& thread, const Call& call, const Going& going) {
  switch (going.what) {
    case Going::What::kStream:
      return EndStream(going.handle, Source::kCallback);
    case Going::What::kEvent:
      return EndEvent(going.handle, Source::kCallback);
    case Going::What::kExec:
      return EndExec(going.handle, call.time, Source::kCallback);
    case Going::What::kPool:
      return EndPool(going.handle, Source::kCallback);
    case Going::What::kGraph:
      return EndGraph(going.handle, Source::kCallback);
    case Going::What::kNode:
      return EndNode(going.handle, Source::kCallback);
    case Going::What::kMemory:
      return EndBlock(thread, call);
  }
}

void Recorder::EndStream(uint64_t key, Source source) {
  auto* stream = streams_.Find(key);
  if (stream == nullptr) return;
  LeaveCapture(**stream);
  WriteEnd<StreamDestroyedRecord>((*stream)->id, source);
  streams_.Erase(key);
}

void Recorder::EndEvent(uint64_t handle, Source source) {
  auto* event = events_.Find(handle);
  if (event == nullptr) return;
  WriteEnd<EventDestroyedRecord>((*event)->id, source);
  events_.Erase(handle);
}

void Recorder::EndExec(uint64_t handle, uint64_t time, Source source) {
  const ExecInfo* exec = execs_.Find(handle);
  if (exec == nullptr) return;
  WriteEnd<ExecDestroyedRecord>(exec->id, source, time);
  execs_.Erase(handle);
}

void Recorder::EndPool(uint64_t handle, Source source) {
  const PoolId* pool = pools_.Find(handle);
  if (pool == nullptr) return;
  WriteEnd<PoolDestroyedRecord>(*pool, source);
  pools_.Erase(handle);
}

void Recorder::OnGraphDestroyed(ThreadState& thread, uint64_t graph) {
  // What the same call had made is not the program's.
  std::erase_if(thread.events, [graph](const GraphEvent& event) { return event.graph == graph; });
  SwapSpace(thread);
  const uint32_t id = IdOf(Going::What::kGraph, graph);
  // That of a capture goes when the capture ends, which failed: the call says more when it returns.
  const auto open = std::find_if(captures_.begin(), captures_.end(),
                                 [id](const auto& capture) { return capture->graph.value == id; });
  if (open == captures_.end()) {
    EndGraph(graph, Source::kCallback);
  } else {
    (*open)->discarded = Detach(graph);
  }
  SwapSpace(thread);
}

void Recorder::EndGraph(uint64_t handle, Source source) {
  const GraphInfo* graph = FindGraph(handle);
  if (graph == nullptr) return;
  WriteGraphEnd(graph->id, source);
  Detach(handle);
}

// The graph leaves the tables, with its nodes; the graphs that are in them end.
GraphId Recorder::Detach(uint64_t handle) {
  auto& known = *graphs_.Find(handle);
  const std::unique_ptr<GraphInfo> graph = std::move(known);
  graphs_.Erase(handle);
  EndNodes(*graph, false);
  return graph->id;
}

// Nodes that don't go with their graph are `told`: each has a record of its end.
void Recorder::EndNodes(GraphInfo& graph, bool told) {
  for (uint64_t handle : graph.nodes) {
    const NodeInfo* node = nodes_.Find(handle);
    if (node == nullptr || node->graph != graph.id) continue;  // gone, or another's by now
    const NodeId id = node->id;
    const bool holds = HoldsGraphs(node->kind);
    nodes_.Erase(handle);
    if (told) WriteEnd<NodeDestroyedRecord>(id, Source::kCallback);
    if (holds) EndInnerGraphs(id);
  }
  graph.nodes.clear();
  graph.edges.clear();
  graph.edge_data.Clear();
}

void Recorder::EndNode(uint64_t handle, Source source) {
  const NodeId id = nodes_.Find(handle)->id;
  nodes_.Erase(handle);
  WriteEnd<NodeDestroyedRecord>(id, source);
  EndInnerGraphs(id);
}

// A node that is made has the handle of another: that one is gone, by a call that has not returned
// yet (its own end, or that of a capture into a body that fails), or unseen.
void Recorder::GiveNodeHandle(uint64_t handle) {
  if (nodes_.Find(handle) != nullptr) EndNode(handle, Source::kDerived);
}

void Recorder::AddInnerGraph(NodeId node, uint64_t handle, GraphId id) {
  auto* inner = inner_graphs_.Find(InnerKey(node));
  if (inner == nullptr) inner = &inner_graphs_.Insert(InnerKey(node), {});
  inner->push_back({handle, id});
}

void Recorder::EndInnerGraphs(NodeId node) {
  auto* known = inner_graphs_.Find(InnerKey(node));
  if (known == nullptr) return;
  const std::vector<InnerGraph> inner = std::move(*known);
  inner_graphs_.Erase(InnerKey(node));
  for (const InnerGraph& graph : inner) {
    const bool there = IdOf(Going::What::kGraph, graph.handle) == graph.id.value;
    if (there) EndGraph(graph.handle, Source::kCallback);
  }
}

}  // namespace graphkit
