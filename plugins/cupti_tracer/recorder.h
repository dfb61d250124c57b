// The tracer's logic: CUDA calls and graph events in, records out, in the order of the calls. Knows
// nothing of CUPTI. One caller at a time: the glue holds a lock around every call of it.
//
// A driver call comes as Enter, the graph events that happened inside it (collected in the thread's
// state), and Exit. A handle belongs to what was made with it until the call that takes that away
// returns (recorder_ends.cpp), or another thread is given the same handle, whichever is first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"
#include "libgraphkit/io/record/record_writer.h"
#include "plugins/cupti_tracer/call_stack.h"
#include "plugins/cupti_tracer/calls.h"
#include "plugins/cupti_tracer/frontier.h"
#include "plugins/cupti_tracer/handle_map.h"
#include "plugins/cupti_tracer/kernels.h"
#include "plugins/cupti_tracer/live_memory.h"

namespace graphkit {

inline constexpr int32_t kNotReady = 600;  // cudaErrorNotReady: an answer, not a failure

// Where records go.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Returns the place of the record, to be read again, or RecordFile::kDropped.
  virtual uint64_t Append(std::string_view record) = 0;
  virtual std::string_view Read(uint64_t place) const = 0;
};

class Recorder {
 public:
  // `eager`: also records work that is submitted outside of captures.
  explicit Recorder(RecordSink& sink, bool eager = false) : sink_(sink), eager_(eager) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Only calls that take something away need one.
  void Enter(ThreadState& thread, const Call& call);
  void Exit(ThreadState& thread, const Call& call, int32_t result);

  // The runtime call that is in flight on the thread returned an error. `call` has name and time.
  void RuntimeFailed(ThreadState& thread, const Call& call, int32_t error);

  // Whether a launch of this function can be recorded with its arguments; if not, AddKernel first.
  bool KnowsKernel(uint64_t function, const char* name) {
    return kernels_.Find(function, name) != nullptr;
  }
  void AddKernel(uint64_t function, KernelLayout layout);

  // The record of a stack, by the return addresses that it was taken as; none: it isn't known.
  StackId FindStack(std::span<const uint64_t> taken) const;
  // Makes a stack known. Stacks with the same names are one.
  StackId AddStack(std::span<const uint64_t> taken, const std::vector<NamedFrame>& frames);

  // The driver begins to destroy a graph, by whatever call: from now on its handle and those of its
  // nodes may be given out again.
  void OnGraphDestroyed(ThreadState& thread, uint64_t graph);

  // Events that came outside of any call that the glue knows: nodes of graphs that are known.
  void LooseEvents(ThreadState& thread, uint64_t time);

  bool capturing() const { return !captures_.empty(); }

  void WriteNote(std::string_view text);

  // What an allocator in the program says (docs/annotate.md): `call` has address, size, stream,
  // time and context.
  void OnHeapRegistered(ThreadState& thread, const Call& call, std::string_view name);
  void OnHeapUnregistered(ThreadState& thread, const Call& call);
  void OnHeapReset(ThreadState& thread, const Call& call);
  void OnPoolNamed(ThreadState& thread, const Call& call, std::string_view name);
  void OnRegion(ThreadState& thread, const Call& call);
  void OnBlockStream(ThreadState& thread, const Call& call);
  void OnRecordStream(ThreadState& thread, const Call& call);
  void OnFreeRequested(ThreadState& thread, const Call& call);
  void OnFreeCompleted(ThreadState& thread, const Call& call);

  // NVTX ranges of a thread.
  void OnRangePushed(ThreadState& thread, std::string_view domain, std::string_view name,
                     uint32_t colour = 0, uint64_t time = 0);
  void OnRangePopped(ThreadState& thread, std::string_view domain, uint64_t time = 0);

  // The thread says nothing more for now: what waits for its next call is recorded.
  void Settle(ThreadState& thread) { FlushPieces(thread); }

  const RecordCounts& counts() const { return counts_; }

