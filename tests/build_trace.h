// Makes traces by hand, call by call, the way a program makes them: for tests. It keeps the order
// of the records, the ids, and each stream's frontier, from which the edges follow as in CUDA.
//
//     TraceBuilder t;
//     StreamId a = t.Stream("a"), b = t.Stream("b");
//     GraphId graph = t.BeginCapture(a);
//     BlockId x = t.Alloc(a, 1024);
//     NodeId produce = t.Kernel(a, "produce", {Writes(x)});    //  a: produce ── record ──── join
//     t.Order(a, b);                                           //                └─ consume ─┘
//     NodeId consume = t.Kernel(b, "consume", {Reads(x)});     //  b:
//     t.RecordStream(x, b);
//     t.Order(b, a);
//     t.Free(x);
//     t.EndCapture(a);
//     Ran trace = t.Build();
//
// The builder trusts its caller: an id must come from the same builder.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/model/wide_frontiers.h"
#include "libgraphkit/ran/resolve.h"

namespace graphkit {

// A node's accesses.
Access Reads(BlockId block, Bytes offset = 0, Bytes length = kLengthUnknown);
Access Writes(BlockId block, Bytes offset = 0, Bytes length = kLengthUnknown);
Access ReadsWrites(BlockId block, Bytes offset = 0, Bytes length = kLengthUnknown);
Access Touches(BlockId block, Bytes offset = 0, Bytes length = kLengthUnknown);  // mode unknown

struct FrameText {
  std::string_view function;
  std::string_view file = {};
  uint32_t line = 0;
};

class TraceBuilder {
 public:
  using Accesses = std::span<const Access>;
  using AccessList = std::initializer_list<Access>;
  using Entries = std::initializer_list<FrontierEntry>;

  explicit TraceBuilder(DeviceKind device = DeviceKind::kSoft);

  // The process.
  void SetProgram(std::string_view program, std::string_view executable = {}) {
    trace_.process.program = program;
    trace_.process.executable = executable;
  }
  ThreadId Thread(std::string_view name = {});
  StackId Stack(std::initializer_list<FrameText> frames);
  void SetThread(ThreadId thread) { thread_ = thread; }  // of what follows
  void SetStack(StackId stack) { stack_ = stack; }       // of the nodes, blocks, … that follow
  KernelId Function(std::string_view name, Ternary waits = Ternary::kUnknown,
                    Triggers triggers = Triggers::kUnknown,
                    Ternary writes_after_trigger = Ternary::kUnknown);
  void NvtxPush(std::string_view name, std::string_view domain = {});
  void NvtxPop(std::string_view domain = {});
  uint32_t Fail(std::string_view call, int32_t error, StreamId stream = {}, GraphId graph = {});
  void SetFailed(const FailedGraph& of) { trace_.failures.back().of = of; }  // of the last one

  // Streams and events.
  StreamId Stream(std::string_view name = {}, StreamKind kind = StreamKind::kCreated);
  EventId Event();
  void Destroy(StreamId stream) { trace_.streams[stream.index()].destroyed = Next(); }
  void Destroy(EventId event) { trace_.events[event.index()].destroyed = Next(); }
  void Record(EventId event, StreamId stream);
  void Wait(StreamId stream, EventId event);
  void Order(StreamId before,
             StreamId after);  // records an event on one, waits for it on the other
  void SetFrontier(StreamId stream, Entries entries) {
    EditFrontier(stream, entries, StreamOpKind::kSetFrontier);
  }
  void AddToFrontier(StreamId stream, Entries entries) {
    EditFrontier(stream, entries, StreamOpKind::kAddToFrontier);
  }
  void Synchronize() { AddStreamOp({.kind = StreamOpKind::kDeviceSync}); }
  void Synchronize(StreamId stream) {
    AddStreamOp({.kind = StreamOpKind::kStreamSync, .stream = stream});
  }
  void Synchronize(EventId event) {
    AddStreamOp({.kind = StreamOpKind::kEventSync, .event = event});
  }

  // Captures. Other streams join by waiting for an event.
  GraphId BeginCapture(StreamId origin, std::string_view name = {},
                       CaptureMode mode = CaptureMode::kGlobal);
  GraphId BeginCaptureToGraph(
      StreamId origin, GraphId graph,
      CaptureMode mode = CaptureMode::kGlobal);  // SetFrontier: its dependencies
  void EndCapture(StreamId origin);
  void InvalidateCapture(StreamId origin, std::string_view call, int32_t error);
  bool Capturing(StreamId stream) const { return streams_[stream.index()].graph.valid(); }

