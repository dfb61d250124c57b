// Graphs, their nodes and edges, and what is instantiated and launched from them.
#pragma once

#include <cstdint>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class GraphOrigin : uint8_t {
  kCapture,   // made by stream capture
  kExplicit,  // cudaGraphCreate
  kClone,     // cudaGraphClone
  kChild,     // the embedded graph of a child graph node
  kBody,      // a body of a conditional node
  kImported,
};

struct Graph {
  GraphOrigin origin = GraphOrigin::kExplicit;
  GraphId original;   // clone and child: what it was cloned from; may be none
  NodeId parent;      // child and body: the node that holds it
  uint32_t body = 0;  // body: which one of the conditional node
  Seq created = 0;
  Seq destroyed = kNever;
  uint64_t handle = 0;
  uint64_t tool_id = 0;  // cuptiGetGraphId; 0: unknown
  StringId name;
  bool operator==(const Graph&) const = default;
};

// Values are CUgraphNodeType's (cuda.h, CUDA 13.0).
enum class NodeKind : uint8_t {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kChildGraph = 4,
  kEmpty = 5,
  kEventWait = 6,
  kEventRecord = 7,
  kExternalSemaphoreSignal = 8,
  kExternalSemaphoreWait = 9,
  kMemAlloc = 10,
  kMemFree = 11,
  kBatchMemOp = 12,
  kConditional = 13,
  kUnknown = 255,
};
inline constexpr int kNodeKindCount = 14;

// "kernel", "memcpy", …: the names used in files and reports.
const char* NodeKindName(NodeKind kind);

// CUgraphConditionalNodeType, and what none of them is known of: it may run its bodies again, and
// more than one of them.
enum class ConditionalType : uint8_t { kIf = 0, kWhile = 1, kSwitch = 2, kUnknown = 3 };

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;  // dynamic shared memory
  bool operator==(const LaunchShape&) const = default;
};

struct Node {
  GraphId graph;
  StreamId stream;  // the stream it was captured on; none for explicitly added nodes
  ThreadId thread;
  Seq seq = 0;
  Seq destroyed = kNever;
  NodeKind kind = NodeKind::kUnknown;
  Source source = Source::kCallback;
  ConditionalType conditional = ConditionalType::kUnknown;  // conditional nodes
  bool accesses_complete =
      false;        // all that the node may touch is listed (memcpy, memset, a kernel with layout)
  KernelId kernel;  // kernel nodes
  uint32_t shape = 0xffffffffu;  // kernel nodes: index in Trace::shapes
  Slice accesses;                // in Trace::accesses
  BlockId block;                 // mem alloc and mem free nodes
  EventId event;                 // event record and wait nodes
  StackId stack;
  TwoWords duration_ns;  // measured; 0: unknown
  bool operator==(const Node&) const = default;
};

// True when the node's body may run several times, or several of its bodies.
constexpr bool MayRepeat(const Node& node) {
  return node.kind == NodeKind::kConditional && node.conditional != ConditionalType::kIf &&
         node.conditional != ConditionalType::kSwitch;
}

// CUgraphDependencyType.
enum class EdgeType : uint8_t { kDefault = 0, kProgrammatic = 1 };

// Ports of a kernel node that an edge may leave by (cuda.h: CU_GRAPH_KERNEL_NODE_PORT_*).
inline constexpr uint8_t kPortDefault = 0;           // the kernel finished
inline constexpr uint8_t kPortProgrammatic = 1;      // all its blocks triggered, or exited
inline constexpr uint8_t kPortLaunchCompletion = 2;  // all its blocks began

struct Edge {
  NodeId from;
  NodeId to;
  uint8_t from_port = kPortDefault;
  uint8_t to_port = 0;
  EdgeType type = EdgeType::kDefault;
  Source source = Source::kCallback;
  Seq seq = 0;
  Seq removed = kNever;
  bool operator==(const Edge&) const = default;

