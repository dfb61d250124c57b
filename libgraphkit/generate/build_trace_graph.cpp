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
  const Slice slice{static_cast<uint32_t>(trace_.accesses.size()),
                    static_cast<uint32_t>(accesses.size())};
  trace_.accesses.insert(trace_.accesses.end(), accesses.begin(), accesses.end());
  return slice;
}

NodeId TraceBuilder::AddNode(graphkit::Node node, Accesses accesses) {
  const NodeId id(trace_.nodes.size());
  if (!accesses.empty()) node.accesses = AddAccesses(accesses);
  node.thread = thread_;
  node.stack = stack_;
  node.seq = Next();
  trace_.nodes.push_back(node);
  return id;
}

// The edges that capture makes: from each entry of the stream's frontier. A programmatic launch
// turns those that come from a kernel by a full edge into programmatic ones.
void TraceBuilder::ConnectFrontier(NodeId node, bool programmatic) {
  Front& front = FrontOf(trace_[node].stream);
  for (const FrontierEntry& entry : front.entries) {
    const bool full = entry.from_port == kPortDefault && entry.edge_type == 0;
    if (programmatic && full && IsKernel(trace_, entry.node)) {
      Connect(entry.node, node, kPortProgrammatic, EdgeType::kProgrammatic);
    } else {
      Connect(entry.node, node, entry.from_port, static_cast<EdgeType>(entry.edge_type));
    }
  }
  front.entries = {{.node = node}};
}

NodeId TraceBuilder::Capture(StreamId stream, NodeKind kind, Accesses accesses) {
  graphkit::Node node;
  node.graph = FrontOf(stream).graph;
  node.stream = stream;
  node.kind = kind;
  node.accesses_complete = kind == NodeKind::kMemcpy || kind == NodeKind::kMemset;
  const NodeId id = AddNode(node, accesses);
  ConnectFrontier(id, false);
  return id;
}

NodeId TraceBuilder::CaptureKernel(StreamId stream, KernelId function, Accesses accesses,
                                   bool programmatic) {
  graphkit::Node node;
  node.graph = FrontOf(stream).graph;
  node.stream = stream;
  node.kind = NodeKind::kKernel;
  node.kernel = function;
  node.shape = DefaultShape();
  const NodeId id = AddNode(node, accesses);
  ConnectFrontier(id, programmatic);
  return id;
}

KernelId TraceBuilder::FunctionNamed(std::string_view name) {
  const auto found = functions_.find(Intern(name).value);
  return found == functions_.end() ? Function(name) : found->second;
}

NodeId TraceBuilder::Kernel(StreamId stream, std::string_view name, AccessList accesses) {
  return CaptureKernel(stream, FunctionNamed(name), accesses, false);
}

NodeId TraceBuilder::Kernel(StreamId stream, KernelId function, Accesses accesses) {
  return CaptureKernel(stream, function, accesses, false);
}

NodeId TraceBuilder::ProgrammaticKernel(StreamId stream, std::string_view name,
                                        AccessList accesses) {
  return CaptureKernel(stream, FunctionNamed(name), accesses, true);
}

NodeId TraceBuilder::ProgrammaticKernel(StreamId stream, KernelId function, Accesses accesses) {
  return CaptureKernel(stream, function, accesses, true);
}

NodeId TraceBuilder::KernelWithEvent(StreamId stream, EventId event, uint8_t port,
                                     std::string_view name, AccessList accesses) {
  const NodeId id = CaptureKernel(stream, FunctionNamed(name), accesses, false);
  const auto type = static_cast<uint8_t>(EdgeType::kProgrammatic);
  const FrontierEntry entry{.node = id, .from_port = port, .edge_type = type};
  events_[event.index()] = {.graph = trace_[id].graph, .entries = {entry}};
  const Slice slice{static_cast<uint32_t>(trace_.frontier_entries.size()), 1};
  trace_.frontier_entries.push_back(entry);
  AddStreamOp({.kind = StreamOpKind::kEventRecord,
               .capturing = true,
               .has_entries = true,
               .stream = stream,
               .event = event,
               .entries = slice});
  return id;
}

NodeId TraceBuilder::Memcpy(StreamId stream, AccessList accesses) {
  return Capture(stream, NodeKind::kMemcpy, accesses);
}

NodeId TraceBuilder::Memset(StreamId stream, AccessList accesses) {
  return Capture(stream, NodeKind::kMemset, accesses);
}

NodeId TraceBuilder::Host(StreamId stream) { return Capture(stream, NodeKind::kHost); }

NodeId TraceBuilder::Empty(StreamId stream) { return Capture(stream, NodeKind::kEmpty); }

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
    const auto first = trace_.accesses.begin() + node.accesses.first;
    const std::vector<Access> accesses(first, first + node.accesses.count);
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