  // Nodes captured on a stream: each depends on the stream's frontier, and becomes it.
  NodeId Kernel(StreamId stream, std::string_view name = "kernel", AccessList accesses = {}) {
    return Kernel(stream, FunctionNamed(name), accesses);
  }
  NodeId Kernel(StreamId stream, KernelId function, Accesses accesses) {
    return CaptureNode(stream, {.kind = NodeKind::kKernel, .kernel = function}, accesses);
  }
  // Launched with programmatic stream serialization: it starts when the kernel before it on the
  // stream has triggered (edge: from_port 1, programmatic).
  NodeId ProgrammaticKernel(StreamId stream, std::string_view name = "kernel",
                            AccessList accesses = {}) {
    return ProgrammaticKernel(stream, FunctionNamed(name), accesses);
  }
  NodeId ProgrammaticKernel(StreamId stream, KernelId function, Accesses accesses) {
    return CaptureNode(stream, {.kind = NodeKind::kKernel, .kernel = function}, accesses, true);
  }
  // Launched with a programmatic event: who waits for `event` waits for the node's trigger
  // (kPortProgrammatic), or for its blocks' start (kPortLaunchCompletion), only.
  NodeId KernelWithEvent(StreamId stream, EventId event, uint8_t port,
                         std::string_view name = "kernel", AccessList accesses = {});
  NodeId Memcpy(StreamId stream, AccessList accesses = {}) {
    return Capture(stream, NodeKind::kMemcpy, accesses);
  }
  NodeId Memset(StreamId stream, AccessList accesses = {}) {
    return Capture(stream, NodeKind::kMemset, accesses);
  }
  NodeId EventNode(StreamId stream, NodeKind kind, EventId event) {
    return CaptureNode(stream, {.kind = kind, .accesses_complete = true, .event = event}, {});
  }
  NodeId Host(StreamId stream) { return Capture(stream, NodeKind::kHost); }
  NodeId Empty(StreamId stream) { return Capture(stream, NodeKind::kEmpty); }
  NodeId ChildGraph(StreamId stream, GraphId original);  // embeds a clone: Embedded() names it
  NodeId Conditional(StreamId stream, ConditionalType type) {
    return CaptureNode(stream, {.kind = NodeKind::kConditional, .conditional = type}, {});
  }
  NodeId Capture(StreamId stream, NodeKind kind, Accesses accesses = {});  // any kind

  // Graphs, and nodes added to them explicitly.
  GraphId Graph(std::string_view name = {}, GraphOrigin origin = GraphOrigin::kExplicit);
  GraphId Body(NodeId conditional);      // the next body of a conditional node
  GraphId Embedded(NodeId child) const;  // the graph inside a child graph node
  GraphId AddChild(GraphId graph, std::initializer_list<NodeId> dependencies = {});  // empty so far
  NodeId Add(GraphId graph, NodeKind kind, std::initializer_list<NodeId> dependencies = {},
             AccessList accesses = {});
  EdgeId Connect(NodeId from, NodeId to, uint8_t from_port = kPortDefault,
                 EdgeType type = EdgeType::kDefault);
  void Remove(EdgeId edge) {
    trace_.edges.Change(edge.index(), [&](graphkit::Edge& e) { e.removed = Next(); });
  }
  void Destroy(NodeId node) {
    trace_.nodes.Change(node.index(), [&](graphkit::Node& n) { n.destroyed = Next(); });
  }
  void Destroy(GraphId graph) { trace_.graphs[graph.index()].destroyed = Next(); }

  // Execs.
  ExecId Instantiate(GraphId graph, uint64_t flags = 0);
  // `same`: to what it was.
  void Update(ExecId exec, GraphId graph, int32_t result = 0, bool same = false) {
    trace_.exec_updates.push_back({exec, graph, result, Next()});
    trace_.exec_updates.back().same = same;
  }
  // Free memory before and after a call that concerns the exec.
  void Read(ExecReading reading) {
    reading.seq = Next();
    trace_.exec_readings.push_back(reading);
  }
  // A node gets new parameters, or those that it had (`same`), or is switched on or off; without an
  // exec: in its graph.
  void Change(NodeId node, ExecId exec, NodeChangeKind what, AccessList accesses = {},
              bool same = false);
  // The last change of a node gave it what its execs have.
  void SetBack() { trace_.node_changes.back().back = true; }
  void Launch(ExecId exec, StreamId stream) {
    trace_.launches.push_back({exec, stream, Next(), FurtherThread()});
  }
  void Destroy(ExecId exec) { trace_.execs[exec.index()].destroyed = Next(); }
  // Work outside of captures: a kernel, or with another kind what has no name.
  void Work(StreamId stream, std::string_view kernel, AccessList accesses = {}) {
    AddWork({.stream = stream, .kind = NodeKind::kKernel, .kernel = FunctionNamed(kernel)},
            accesses);
  }
  void Work(StreamId stream, NodeKind kind, AccessList accesses = {}) {
    AddWork({.stream = stream, .kind = kind}, accesses);
  }

  // Collective operations of the node or the work that was made last.
  CommunicatorId Communicator(uint32_t ranks, uint32_t rank, uint64_t key = 0);
  void Destroy(CommunicatorId communicator) {
    trace_.communicators[communicator.index()].destroyed = Next();
  }
  void Collect(CommunicatorId communicator, CollectiveKind kind, uint64_t count, ElementType type,
               int32_t peer = -1);