 private:
  struct CaptureInfo;
  struct StreamInfo {
    StreamId id;
    CaptureInfo* capture = nullptr;
    Frontier frontier;
  };
  struct EdgeInfo {
    NodeId from;
    NodeId to;
    EdgeId id;
  };
  using PartialEdges = HandleMap<FrontierEntry>;  // their data, by EdgeKey
  struct GraphInfo {
    GraphId id;
    uint64_t handle = 0;
    NodeId parent;                // of a child graph or a body: the node that owns it
    std::vector<uint64_t> nodes;  // their handles; some may be others' by now
    std::vector<EdgeInfo> edges;
    PartialEdges edge_data;
  };
  struct CaptureInfo {
    CaptureId id;
    GraphId graph;
    uint64_t graph_handle = 0;
    StreamInfo* origin = nullptr;
    ThreadId thread;
    CaptureMode mode = CaptureMode::kGlobal;
    uint32_t failure = kNoFailure;
    GraphId discarded;  // its graph, once the driver has destroyed it
    std::vector<StreamInfo*> streams;
  };
  struct NodeInfo {
    NodeId id;
    GraphId graph;
    NodeKind kind = NodeKind::kUnknown;
    bool updatable = false;  // from the device
    bool off = false;        // of an exec's node
    uint64_t place = 0;      // of the record that says what it does: its own, or the last set's
  };
  struct InnerGraph {
    uint64_t handle = 0;
    GraphId id;
  };
  struct CloneInfo {
    NodeId source;      // the graph's node
    NodeInfo original;  // what it does: the source, or what it became in an exec
    PartialEdges* edges = nullptr;
  };
  struct EventInfo {
    EventId id;
    CaptureId capture;  // that it was recorded in; none: outside of any
    Frontier entries;
    bool seen_done = false;  // since it was recorded
  };
  struct ExecNodeInfo {
    uint64_t handle = 0;
    NodeId source;  // of the graph that it was instantiated from
    NodeInfo now;   // the node that it is like: the source, or that of an update
  };
  struct ExecGraphInfo {
    uint64_t handle = 0;
    GraphId source;
    NodeId parent;  // of the source
  };
  struct ExecInfo {
    ExecId id;
    GraphId graph;
    std::vector<ExecNodeInfo> nodes;  // by source
    std::vector<ExecGraphInfo> graphs;
    PartialEdges edge_data;      // of all of them
    bool unseen_update = false;  // CUPTI didn't say what it changed
  };
  struct EmbeddedGraph {  // made in the call at hand
    uint64_t handle = 0;
    uint64_t original = 0;
    uint64_t tool_id = 0;
    bool claimed = false;
  };
  struct SegmentInfo {
    SegmentId id;
    uint64_t size = 0;
    PoolId pool;
  };
  struct PoolRange {
    uint64_t size = 0;
    PoolId pool;
  };
  struct WaitingPiece {  // a block whose stream may be told yet
    int64_t tid = 0;
    Call call;
  };
  struct FreshNode {  // a node whose record is not written yet
    bool open = false;
    uint64_t handle = 0;
    uint64_t graph = 0;
    NodeKind kind = NodeKind::kUnknown;
    std::vector<uint64_t> dependencies;
  };
  static constexpr uint32_t kNoFailure = 0xffffffffu;

  // recorder.cpp: the process, streams and events
  void Succeeded(ThreadState& thread, const Call& call);
  void SwapSpace(ThreadState& thread);
  // Writes a record, whose texts and lists are in values_.
  template <typename Record>
  uint64_t Write(Record& r) {
    const uint64_t place = sink_.Append(FieldWriter(line_, values_).Write(r));
    values_.Clear();
    return place;
  }
  template <typename Record>
  uint64_t Write(const Call& call, Record& r) {
    r.time = call.time;
    return Write(r);
  }
  // Counts it, if it is written.
  uint64_t Counted(uint64_t place, uint64_t RecordCounts::*counter) {
    if (place != RecordFile::kDropped) ++(counts_.*counter);
    return place;
  }
  ThreadId ThreadOf(ThreadState& thread);
  StreamInfo* StreamOf(ThreadState& thread, const Call& call);
  StreamInfo* AddStream(uint64_t key, const Call& call, bool announced);
  StreamId StreamIdOf(ThreadState& thread, const Call& call);
  StreamId KnownStream(const ThreadState& thread, const Call& call);
  EventInfo* EventOf(const Call& call, uint64_t handle);
  void OnEventRecord(ThreadState& thread, const Call& call);
  void OnEventWait(ThreadState& thread, const Call& call);
  void OnSync(ThreadState& thread, const Call& call);
  void RecordEvent(const Call& call, StreamInfo& stream, uint64_t event, const Frontier* entries);

