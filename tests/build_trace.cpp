#include "tests/build_trace.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "libgraphkit/model/access_map.h"

namespace graphkit {
namespace {

bool IsKernel(const Trace& trace, NodeId node) { return trace[node].kind == NodeKind::kKernel; }

}  // namespace

TraceBuilder::TraceBuilder(DeviceKind device) {
  trace_.process.device = device;
  trace_.process.seq = Next();
}

StringId TraceBuilder::Intern(std::string_view text) {
  return text.empty() ? StringId() : trace_.strings.Intern(text);
}

ThreadId TraceBuilder::Thread(std::string_view name) {
  const auto tid = static_cast<int64_t>(trace_.threads.size()) + 1;
  return Append<ThreadId>(trace_.threads, {.tid = tid, .name = Intern(name), .created = Next()});
}

StackId TraceBuilder::Stack(std::initializer_list<FrameText> frames) {
  std::vector<StackFrame> rows;
  for (const FrameText& frame : frames) {
    rows.push_back({Intern(frame.function), Intern(frame.file), frame.line});
  }
  const Slice slice = AppendAll<StackFrame>(trace_.stack_frames, rows);
  return Append<StackId>(trace_.stacks, {.frames = slice, .created = Next()});
}

KernelId TraceBuilder::Function(std::string_view name, Ternary waits, Triggers triggers,
                                Ternary writes_after_trigger) {
  const StringId text = Intern(name);
  const auto id = Append<KernelId>(trace_.kernels, {.name = text,
                                                    .waits = waits,
                                                    .triggers = triggers,
                                                    .writes_after_trigger = writes_after_trigger,
                                                    .created = Next()});
  functions_.emplace(text.value, id);
  return id;
}

void TraceBuilder::NvtxPush(std::string_view name, std::string_view domain) {
  trace_.nvtx_ranges.push_back(
      {.thread = OwnThread(), .domain = Intern(domain), .name = Intern(name), .begin = Next()});
}

void TraceBuilder::NvtxPop(std::string_view domain) {
  for (auto range = trace_.nvtx_ranges.rbegin(); range != trace_.nvtx_ranges.rend(); ++range) {
    if (range->thread != thread_ || trace_[range->domain] != domain) continue;
    if (range->end != kNever) continue;
    range->end = Next();
    return;
  }
}

uint32_t TraceBuilder::Fail(std::string_view call, int32_t error, StreamId stream, GraphId graph) {
  const ThreadId thread = OwnThread();
  trace_.failures.push_back({.call = Intern(call),
                             .error = error,
                             .thread = thread,
                             .stream = stream,
                             .graph = graph,
                             .stack = stack_,
                             .seq = Next()});
  return static_cast<uint32_t>(trace_.failures.size() - 1);
}

StreamId TraceBuilder::Stream(std::string_view name, StreamKind kind) {
  const uint64_t handle =
      kind == StreamKind::kCreated ? 0x1000 + 0x10 * uint64_t{streams_.size()} : 0;
  streams_.emplace_back();
  return Append<StreamId>(
      trace_.streams, {.handle = handle, .kind = kind, .created = Next(), .name = Intern(name)});
}

EventId TraceBuilder::Event() {
  const uint64_t handle = 0x100000 + 0x10 * uint64_t{events_.size()};
  events_.emplace_back();
  return Append<EventId>(trace_.events, {.handle = handle, .created = Next()});
}

void TraceBuilder::AddStreamOp(StreamOp op) {
  op.seq = Next();
  const bool waits = op.kind >= StreamOpKind::kStreamSync;
  if (waits || op.kind == StreamOpKind::kEventRecord) op.thread = FurtherThread();
  trace_.stream_ops.push_back(op);
}

void TraceBuilder::Record(EventId event, StreamId stream) {
  events_[event.index()] = FrontOf(stream);
  AddStreamOp({.kind = StreamOpKind::kEventRecord,
               .capturing = Capturing(stream),
               .stream = stream,
               .event = event});
}

void TraceBuilder::Wait(StreamId stream, EventId event) {
  Front& front = FrontOf(stream);
  const Front& recorded = events_[event.index()];
  if (recorded.graph && !front.graph) front = {.graph = recorded.graph};
  wide_.Add(stream.index(), recorded.entries, &front.entries);
  AddStreamOp({.kind = StreamOpKind::kEventWait,
               .capturing = Capturing(stream),
               .stream = stream,
               .event = event});
}

void TraceBuilder::Order(StreamId before, StreamId after) {
  const EventId event = Event();
  Record(event, before);
  Wait(after, event);
}

void TraceBuilder::EditFrontier(StreamId stream, Entries entries, StreamOpKind kind) {
  Front& front = FrontOf(stream);
  wide_.Forget(stream.index(), front.entries);
  if (kind == StreamOpKind::kSetFrontier) front.entries.clear();
  front.entries.insert(front.entries.end(), entries);
  AddStreamOp({.kind = kind,
               .capturing = true,
               .has_entries = true,
               .stream = stream,
               .entries = AppendAll<FrontierEntry>(trace_.frontier_entries, entries)});
}

GraphId TraceBuilder::BeginCapture(StreamId origin, std::string_view name, CaptureMode mode) {
  OwnThread();
  return BeginCaptureToGraph(origin, Graph(name, GraphOrigin::kCapture), mode);
}

GraphId TraceBuilder::BeginCaptureToGraph(StreamId origin, GraphId graph, CaptureMode mode) {
  trace_.captures.push_back(
      {.graph = graph, .origin = origin, .thread = OwnThread(), .mode = mode, .begin = Next()});
  wide_.Forget(origin.index(), FrontOf(origin).entries);
  FrontOf(origin) = {.graph = graph};
  return graph;
}

void TraceBuilder::LeaveCapture(GraphId graph) {
  wide_ = {};
  for (std::vector<Front>* fronts : {&streams_, &events_}) {
    for (Front& front : *fronts) {
      if (front.graph == graph) front = {};
    }
  }
}

void TraceBuilder::EndCapture(StreamId origin, CaptureStatus status, int32_t error,
                              uint32_t failure) {
  const GraphId graph = FrontOf(origin).graph;
  for (graphkit::Capture& capture : trace_.captures) {
    if (capture.graph != graph || capture.end != kNever) continue;
    capture.status = status;
    capture.error = error;
    capture.failure = failure;
    capture.end = Next();
  }
  LeaveCapture(graph);
}

void TraceBuilder::EndCapture(StreamId origin) {
  EndCapture(origin, CaptureStatus::kCompleted, 0, graphkit::Capture().failure);
}

void TraceBuilder::InvalidateCapture(StreamId origin, std::string_view call, int32_t error) {
  const uint32_t failure = Fail(call, error, origin, FrontOf(origin).graph);
  constexpr int32_t kStreamCaptureInvalidated = 901;  // driver_types.h
  EndCapture(origin, CaptureStatus::kInvalidated, kStreamCaptureInvalidated, failure);
}

void TraceBuilder::Note(std::string_view text) {
  trace_.completeness.notes.emplace_back(text);
  Next();
}

void TraceBuilder::SetTime(Nanoseconds time) {
  trace_.times.resize(trace_.records);
  trace_.times.back() = time;
}

Trace TraceBuilder::Record() {
  Trace trace = std::exchange(*this, TraceBuilder()).trace_;
  MapAccesses(&trace);
  return trace;
}

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

GraphId TraceBuilder::AddChild(GraphId graph, std::initializer_list<NodeId> dependencies) {
  const NodeId holder = Add(graph, NodeKind::kChildGraph, dependencies);
  const GraphId child = Graph({}, GraphOrigin::kChild);
  trace_.graphs[child.index()].parent = holder;
  return child;
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

Access Reads(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kRead, offset, length};
}

Access Writes(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kWrite, offset, length};
}

