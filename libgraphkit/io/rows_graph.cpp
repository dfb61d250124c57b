#include <algorithm>

#include "libgraphkit/io/record_graph.h"
#include "libgraphkit/io/record_rows.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

void PutGraphs(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.graphs.size(); ++i) places.Put(trace.graphs[i].created, i);
}

void PrintGraph(PlacePrinter& to, uint32_t index) {
  const Graph& graph = to.trace.graphs[index];
  GraphRecord r;
  r.id = GraphId(index);
  r.origin = graph.origin;
  r.original = graph.original;
  // A node that follows names the graph itself.
  if (graph.parent && to.trace[graph.parent].seq < graph.created) {
    r.parent = graph.parent;
    r.body = graph.body;
  }
  r.handle = graph.handle;
  r.tool_id = graph.tool_id;
  r.name = to.trace[graph.name];
  to.Print(r);
}

void PutDestroyedGraphs(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.graphs.size(); ++i) places.Put(trace.graphs[i].destroyed, i);
}

void PrintDestroyedGraph(PlacePrinter& to, uint32_t index) {
  GraphDestroyedRecord r;
  r.graph = GraphId(index);
  to.Print(r);
}

void PutNodes(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.nodes.size(); ++i) places.Put(trace.nodes[i].seq, i);
}

// The graphs inside the node, as far as their bodies count from 0.
std::span<const GraphId> HeldGraphs(const PlacePrinter& to, NodeId node) {
  const auto found = to.held_graphs.find(node);
  if (found == to.held_graphs.end()) return {};
  size_t count = 0;
  for (const GraphId graph : found->second) {
    if (to.trace[graph].body != count) break;
    ++count;
  }
  return std::span(found->second).first(count);
}

template <typename Record>
void SetShape(const Trace& trace, uint32_t index, Record& r) {
  if (index >= trace.shapes.size()) return;
  const LaunchShape& shape = trace.shapes[index];
  std::ranges::copy(shape.grid, r.grid.begin());
  std::ranges::copy(shape.block, r.block.begin());
  r.shared = shape.shared_bytes;
}

// What a node was made to do.
template <typename Made>
void SetWork(const Trace& trace, const Made& made, NodeRecord& r) {
  r.kernel = made.kernel;
  SetShape(trace, made.shape, r);
  r.event = made.event;
  r.access = PlacePrinter::Of(trace.accesses, made.accesses);
  r.complete = made.accesses_complete;
}

void SetMade(const Trace& trace, NodeId id, NodeRecord& r) {
  const ChangedNode* changed = FindChanged(trace, id);
  return changed != nullptr ? SetWork(trace, *changed, r) : SetWork(trace, trace[id], r);
}

void PrintNode(PlacePrinter& to, uint32_t index) {
  const Node& node = to.trace.nodes[index];
  const std::span<const GraphId> held = HeldGraphs(to, NodeId(index));
  NodeRecord r;
  r.source = node.source;
  r.id = NodeId(index);
  r.graph = node.graph;
  r.kind = node.kind;
  r.stream = node.stream;
  r.thread = node.thread;
  r.stack = node.stack;
  r.duration_ns = node.duration_ns;
  SetMade(to.trace, NodeId(index), r);
  if (node.kind == NodeKind::kChildGraph && !held.empty()) r.child = held[0];
  r.memory = node.block;
  r.has_conditional =
      node.kind == NodeKind::kConditional && node.conditional != ConditionalType::kUnknown;
  r.conditional = node.conditional;
  if (node.kind == NodeKind::kConditional) r.bodies = held;
  to.Print(r);
}

void PutNodeChanges(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.node_changes.size(); ++i) places.Put(trace.node_changes[i].seq, i);
}

void PrintNodeChange(PlacePrinter& to, uint32_t index) {
  const NodeChange& change = to.trace.node_changes[index];
  NodeSetRecord r;
  r.node = change.node;
  r.exec = change.exec;
  r.what = change.what;
  r.kernel = change.kernel;
  SetShape(to.trace, change.shape, r);
  r.child = change.child;
  r.event = change.event;
  r.access = PlacePrinter::Of(to.trace.accesses, change.accesses);
  r.complete = change.accesses_complete;
  to.Print(r);
}