  // recorder_ends.cpp: what is taken away
  uint32_t IdOf(Going::What what, uint64_t handle);
  void EndTaken(ThreadState& thread, const Call& call, bool succeeded);
  void End(ThreadState& thread, const Call& call, const Going& going);
  template <typename Record, typename IdType>
  void WriteEnd(IdType id, Source source, uint64_t time = 0) {
    Record r;
    r.ended = id;
    r.source = source;
    r.time = time;
    Write(r);
  }
  void EndStream(uint64_t key, Source source);
  void EndEvent(uint64_t handle, Source source);
  void EndExec(uint64_t handle, uint64_t time, Source source);
  void EndPool(uint64_t handle, Source source);
  GraphId Detach(uint64_t handle);
  void EndGraph(uint64_t handle, Source source);
  void WriteGraphEnd(GraphId graph, Source source) {
    WriteEnd<GraphDestroyedRecord>(graph, source);
  }
  void EndNodes(GraphInfo& graph, bool told);
  void EndNode(uint64_t handle, Source source);
  void GiveNodeHandle(uint64_t handle);
  void AddInnerGraph(NodeId node, uint64_t handle, GraphId id);
  void EndInnerGraphs(NodeId node);

  // recorder_captures.cpp
  void OnBeginCapture(ThreadState& thread, const Call& call);
  void OnEndCapture(ThreadState& thread, const Call& call, int32_t error);
  void DiscardGraph(const CaptureInfo& capture);
  void OnUpdateDependencies(ThreadState& thread, const Call& call);
  Frontier EntriesOf(const Call& call);
  void WriteFrontier(StreamId stream, StreamOpKind kind, const Frontier& entries);
  void JoinCapture(StreamInfo& stream, CaptureInfo* capture);
  void LeaveCapture(StreamInfo& stream);
  CaptureInfo* CaptureById(CaptureId id);
  CaptureInfo* CaptureOfThread(const ThreadState& thread);
  CaptureInfo* CaptureOf(const ThreadState& thread, const Call& call);
  CaptureInfo* CaptureHit(ThreadState& thread, uint64_t stream, int32_t error);
  void Failed(ThreadState& thread, const Call& call, int32_t error);
  void WriteFailure(ThreadState& thread, const Call& call, int32_t error, CaptureInfo* capture);
  std::string ArgumentsText(std::span<const CallArgument> arguments);
  std::string ArgumentText(const CallArgument& argument);

  // recorder_graphs.cpp
  GraphInfo* AddGraph(uint64_t handle, GraphOrigin origin, uint64_t tool_id, GraphId original,
                      NodeId parent, uint32_t body);
  GraphInfo* GraphOf(uint64_t handle);
  GraphInfo* FindGraph(uint64_t handle);
  void ApplyEvents(ThreadState& thread, const Call& call, bool succeeded);
  void ApplyEvent(ThreadState& thread, const Call& call, const GraphEvent& event);
  void CountNodes(const ThreadState& thread);
  void OnGraphCreated(const Call& call, EmbeddedGraph& made);
  void OnDependency(ThreadState& thread, const Call& call, const GraphEvent& event);
  void WriteEdge(const Call& call, GraphInfo* graph, NodeId from, NodeId to,
                 const FrontierEntry& data);
  void RemoveEdge(const GraphEvent& event);
  static uint64_t EdgeKey(NodeId from, NodeId to) {
    return (uint64_t{from.value} << 32 | to.value) + 1;
  }
  void OnInstantiate(ThreadState& thread, const Call& call);
  std::vector<ToolIdRun> TakeToolIds(ThreadState& thread);
  void OnExecUpdate(ThreadState& thread, const Call& call, int32_t result);
  GraphId GivenGraph(uint64_t handle);
  void OnNodeSet(ThreadState& thread, const Call& call);
  void WriteUpdatable(const Call& call, NodeInfo& node);
  void OnGraphLaunch(ThreadState& thread, const Call& call);