  // True when `to` starts only after `from` has finished and its writes are visible.
  bool full() const { return from_port == kPortDefault && type == EdgeType::kDefault; }
};

// A word for a node that its program, or PyTorch, has beside its kernel's name.
struct NodeLabel {
  Seq seq = 0;  // of the node
  StringId text;
  bool operator==(const NodeLabel&) const = default;
};

// A number among the arguments of a kernel: its bits, without a sign. Of arguments that are no
// address, and of which the layout is known.
struct Scalar {
  static constexpr uint16_t kGrid = 0xffff;  // as an argument: the grid's extent `offset`

  Seq seq = 0;            // of the node, the change of parameters, the work or the eager site
  uint16_t argument = 0;  // which one of the kernel's
  uint16_t offset = 0;    // bytes into it: of a structure
  uint64_t bits = 0;
  bool operator==(const Scalar&) const = default;
};

// Nodes of a graph, and what they are called in an exec of it: node first+i has the tools id
// tool_id+i (cuptiGetGraphNodeId: tools id of the graph that holds it there << 32 | number).
struct ToolIdRun {
  NodeId first;
  uint32_t count = 0;
  uint64_t tool_id = 0;
  bool operator==(const ToolIdRun&) const = default;
};

struct Exec {
  GraphId graph;  // instantiated from
  uint64_t handle = 0;
  uint64_t flags = 0;    // cudaGraphInstantiateFlag*
  uint64_t tool_id = 0;  // cuptiGetGraphExecId
  Slice node_ids;        // in Trace::tool_id_runs; empty: not recorded
  Seq created = 0;
  Seq destroyed = kNever;
  StackId stack;
  bool operator==(const Exec&) const = default;
};
inline constexpr uint64_t kInstantiateAutoFreeOnLaunch = 1;
inline constexpr uint64_t kInstantiateDeviceLaunch = 4;

// The calls in which the driver takes memory for an exec: it is made; it is brought to the device;
// it is launched for the first time.
enum class ExecCall : uint8_t { kInstantiate, kUpload, kLaunch };

// Free device memory right before and right after such a call, as the driver says (cuMemGetInfo).
// Recorded where the tracer was asked for it (`graphkit trace --measure-execs`).
struct ExecReading {
  ExecId exec;
  ExecCall call = ExecCall::kInstantiate;
  bool disturbed = false;  // meanwhile another thread called what takes or gives back memory
  Bytes before = 0;
  Bytes after = 0;
  Seq seq = 0;
  bool operator==(const ExecReading&) const = default;
};

// An exec was updated from another graph (cudaGraphExecUpdate): its later launches run that one.
struct ExecUpdate {
  ExecId exec;
  GraphId graph;
  int32_t result = 0;  // cudaGraphExecUpdateResult; 0: updated
  Seq seq = 0;
  // Where it failed: the node of the graph that CUDA names, and that an edge into it comes from.
  NodeId node = {};
  NodeId from = {};
  bool same = false;  // all nodes were given the parameters that they had
  bool operator==(const ExecUpdate&) const = default;
};

// kUpdatable: a kernel node may be given parameters, or be switched, by other kernels at any time
// (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE).
enum class NodeChangeKind : uint8_t { kParams, kEnabled, kDisabled, kUpdatable };

// A node was given new parameters, or switched on or off: in an exec, for its later launches, or in
// the graph itself.
struct NodeChange {
  NodeId node;  // of the graph
  ExecId exec;  // none: the graph's own node
  NodeChangeKind what = NodeChangeKind::kParams;
  bool accesses_complete = false;  // as a Node's, and what follows, too; with kParams only
  KernelId kernel;
  uint32_t shape = 0xffffffffu;
  Slice accesses;
  EventId event;
  GraphId child;  // child graph nodes: the embedded graph takes the parameters of this one's nodes
  Seq seq = 0;
  bool same = false;  // kParams: these are the ones that it had
  bool back = false;  // the graph's own node: these are the ones that its execs have
  bool operator==(const NodeChange&) const = default;
};

