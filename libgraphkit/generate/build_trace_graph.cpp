#include <unordered_map>

#include "libgraphkit/generate/build_trace.h"

namespace graphkit {
namespace {

bool IsKernel(const Trace& trace, NodeId node) { return trace[node].kind == NodeKind::kKernel; }

}  // namespace

uint32_t TraceBuilder::DefaultShape() {
  if (trace_.shapes.empty()) trace_.shapes.emplace_back();
  return 0;
}

Slice TraceBuilder::AddAccesses(Accesses accesses) {
  return accesses.empty() ? Slice{} : trace_.accesses.Append(accesses);
}

NodeId TraceBuilder::AddNode(graphkit::Node node, Accesses accesses) {
  if (node.kernel) node.shape = DefaultShape();
  node.accesses = AddAccesses(accesses);
  node.thread = thread_;
  node.stack = stack_;
  node.seq = Next();
  return Append<NodeId>(trace_.nodes, node);
}

// With the edges that capture makes: from each entry of the stream's frontier. A programmatic
// launch turns those that come from a kernel by a full edge into programmatic ones.
NodeId TraceBuilder::CaptureNode(StreamId stream, graphkit::Node node, Accesses accesses,
                                 bool programmatic) {
  Front& front = FrontOf(stream);
  node.graph = front.graph;
  node.stream = stream;
  const NodeId id = AddNode(node, accesses);
  for (const FrontierEntry& entry : front.entries) {
    const bool full = entry.from_port == kPortDefault && entry.edge_type == 0;
    if (programmatic && full && IsKernel(trace_, entry.node)) {
      Connect(entry.node, id, kPortProgrammatic, EdgeType::kProgrammatic);
    } else {
      Connect(entry.node, id, entry.from_port, static_cast<EdgeType>(entry.edge_type));
    }
  }
  wide_.Forget(stream.index(), front.entries);
  front.entries = {{.node = id}};
  return id;
}

NodeId TraceBuilder::Capture(StreamId stream, NodeKind kind, Accesses accesses) {
  const bool complete = kind == NodeKind::kMemcpy || kind == NodeKind::kMemset;
  return CaptureNode(stream, {.kind = kind, .accesses_complete = complete}, accesses);
}

KernelId TraceBuilder::FunctionNamed(std::string_view name) {
  const auto found = functions_.find(Intern(name).value);
  return found == functions_.end() ? Function(name) : found->second;
}

NodeId TraceBuilder::KernelWithEvent(StreamId stream, EventId event, uint8_t port,
                                     std::string_view name, AccessList accesses) {
  const NodeId id = Kernel(stream, name, accesses);
  const auto type = static_cast<uint8_t>(EdgeType::kProgrammatic);
  const std::vector<FrontierEntry> entries = {{.node = id, .from_port = port, .edge_type = type}};
  events_[event.index()] = {.graph = trace_[id].graph, .entries = entries};
  AddStreamOp({.kind = StreamOpKind::kEventRecord,
               .capturing = true,
               .has_entries = true,
               .stream = stream,
               .event = event,
               .entries = AppendAll<FrontierEntry>(trace_.frontier_entries, entries)});
  return id;
}

NodeId TraceBuilder::ChildGraph(StreamId stream, GraphId original) {
  const NodeId node = Capture(stream, NodeKind::kChildGraph);
  const GraphId clone = Graph({}, GraphOrigin::kChild);
  trace_.graphs[clone.index()].parent = node;
  trace_.graphs[clone.index()].original = original;
  CloneInto(clone, original);
  return node;
}

void TraceBuilder::CloneInto(GraphId clone, GraphId original) {
  std::unordered_map<uint32_t, NodeId> copies;
  const size_t nodes = trace_.nodes.size();
  const size_t edges = trace_.edges.size();
  for (size_t i = 0; i < nodes; ++i) {
    graphkit::Node node = trace_.nodes[i];
    if (node.graph != original || node.destroyed != kNever) continue;
    const AccessColumn::Range of_node = trace_.accesses.Of(node.accesses);
    const std::vector<Access> accesses(of_node.begin(), of_node.end());
    node.graph = clone;
    node.stream = {};
    copies.emplace(static_cast<uint32_t>(i), AddNode(node, accesses));
  }
  for (size_t i = 0; i < edges; ++i) {
    const Edge edge = trace_.edges[i];
    const auto from = copies.find(edge.from.value);
    if (from == copies.end() || edge.removed != kNever) continue;
    Connect(from->second, copies.at(edge.to.value), edge.from_port, edge.type);
  }
}

GraphId TraceBuilder::Graph(std::string_view name, GraphOrigin origin) {
  return Append<GraphId>(trace_.graphs, {.origin = origin,
                                         .created = Next(),
                                         .handle = 0x200000 + 0x10 * uint64_t{trace_.graphs.size()},
                                         .name = Intern(name)});
}

GraphId TraceBuilder::Body(NodeId conditional) {
  uint32_t body = 0;
  for (const graphkit::Graph& graph : trace_.graphs) body += graph.parent == conditional;
  const GraphId id = Graph({}, GraphOrigin::kBody);
  trace_.graphs[id.index()].parent = conditional;
  trace_.graphs[id.index()].body = body;
  return id;
}

GraphId TraceBuilder::Embedded(NodeId child) const {
  for (size_t i = 0; i < trace_.graphs.size(); ++i) {
    if (trace_.graphs[i].parent == child) return GraphId(i);
  }
  return {};
}

NodeId TraceBuilder::Add(GraphId graph, NodeKind kind, std::initializer_list<NodeId> dependencies,
                         AccessList accesses) {
  const bool kernel = kind == NodeKind::kKernel;
  const NodeId id = AddNode(
      {.graph = graph, .kind = kind, .kernel = kernel ? FunctionNamed("kernel") : KernelId()},
      accesses);
  for (NodeId dependency : dependencies) Connect(dependency, id);
  return id;
}

EdgeId TraceBuilder::Connect(NodeId from, NodeId to, uint8_t from_port, EdgeType type) {
  return Append<EdgeId>(
      trace_.edges, {.from = from, .to = to, .from_port = from_port, .type = type, .seq = Next()});
}

ExecId TraceBuilder::Instantiate(GraphId graph, uint64_t flags) {
  return Append<ExecId>(trace_.execs, {.graph = graph,
                                       .handle = 0x300000 + 0x10 * uint64_t{trace_.execs.size()},
                                       .flags = flags,
                                       .created = Next(),
                                       .stack = stack_});
}

void TraceBuilder::Change(NodeId node, ExecId exec, NodeChangeKind what, AccessList accesses,
                          bool same) {
  const bool kernel = what == NodeChangeKind::kParams && IsKernel(trace_, node);
  NodeChange change{.node = node,
                    .exec = exec,
                    .what = what,
                    .accesses = AddAccesses(accesses),
                    .seq = Next(),
                    .same = same};
  if (kernel) change.shape = DefaultShape();
  trace_.node_changes.push_back(change);
}

void TraceBuilder::AddWork(EagerWork work, Accesses accesses) {
  if (work.kernel) work.shape = DefaultShape();
  work.thread = thread_;
  work.accesses = AddAccesses(accesses);
  work.stack = stack_;
  work.seq = Next();
  trace_.works.push_back(work);
}

CommunicatorId TraceBuilder::Communicator(uint32_t ranks, uint32_t rank, uint64_t key) {
  trace_.communicators.push_back({.key = key, .ranks = ranks, .rank = rank, .created = Next()});
  return CommunicatorId(trace_.communicators.size() - 1);
}

void TraceBuilder::Collect(CommunicatorId communicator, CollectiveKind kind, uint64_t count,
                           ElementType type, int32_t peer) {
  const Seq node = trace_.nodes.empty() ? 0 : trace_.nodes.back().seq;
  const Seq work = trace_.works.empty() ? 0 : trace_.works.back().seq;
  trace_.collectives.push_back({std::max(node, work), communicator, kind, type, count, peer});
}

void TraceBuilder::TouchHost(HostMemoryKind kind, AccessMode mode, Address address, Bytes length) {
  trace_.host_ends.push_back({trace_.nodes.back().seq, kind, mode, address, length});
}

}  // namespace graphkit