NodeId TraceBuilder::Conditional(StreamId stream, ConditionalType type) {
  const NodeId node = Capture(stream, NodeKind::kConditional);
  trace_.nodes[node.index()].conditional = type;
  return node;
}

GraphId TraceBuilder::Graph(std::string_view name, GraphOrigin origin) {
  const GraphId id(trace_.graphs.size());
  graphkit::Graph graph;
  graph.origin = origin;
  graph.handle = 0x200000 + 0x10 * uint64_t{id.value};
  graph.name = Intern(name);
  graph.created = Next();
  trace_.graphs.push_back(graph);
  return id;
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

GraphId TraceBuilder::BeginCaptureToGraph(StreamId stream, GraphId graph) {
  if (!thread_) thread_ = Thread();
  graphkit::Capture capture;
  capture.graph = graph;
  capture.origin = stream;
  capture.thread = thread_;
  capture.begin = Next();
  trace_.captures.push_back(capture);
  FrontOf(stream) = {.graph = graph};
  return graph;
}

NodeId TraceBuilder::Add(GraphId graph, NodeKind kind, std::initializer_list<NodeId> dependencies,
                         AccessList accesses) {
  graphkit::Node node;
  node.graph = graph;
  node.kind = kind;
  if (kind == NodeKind::kKernel) node.kernel = FunctionNamed("kernel");
  if (kind == NodeKind::kKernel) node.shape = DefaultShape();
  const NodeId id = AddNode(node, accesses);
  for (NodeId dependency : dependencies) Connect(dependency, id);
  return id;
}

EdgeId TraceBuilder::Connect(NodeId from, NodeId to, uint8_t from_port, EdgeType type) {
  const EdgeId id(trace_.edges.size());
  Edge edge;
  edge.from = from;
  edge.to = to;
  edge.from_port = from_port;
  edge.type = type;
  edge.seq = Next();
  trace_.edges.push_back(edge);
  return id;
}

void TraceBuilder::Remove(EdgeId edge) { trace_.edges[edge.index()].removed = Next(); }

void TraceBuilder::Destroy(NodeId node) { trace_.nodes[node.index()].destroyed = Next(); }

void TraceBuilder::Destroy(GraphId graph) { trace_.graphs[graph.index()].destroyed = Next(); }

ExecId TraceBuilder::Instantiate(GraphId graph, uint64_t flags) {
  const ExecId id(trace_.execs.size());
  Exec exec;
  exec.graph = graph;
  exec.handle = 0x300000 + 0x10 * uint64_t{id.value};
  exec.flags = flags;
  exec.stack = stack_;
  exec.created = Next();
  trace_.execs.push_back(exec);
  return id;
}

void TraceBuilder::Update(ExecId exec, GraphId graph, int32_t result) {
  trace_.exec_updates.push_back({exec, graph, result, Next()});
}

void TraceBuilder::Change(NodeId node, ExecId exec, NodeChangeKind what, AccessList accesses) {
  NodeChange change{.node = node, .exec = exec, .what = what};
  if (accesses.size() != 0) change.accesses = AddAccesses(accesses);
  const bool params = what == NodeChangeKind::kParams;
  if (params && IsKernel(trace_, node)) change.shape = DefaultShape();
  change.seq = Next();
  trace_.node_changes.push_back(change);
}

void TraceBuilder::Launch(ExecId exec, StreamId stream) {
  trace_.launches.push_back({exec, stream, Next()});
}

void TraceBuilder::Work(StreamId stream, std::string_view kernel, AccessList accesses) {
  const KernelId function = FunctionNamed(kernel);
  Work(stream, NodeKind::kKernel, accesses);
  trace_.works.back().kernel = function;
  trace_.works.back().shape = DefaultShape();
}

void TraceBuilder::Work(StreamId stream, NodeKind kind, AccessList accesses) {
  EagerWork work{.stream = stream, .thread = thread_, .kind = kind, .stack = stack_};
  if (accesses.size() != 0) work.accesses = AddAccesses(accesses);
  work.seq = Next();
  trace_.works.push_back(work);
}

CommunicatorId TraceBuilder::Communicator(uint32_t ranks, uint32_t rank, uint64_t key) {
  trace_.communicators.push_back({key, ranks, rank, Next()});
  return CommunicatorId(trace_.communicators.size() - 1);
}

void TraceBuilder::Collect(CommunicatorId communicator, CollectiveKind kind, uint64_t count,
                           ElementType type, int32_t peer) {
  const Seq node = trace_.nodes.empty() ? 0 : trace_.nodes.back().seq;
  const Seq work = trace_.works.empty() ? 0 : trace_.works.back().seq;
  trace_.collectives.push_back({std::max(node, work), communicator, kind, type, count, peer});
}

void TraceBuilder::Destroy(ExecId exec) { trace_.execs[exec.index()].destroyed = Next(); }

}  // namespace graphkit