// Known properties of an edge that doesn't wait for its producer's end.
struct EarlyStart {
  uint8_t from_port = kPortProgrammatic;   // or kPortLaunchCompletion: triggers don't matter
  Triggers triggers = Triggers::kUnknown;  // the producer
  Ternary writes_after_trigger = Ternary::kUnknown;
  Ternary waits = Ternary::kUnknown;  // the consumer
  auto operator<=>(const EarlyStart&) const = default;

  // It starts the consumer when all of the producer's blocks have ended, as a full edge would.
  bool at_end() const { return from_port == kPortProgrammatic && triggers == Triggers::kNo; }
};

// One replay.
struct Launch {
  ExecId exec;
  StreamId stream;
  Seq seq = 0;
  ThreadId thread = {};      // none: not recorded
  uint32_t correlation = 0;  // CUPTI's correlation id of the call; 0: unknown
  StackId stack = {};
  bool operator==(const Launch&) const = default;
};

// Work that was submitted outside of captures: while one was open elsewhere, on memory that was
// allocated in captures, or all of it (Process::all_work).
struct EagerWork {
  StreamId stream;
  ThreadId thread;
  NodeKind kind = NodeKind::kUnknown;
  bool accesses_complete = false;  // as a Node's, and what follows, too
  KernelId kernel;
  uint32_t shape = 0xffffffffu;
  Slice accesses;
  StackId stack;
  Seq seq = 0;
  bool operator==(const EagerWork&) const = default;
};

// Work that a thread submitted to a stream outside of captures since the count before this one:
// what is recorded of it by default (`graphkit trace` without `--scope all`). A trace with any
// counts has all of it in them; one of zeros says that there was none.
struct EagerCount {
  ThreadId thread;
  StreamId stream;
  uint64_t kernels = 0;
  uint64_t copies = 0;
  Bytes copied_bytes = 0;  // as far as the calls say
  uint64_t others = 0;     // memsets, host functions, waits for values, …
  Seq seq = 0;
  bool operator==(const EagerCount&) const = default;
};

// Launches of a kernel outside of captures that a thread made from one place of its program, since
// the row before this one; and the values that the grids and arguments of all of them had so far
// (Trace::scalars, each once): of many the first, the least and the greatest.
struct EagerSite {
  static constexpr size_t kMostSeen = 8;

  KernelId kernel;
  StackId stack;
  ThreadId thread;
  uint64_t launches = 0;
  uint64_t first = 0;  // of these launches, and the last: numbers among the thread's launches
  uint64_t last = 0;
  Seq seq = 0;
  bool operator==(const EagerSite&) const = default;
};

// The graph that a failed call was to make an exec of, or whose exec it was given.
struct FailedGraph {
  GraphId graph;
  NodeId node;         // that CUDA names
  int32_t reason = 0;  // cudaGraphInstantiateResult; 0: not given
  uint64_t flags = 0;  // cudaGraphInstantiateFlag*
  bool operator==(const FailedGraph&) const = default;
};

// A CUDA call that returned an error, or that a capture didn't survive.
struct Failure {
  StringId call;      // "cudaMalloc"
  int32_t error = 0;  // cudaError_t
  ThreadId thread;
  StreamId stream;
  GraphId graph;  // the capture that it hit; may be none
  StackId stack;
  StringId arguments;  // "bytesize=4096": of the driver's call, by cuda.h's names
  FailedGraph of = {};
  // Of an allocator that ran out of memory; 0 elsewhere.
  int16_t device = 0;
  Bytes requested = 0;
  Bytes free_on_device = 0;
  Seq seq = 0;
  bool operator==(const Failure&) const = default;
};

// Since which driver, as cuDriverGetVersion, edges have data; before, each is a full dependency.
inline constexpr int kEdgeDataSince = 12030;

}  // namespace graphkit