  // recorder_nodes.cpp
  void Flush(ThreadState& thread, const Call& call);
  bool IsTheCallsNode(const Call& call, const FreshNode& node);
  void WriteNode(ThreadState& thread, const Call& call, GraphInfo* graph, StreamInfo* stream);
  void OnEagerWork(ThreadState& thread, const Call& call);
  void PrepareNode(ThreadState& thread, const Call& call, bool of_call);
  void DescribeNode(const Call& call, bool of_call, NodeRecord& r);
  // What a kernel, a copy, a memset or a batch does.
  template <typename Record>
  void DescribeWork(const Call& call, Record& r);
  bool IsComplete(const Call& call) const;
  void AddTouches(const Call& call);
  void AddAccess(uint64_t address, AccessMode mode, Bytes length);
  void ScanArguments(const KernelWork& work, const KernelInfo& kernel);
  void AddOperand(const char* bytes);
  void AddCollective(const char* bytes);
  void ScanParam(const char* bytes, const KernelParam& param, ParamUse use);
  void WriteIncomingEdges(const Call& call, GraphInfo* graph, StreamInfo* stream, NodeId node);
  FrontierEntry EdgeData(const Call& call, StreamInfo* stream, uint64_t from, uint64_t to,
                         const NodeInfo& producer, NodeKind consumer);
  void AdvanceFrontier(const Call& call, StreamInfo& stream, NodeId node);
  StreamInfo* CapturingStream(ThreadState& thread, const Call& call, GraphInfo* graph);

  // recorder_clones.cpp: what a call makes of something that is there already
  void CollectMade(const ThreadState& thread, const Call& call);
  void OnNodeCloned(const GraphEvent& event, ExecInfo* exec, HandleMap<uint32_t>& exec_nodes);
  void NoteUnknownNodes(const ThreadState& thread, const ExecInfo* exec);
  void ApplyByGraph(ThreadState& thread, const Call& call);
  uint64_t TargetOf(const ThreadState& thread, const Call& call);
  EmbeddedGraph* Made(uint64_t handle);
  const FrontierEntry* ClonedData(uint64_t from, uint64_t to);
  bool ReadWork(const NodeInfo& node, NodeRecord& r);
  void WriteInherited(const Call& call, NodeInfo& node, const NodeInfo& original);
  void ClaimGraphs(const Call& call, bool of_call);
  void ClaimBodies(const Call& call);
  void Claim(EmbeddedGraph& graph);
  NodeId HolderOf(uint64_t graph, const Call& call);
  GraphId SourceOf(uint64_t graph, const Call& call, bool of_call);
  GraphInfo* MovedGraph(const Call& call, bool of_call);
  GraphId HeldGraph(const Call& call, bool of_call);
  void WriteClaimedGraphs(const Call& call, NodeId parent, bool of_call);
  void KeepExecNodes(const ThreadState& thread, ExecInfo& exec);
  void UpdateExecNodes(const ThreadState& thread, ExecInfo& exec);
  static ExecNodeInfo* FindExecNode(ExecInfo& exec, NodeId source);
  static const ExecGraphInfo* FindExecGraph(const ExecInfo& exec, uint64_t handle);
  static bool HasNodesInside(const ExecInfo& exec, NodeId holder);

  // recorder_memory.cpp
  void OnAlloc(ThreadState& thread, const Call& call);
  void EndBlock(ThreadState& thread, const Call& call);
  BlockId WriteAlloc(const Call& call, StreamId stream, PoolId pool, GraphId graph);
  template <typename Record = FreeRecord>
  void WriteFree(const Call& call, BlockId block, StreamId stream, bool derived) {
    Record r;
    r.memory = block;
    r.stream = stream;
    if (derived) r.source = Source::kDerived;
    if (!derived) r.stack = call.stack;
    Write(call, r);
  }
  PoolId WritePool(PoolKind kind, std::string_view name, uint64_t handle);
  void ForgetOverlaps(const Call& call, uint64_t address, uint64_t size);
  PoolId PoolOf(const Call& call, PoolKind kind, uint64_t handle);