void PutDestroyedNodes(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.nodes.size(); ++i) places.Put(trace.nodes[i].destroyed, i);
}

void PrintDestroyedNode(PlacePrinter& to, uint32_t index) {
  NodeDestroyedRecord r;
  r.node = NodeId(index);
  to.Print(r);
}

void PutEdges(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.edges.size(); ++i) places.Put(trace.edges[i].seq, i);
}

void PrintEdge(PlacePrinter& to, uint32_t index) {
  const Edge& edge = to.trace.edges[index];
  EdgeRecord r;
  r.source = edge.source;
  r.id = EdgeId(index);
  r.from = edge.from;
  r.to = edge.to;
  r.from_port = edge.from_port;
  r.to_port = edge.to_port;
  r.edge_type = edge.type;
  to.Print(r);
}

void PutRemovedEdges(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.edges.size(); ++i) places.Put(trace.edges[i].removed, i);
}

void PrintRemovedEdge(PlacePrinter& to, uint32_t index) {
  EdgeRemovedRecord r;
  r.edge = EdgeId(index);
  to.Print(r);
}

void PutExecs(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.execs.size(); ++i) places.Put(trace.execs[i].created, i);
}

void PrintExec(PlacePrinter& to, uint32_t index) {
  const Exec& exec = to.trace.execs[index];
  ExecRecord r;
  r.id = ExecId(index);
  r.graph = exec.graph;
  r.handle = exec.handle;
  r.flags = exec.flags;
  r.tool_id = exec.tool_id;
  r.node_ids = PlacePrinter::Of(to.trace.tool_id_runs, exec.node_ids);
  r.stack = exec.stack;
  to.Print(r);
}

void PutDestroyedExecs(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.execs.size(); ++i) places.Put(trace.execs[i].destroyed, i);
}

void PrintDestroyedExec(PlacePrinter& to, uint32_t index) {
  ExecDestroyedRecord r;
  r.exec = ExecId(index);
  to.Print(r);
}

void PutUpdates(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.exec_updates.size(); ++i) places.Put(trace.exec_updates[i].seq, i);
}

void PrintUpdate(PlacePrinter& to, uint32_t index) {
  const ExecUpdate& update = to.trace.exec_updates[index];
  ExecUpdatedRecord r;
  r.exec = update.exec;
  r.graph = update.graph;
  r.result = update.result;
  to.Print(r);
}

void PutLaunches(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.launches.size(); ++i) places.Put(trace.launches[i].seq, i);
}

void PrintLaunch(PlacePrinter& to, uint32_t index) {
  const Launch& launch = to.trace.launches[index];
  LaunchRecord r;
  r.exec = launch.exec;
  r.stream = launch.stream;
  r.correlation = launch.correlation;
  to.Print(r);
}

void PutWorks(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.works.size(); ++i) places.Put(trace.works[i].seq, i);
}

void PrintWork(PlacePrinter& to, uint32_t index) {
  const EagerWork& work = to.trace.works[index];
  WorkRecord r;
  r.kind = work.kind;
  r.stream = work.stream;
  r.thread = work.thread;
  r.stack = work.stack;
  r.kernel = work.kernel;
  SetShape(to.trace, work.shape, r);
  r.access = PlacePrinter::Of(to.trace.accesses, work.accesses);
  r.complete = work.accesses_complete;
  to.Print(r);
}

constexpr RecordRow kGraphRows[] = {
    {PutGraphs, PrintGraph},    {PutDestroyedGraphs, PrintDestroyedGraph},
    {PutNodes, PrintNode},      {PutDestroyedNodes, PrintDestroyedNode},
    {PutEdges, PrintEdge},      {PutRemovedEdges, PrintRemovedEdge},
    {PutExecs, PrintExec},      {PutDestroyedExecs, PrintDestroyedExec},
    {PutUpdates, PrintUpdate},  {PutNodeChanges, PrintNodeChange},
    {PutLaunches, PrintLaunch}, {PutWorks, PrintWork},
};

}  // namespace

std::span<const RecordRow> GraphRows() { return kGraphRows; }

}  // namespace graphkit