  // The host's own memory that the copy made last touches; how far a thread's stack
  // reaches at the next launch.
  void TouchHost(HostMemoryKind kind, AccessMode mode, Address address, Bytes length);
  void StackTop(ThreadId thread, Address address) {
    trace_.stack_tops.push_back({thread, address, Next()});
  }
  // Page-locked memory has other bytes than at the last look.
  void ChangeBytes(BlockId block, Bytes offset, Bytes length) {
    trace_.host_changes.push_back({Next(), block, offset, length});
  }

  // Memory. Without a pool: one of kind kAllocator, or kDevice when there is no stream. Without an
  // address: one that no block had.
  PoolId Pool(PoolKind kind, std::string_view name = {});
  SegmentId Segment(PoolId pool, Bytes size, StreamId stream = {});
  void FreeSegment(SegmentId segment) { trace_.segments[segment.index()].freed = Next(); }
  void SetPool(PoolId pool) { pool_ = pool; }  // of the allocations that follow
  // Stream-ordered; the capture's, if it captures.
  BlockId Alloc(StreamId stream, Bytes size) { return AllocAt(stream, size, Reserve(size)); }
  BlockId AllocAt(StreamId stream, Bytes size, Address address, SegmentId segment = {});
  BlockId AllocNode(StreamId stream, Bytes size);  // cudaMallocAsync in a capture
  NodeId FreeNode(StreamId stream, BlockId block);
  // Physical memory mapped to addresses: new, or that of an earlier mapping. Free() unmaps it.
  BlockId Map(Address address, Bytes size, BlockId same_as = {});
  void Share(BlockId mapping) {
    trace_.blocks.Change(mapping.index(), [&](graphkit::Block& b) { b.shared = Next(); });
  }
  void RecordStream(BlockId block, StreamId stream) {
    trace_.block_streams.push_back({block, stream, Next()});
  }
  void Free(BlockId block, StreamId stream = {});  // without a stream: on its own
  void RequestFree(BlockId block, StreamId stream = {});
  void CompleteFree(BlockId block) {
    trace_.blocks.Change(block.index(), [&](graphkit::Block& b) { b.free_completed = Next(); });
  }

  void Note(std::string_view text);  // makes the trace incomplete
  void SetTime(Nanoseconds time);    // of the last record

  // The trace so far.
  const Trace& trace() const { return trace_; }
  NodeId last_node() const { return NodeId(trace_.nodes.size() - 1); }

  // The finished trace, as it is recorded, and resolved. The builder is empty afterwards.
  Trace Record();
  Ran Build() { return Resolve(Record()); }

 private:
  using Frontier = std::vector<FrontierEntry>;
  // A stream's or an event's place in a capture.
  struct Front {
    GraphId graph;  // none: not capturing
    Frontier entries = {};
  };

  Seq Next() { return trace_.records++; }
  // Appends a row to a column.
  template <typename Id, typename Column>
  Id Append(Column& column, typename Column::value_type row) {
    column.push_back(row);
    return Id(column.size() - 1);
  }
  template <typename Row>
  Slice AppendAll(std::vector<Row>& column, std::span<const Row> rows) {
    const Slice slice{static_cast<uint32_t>(column.size()), static_cast<uint32_t>(rows.size())};
    column.insert(column.end(), rows.begin(), rows.end());
    return slice;
  }
  // The empty text has no id.
  StringId Intern(std::string_view text);
  // As traces have it of launches, waits and events.
  ThreadId FurtherThread() const { return thread_ && thread_.index() != 0 ? thread_ : ThreadId(); }
  ThreadId OwnThread() { return thread_ ? thread_ : (thread_ = Thread()); }
  Front& FrontOf(StreamId stream) { return streams_[stream.index()]; }
  Slice AddAccesses(Accesses accesses);
  NodeId AddNode(graphkit::Node node, Accesses accesses);
  NodeId CaptureNode(StreamId stream, graphkit::Node node, Accesses accesses,
                     bool programmatic = false);
  void AddWork(EagerWork work, Accesses accesses);
  void EditFrontier(StreamId stream, Entries entries, StreamOpKind kind);
  void LeaveCapture(GraphId graph);
  void EndCapture(StreamId origin, CaptureStatus status, int32_t error, uint32_t failure);
  Address Reserve(Bytes size);
  PoolId DefaultPool(PoolKind kind);
  BlockId AddBlock(graphkit::Block block);
  void AddStreamOp(StreamOp op);
  void CloneInto(GraphId clone, GraphId original);
  uint32_t DefaultShape();
  KernelId FunctionNamed(std::string_view name);

  Trace trace_;
  ThreadId thread_;
  StackId stack_;
  PoolId pool_;
  Address next_address_ = 0x7f0000000000;
  std::vector<Front> streams_;
  std::vector<Front> events_;
  WideFrontiers wide_;
  std::map<PoolKind, PoolId> default_pools_;
  std::unordered_map<uint32_t, KernelId> functions_;  // by name
};

// What ran, with one version of each graph shown (ShowVersion).
inline Ran OfVersion(size_t number, Ran trace) {
  ShowVersion(number, &trace);
  return trace;
}

}  // namespace graphkit
