#include "plugins/cupti_tracer/recorder/graphs.h"

#include <algorithm>

namespace graphkit {
namespace {

bool HoldsGraphs(NodeKind kind) {
  return kind == NodeKind::kChildGraph || kind == NodeKind::kConditional;
}

}  // namespace

GraphInfo* Graphs::Find(uint64_t handle) const {
  const auto* known = graphs_.Find(handle);
  return known != nullptr ? known->get() : nullptr;
}

GraphInfo& Graphs::Add(const NewGraph& made) {
  End(made.handle, Source::kDerived);
  GraphInfo& graph = *graphs_.Insert(made.handle, std::make_unique<GraphInfo>());
  graph.id = GraphId(next_graph_++);
  graph.handle = made.handle;
  if (made.parent) Embed(graph, made.parent);
  GraphRecord r;
  r.id = graph.id;
  r.row.origin = made.origin;
  r.row.original = made.original;
  r.row.parent = made.parent;
  r.row.body = made.body;
  r.row.handle = made.handle;
  r.row.tool_id = made.tool_id;
  r.row.name = records_.Add(made.name);
  records_.Counted(records_.Write(r), &RecordCounts::graphs);
  return graph;
}

void Graphs::SetHandle(GraphInfo& graph, uint64_t handle) {
  auto owned = std::move(*graphs_.Find(graph.handle));
  graphs_.Erase(graph.handle);
  graph.handle = handle;
  graphs_.Insert(handle, std::move(owned));
}

void Graphs::Embed(GraphInfo& graph, NodeId parent) {
  graph.parent = parent;
  auto* inner = inner_.Find(InnerKey(parent));
  if (inner == nullptr) inner = &inner_.Insert(InnerKey(parent), {});
  inner->push_back({graph.handle, graph.id});
}

NodeInfo& Graphs::AddNode(GraphInfo& graph, uint64_t handle, const NodeInfo& node) {
  // Another node that had the handle is gone, by a call that has not returned yet (its own end, or
  // that of a capture into a body that fails), or unseen.
  if (nodes_.Find(handle) != nullptr) EndNode(handle, Source::kDerived);
  if (graph.nodes.size() == graph.nodes.capacity() && graph.nodes_ended != nodes_ended_)
    ForgetEnded(graph);
  graph.nodes.push_back(handle);
  return nodes_.Insert(handle, node);
}

// Nodes that ended alone leave their handles in the graph's list, which is looked through before it
// grows: it stays as long as the graph, whatever comes and goes.
void Graphs::ForgetEnded(GraphInfo& graph) const {
  graph.nodes_ended = nodes_ended_;
  HandleMap<bool> kept;
  std::erase_if(graph.nodes, [&](uint64_t handle) {
    const NodeInfo* node = FindNode(handle);
    if (node == nullptr || node->graph != graph.id || kept.Find(handle) != nullptr) return true;
    kept.Insert(handle, true);
    return false;
  });
}

void Graphs::AddEdge(GraphInfo* graph, NodeId to, const FrontierEntry& from) {
  const EdgeId id(next_edge_++);
  EdgeRecord r;
  r.id = id;
  r.row.from = from.node;
  r.row.to = to;
  r.row.from_port = from.from_port;
  r.row.type = static_cast<EdgeType>(from.edge_type);
  records_.Counted(records_.Write(r), &RecordCounts::edges);
  if (graph == nullptr) return;
  graph->edges.Add(from.node, to, id);
  if (from.from_port != 0 || from.edge_type != 0) graph->edge_data.Insert(from.node, to, from);
}

void Graphs::RemoveEdge(const GraphEvent& event) {
  const NodeInfo* from = FindNode(event.dependency);
  const NodeInfo* to = FindNode(event.node);
  GraphInfo* graph = Find(event.graph);
  if (from == nullptr || to == nullptr || graph == nullptr) return;
  const EdgeId last = graph->edges.Take(from->id, to->id);
  if (!last.valid()) return;
  records_.WriteEnd<EdgeRemovedRecord>(last, Source::kCallback);
  graph->edge_data.Erase(from->id, to->id);
}

Frontier Graphs::EntriesOf(const std::vector<Dependency>& dependencies) const {
  Frontier entries;
  for (const Dependency& dependency : dependencies) {
    const NodeInfo* node = FindNode(dependency.from);
    if (node != nullptr) entries.push_back({node->id, dependency.from_port, dependency.type});
  }
  return entries;
}

void Graphs::End(uint64_t handle, Source source) {
  const GraphInfo* graph = Find(handle);
  if (graph == nullptr) return;
  WriteEnd(graph->id, source);
  Detach(handle);
}

GraphId Graphs::Detach(uint64_t handle) {
  const std::unique_ptr<GraphInfo> graph = std::move(*graphs_.Find(handle));
  graphs_.Erase(handle);
  EndNodes(*graph, false);
  return graph->id;
}

void Graphs::EndNodes(GraphInfo& graph, bool told) {
  for (uint64_t handle : graph.nodes) {
    const NodeInfo* node = FindNode(handle);
    if (node == nullptr || node->graph != graph.id) continue;  // gone, or another's by now
    const NodeId id = node->id;
    const bool holds = HoldsGraphs(node->kind);
    nodes_.Erase(handle);
    if (told) records_.WriteEnd<NodeDestroyedRecord>(id, Source::kCallback);
    if (holds) EndInner(id);
  }
  graph.nodes.clear();
  graph.edges.Clear();
  graph.edge_data.Clear();
}

void Graphs::EndNode(uint64_t handle, Source source) {
  const NodeId id = FindNode(handle)->id;
  nodes_.Erase(handle);
  ++nodes_ended_;
  records_.WriteEnd<NodeDestroyedRecord>(id, source);
  EndInner(id);
}

size_t Graphs::size() const {
  size_t handles = 0;
  graphs_.ForEach([&](uint64_t, const auto& graph) { handles += graph->nodes.size(); });
  return graphs_.size() + nodes_.size() + inner_.size() + handles;
}

void Graphs::EndInner(NodeId node) {
  auto* known = inner_.Find(InnerKey(node));
  if (known == nullptr) return;
  const std::vector<InnerGraph> inner = std::move(*known);
  inner_.Erase(InnerKey(node));
  for (const InnerGraph& graph : inner) {
    if (IdOf(graph.handle) == graph.id) End(graph.handle, Source::kCallback);
  }
}

}  // namespace graphkit