Access ReadsWrites(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kReadWrite, offset, length};
}

Access Touches(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kUnknown, offset, length};
}

Address TraceBuilder::Reserve(Bytes size) {
  const Address address = next_address_;
  next_address_ += RoundUp(size == 0 ? 1 : size, kBlockGranularity);
  return address;
}

PoolId TraceBuilder::Pool(PoolKind kind, std::string_view name) {
  return Append<PoolId>(trace_.pools, {.kind = kind, .name = Intern(name), .created = Next()});
}

PoolId TraceBuilder::DefaultPool(PoolKind kind) {
  const auto found = default_pools_.find(kind);
  if (found != default_pools_.end()) return found->second;
  return default_pools_[kind] = Pool(kind);
}

SegmentId TraceBuilder::Segment(PoolId pool, Bytes size, StreamId stream) {
  return Append<SegmentId>(trace_.segments, {.address = Reserve(size),
                                             .size = size,
                                             .pool = pool,
                                             .stream = stream,
                                             .allocated = Next()});
}

BlockId TraceBuilder::AddBlock(graphkit::Block block) {
  if (block.stream) block.graph = FrontOf(block.stream).graph;
  block.stack = stack_;
  block.allocated = Next();
  return Append<BlockId>(trace_.blocks, block);
}

BlockId TraceBuilder::AllocAt(StreamId stream, Bytes size, Address address, SegmentId segment) {
  PoolId pool = pool_;
  if (!pool && segment) pool = trace_[segment].pool;
  if (!pool) pool = DefaultPool(stream ? PoolKind::kAllocator : PoolKind::kDevice);
  return AddBlock(
      {.address = address, .size = size, .pool = pool, .segment = segment, .stream = stream});
}

BlockId TraceBuilder::Map(Address address, Bytes size, BlockId same_as) {
  const PoolId pool = DefaultPool(PoolKind::kDevice);
  return AddBlock(
      {.address = address, .size = size, .pool = pool, .mapped = true, .same_as = same_as});
}

BlockId TraceBuilder::AllocNode(StreamId stream, Bytes size) {
  const PoolId pool = DefaultPool(PoolKind::kGraph);
  const BlockId id =
      AddBlock({.address = Reserve(size), .size = size, .pool = pool, .stream = stream});
  const NodeId node = Capture(stream, NodeKind::kMemAlloc);
  trace_.nodes.Change(node.index(), [&](Node& n) { n.block = id; });
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) { block.alloc_node = node; });
  return id;
}

NodeId TraceBuilder::FreeNode(StreamId stream, BlockId id) {
  const NodeId node = Capture(stream, NodeKind::kMemFree);
  trace_.nodes.Change(node.index(), [&](Node& n) { n.block = id; });
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) {
    block.free_node = node;
    block.free_stream = stream;
    block.free_stack = stack_;
    block.free_requested = block.free_completed = trace_[node].seq;
  });
  return node;
}

void TraceBuilder::Free(BlockId block, StreamId stream) {
  RequestFree(block, stream);
  trace_.blocks.Change(block.index(),
                       [](graphkit::Block& b) { b.free_completed = b.free_requested; });
}

void TraceBuilder::RequestFree(BlockId id, StreamId stream) {
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) {
    block.free_stream = stream ? stream : block.stream;
    block.free_stack = stack_;
    block.free_requested = Next();
  });
}

}  // namespace graphkit