  // recorder_heaps.cpp
  PoolId NamedPool(ThreadState& thread, const Call& call, std::string_view name);
  PoolId PoolAt(uint64_t address) const;
  SegmentInfo* SegmentAt(uint64_t address);
  SegmentInfo& AddSegment(const Call& call, PoolId pool);
  void DropSegment(const Call& call, uint64_t address);
  void DropPieces(const Call& call, uint64_t address, uint64_t size);
  void FlushPieces(ThreadState& thread);
  void WritePiece(ThreadState& thread, const Call& call);

  // recorder_stacks.cpp
  struct AddressHash {
    size_t operator()(const std::vector<uint64_t>& addresses) const;
  };
  using StackTable = std::unordered_map<std::vector<uint64_t>, StackId, AddressHash>;

  // recorder_ranges.cpp
  void WriteRanges(ThreadState& thread, uint64_t time = 0);

  RecordSink& sink_;
  bool eager_;
  RecordLine line_;
  BorrowedValues values_;
  RecordCounts counts_;

  uint32_t next_thread_ = 0, next_stream_ = 0, next_event_ = 0, next_capture_ = 0, next_graph_ = 0,
           next_exec_ = 0, next_block_ = 0, next_pool_ = 0, next_failure_ = 0, next_segment_ = 0;
  uint32_t next_node_ = 0, next_edge_ = 0;

  HandleMap<std::unique_ptr<StreamInfo>> streams_;
  HandleMap<std::unique_ptr<EventInfo>> events_;
  HandleMap<std::unique_ptr<GraphInfo>> graphs_;
  HandleMap<NodeInfo> nodes_;
  HandleMap<std::vector<InnerGraph>> inner_graphs_;  // by InnerKey of the node that they are in
  HandleMap<ExecInfo> execs_;
  HandleMap<PoolId> pools_;
  std::vector<std::unique_ptr<CaptureInfo>> captures_;  // open ones
  KernelTable kernels_;
  std::map<std::pair<uint64_t, uint32_t>, CommunicatorId> communicators_;  // by key and rank
  StackTable taken_stacks_;                                                // as they were taken
  std::unordered_map<std::string, StackId> named_stacks_;                  // as they are written
  LiveMemory live_;
  std::map<uint64_t, SegmentInfo> segments_;   // by address
  std::map<uint64_t, PoolRange> pool_ranges_;  // by address
  std::vector<std::pair<std::string, PoolId>> named_pools_;
  std::vector<WaitingPiece> waiting_;

  // The node at hand.
  FreshNode fresh_;
  std::vector<Access> found_;
  std::vector<Collective> found_collectives_;
  std::vector<GraphId> bodies_;
  BlockId node_block_;
  EventId node_event_;
  KernelInfo* node_kernel_ = nullptr;
  bool node_indirect_ = false;           // an operand leads to memory that isn't known
  bool complete_ = false;                // it touches nothing but what was found; kernels aside
  size_t nodes_made_ = 0;                // by the call at hand, where it has a batch of operations
  size_t next_operation_ = 0;            // of these
  std::vector<EmbeddedGraph> embedded_;  // made in the call at hand
  HandleMap<uint32_t> made_;             // places in it, by handle
  std::vector<EmbeddedGraph> claimed_;   // of these, the ones that the node at hand holds
  std::vector<uint64_t> in_order_;       // graphs as their events are applied: after their nodes
  HandleMap<CloneInfo> clones_;          // nodes that the call at hand made of others
};

// "cudaMalloc_v3020" and "cuStreamBeginCapture_v2_ptsz" without version and stream suffixes.
std::string_view PlainCallName(std::string_view name);

}  // namespace graphkit
