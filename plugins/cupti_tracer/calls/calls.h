// The tracer's input: CUDA calls and graph events as plain values, without a CUDA type among them.
// The glue makes these from CUPTI's callbacks; the recorder makes records from them, and tests make
// them by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/io/record/record_line.h"
#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"
#include "plugins/cupti_tracer/ground/fingerprint.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/stacks/known_stacks.h"

namespace graphkit {

struct KernelInfo;  // kernels.h
class ThreadSites;  // eager_sites.h

enum class CallKind : uint8_t {
#define KIND(name, ...) name,
#include "plugins/cupti_tracer/calls/call_kinds.def"
#undef KIND
};

// The kinds of things that a call may take away, and that a handle stands for.
enum class Taken : uint8_t { kNothing, kStream, kEvent, kExec, kPool, kGraph, kNode, kMemory };

struct KindRow {
  enum Trait : uint8_t {
    kSilent = 1,
    kInternal = 2,
    kCaptured = 4,
    kTold = 8,
    kStacked = 16,
    kAnswered = 32
  };
  Taken taken;
  uint8_t traits;
};

namespace call_kinds {
using enum Taken;
using enum KindRow::Trait;
inline constexpr KindRow kRows[] = {
#define KIND(name, taken, traits, handler) {taken, traits},
#include "plugins/cupti_tracer/calls/call_kinds.def"
#undef KIND
};
}  // namespace call_kinds

inline Taken TakenBy(CallKind kind) { return call_kinds::kRows[static_cast<size_t>(kind)].taken; }
inline bool Is(CallKind kind, KindRow::Trait trait) {
  return (call_kinds::kRows[static_cast<size_t>(kind)].traits & trait) != 0;
}

// A stream as a call names it.
inline constexpr uint64_t kNoStream = 0;
inline constexpr uint64_t kLegacyStream = 1;     // CU_STREAM_LEGACY
inline constexpr uint64_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD

// A length below 0: unknown.
struct TouchedMemory {
  uint64_t address = 0;
  int64_t length = -1;
  bool write = false;
  AccessRows rows = {};
  std::optional<HostMemoryKind> host;  // of a recorded copy's end: no memory that CUDA knows
};

// A copy or a memset, of one call or of a batch; a wait for a value or a write of one.
struct Operation {
  TouchedMemory touches[3];
  uint32_t touch_count = 0;
  bool complete = true;  // it touches nothing else

  void Touch(uint64_t address, int64_t length, bool write, const AccessRows& rows = {}) {
    touches[touch_count++] = {address, length, write, rows, {}};
  }
};

// An end of an edge given to a call, and the data that goes with it.
struct Dependency {
  uint64_t from = 0;
  uint64_t to = 0;  // 0: the node that the call adds
  uint8_t from_port = 0;
  uint8_t to_port = 0;
  uint8_t type = 0;
};

// An argument of a failed call; what its value stands for.
enum class ArgumentKind : uint8_t {
  kNone,  // a handle of something that a trace doesn't know
  kUnsigned,
  kSigned,
  kAddress,
  kHandle,  // of `what`
};
struct CallArgument {
  const char* name = "";
  ArgumentKind kind = ArgumentKind::kNone;
  uint64_t value = 0;
  Taken what = Taken::kNothing;
};

// A kernel launch or a kernel node's parameters. Arguments are in the caller's memory.
struct KernelWork {
  uint64_t function = 0;
  const char* name = nullptr;  // mangled; null: to be asked for
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  const void* const* arguments = nullptr;  // one pointer per parameter
  const char* packed = nullptr;            // or the whole argument buffer
  size_t packed_bytes = 0;
  // Launch attributes that decide about edges.
  bool programmatic_serialization = false;
  bool updatable = false;           // from the device
  bool at_block_start = false;      // of programmatic_event
  uint64_t programmatic_event = 0;  // recorded when all blocks have triggered (or begun)
  uint64_t completion_event = 0;    // recorded when all blocks have begun
};

inline constexpr int32_t kUnknownDevice = -1;

// The device's free memory right before and right after a call.
struct FreeMemory {
  uint64_t before = 0;
  uint64_t after = 0;
  bool disturbed = false;  // by a call of another thread that takes or gives back memory
};

// One CUDA call. Which fields mean something depends on `kind`.
struct Call {
  CallKind kind = CallKind::kOther;
  NodeKind work_kind = NodeKind::kUnknown;  // kWork: the node that it would be
  PoolKind pool_kind = PoolKind::kDevice;   // kAlloc
  ConditionalType conditional = ConditionalType::kUnknown;
  bool is_allocation = false;  // when it fails, that is a failed allocation
  uint8_t mode = 0;            // kBeginCapture: CaptureMode
  const char* name = "";       // the function
  uint64_t time = 0;           // ns since the trace began
  uint64_t context = 0;
  uint64_t stream = kNoStream;
  uint64_t event = 0;
  uint64_t graph = 0;
  uint64_t original = 0;     // kGraphClone; the graph that a child node embeds
  bool moves_graph = false;  // it embeds that graph itself, not a copy
  uint64_t node = 0;         // of a call that failed: the one that CUDA names
  uint64_t from_node = 0;    // and where the edge into it comes from that is wrong
  uint64_t exec = 0;
  uint64_t pool = 0;
  bool registered = false;  // kAlloc: memory that was there already is made known to CUDA
  bool mapping = false;     // kAlloc: of physical memory to reserved addresses
  uint64_t physical = 0;    // the handle of physical memory; 0: a part of some
  bool polls = false;       // kStreamSync: asks whether the stream is done, again and again
  bool blocking = false;    // kWork: of a call without a stream, that may wait for it
  bool to_host = false;     // kWork: a copy into memory of the host
  bool recapture = false;   // kBeginCapture: over the nodes that `graph` has
  uint64_t stack_top = 0;   // kGraphLaunch: of an exec with copies of the thread's stack
  uint64_t address = 0;
  uint64_t size = 0;
  const void* tensor_map = nullptr;  // kTensorMap: of the memory from `address` on
  int64_t extent = -1;               // its bytes; negative: not known
  uint64_t flags = 0;
  int32_t priority = 0;
  int32_t device = 0;  // kUnknownDevice: it couldn't be asked
  uint64_t tool_id = 0;
  int32_t result = 0;                       // 0: success
  int32_t reason = 0;                       // kInstantiate: CUgraphInstantiateResult
  uint32_t correlation = 0;                 // kGraphLaunch: of the outermost call
  StackId stack;                            // known to the recorder
  const FreeMemory* measured = nullptr;     // of an exec; null: it wasn't
  std::span<const CallArgument> arguments;  // of a call that failed
  KernelWork kernel;
  Operation own;  // of a copy or a memset
  // Details of a copy, a memset or a host function beyond that; Fingerprint::kUnknown: not known.
  uint64_t details = Fingerprint::kUnknown;
  std::vector<Operation> operations;  // of a batch, in its order
  const uint64_t* bodies = nullptr;   // handles of a conditional node's bodies
  uint32_t body_count = 0;
  std::vector<Dependency> dependencies;
};

// A launch of a graph that CUDA has accepted.
struct GraphLaunch {
  uint64_t exec = 0;
  uint64_t stream = kNoStream;
  uint64_t context = 0;
  uint64_t time = 0;
  uint32_t correlation = 0;  // of the outermost call
  StackId stack;             // as a Call's
};

// The graph events of CUPTI's resource callbacks. Numbers are CUPTI's callback ids.
enum class GraphEventKind : uint8_t {
  kGraphCreated = 9,
  kGraphCloned = 11,
  kNodeStarting = 12,
  kNodeCreated = 13,
  kDependencyCreated = 15,
  kDependencyDestroyed = 16,
  kNodeCloned = 20,
};

struct GraphEvent {
  GraphEventKind kind = GraphEventKind::kGraphCreated;
  uint8_t node_type = 0;  // CUgraphNodeType; valid with kNodeStarting
  uint64_t graph = 0;
  uint64_t original_graph = 0;
  uint64_t node = 0;
  uint64_t original_node = 0;
  uint64_t dependency = 0;
  uint64_t tool_id = 0;  // kGraphCreated: cuptiGetGraphId
};

// A node of an exec, as it is made, or as an update gives it another node's parameters.
struct ExecNode {
  uint64_t original = 0;        // the graph's node
  uint64_t tool_id = 0;         // cuptiGetGraphNodeId; 0: unknown
  uint64_t node = 0;            // the exec's
  uint64_t graph = 0;           // of the exec, that holds it
  uint64_t original_graph = 0;  // that holds the graph's node
};

// An NVTX range that is open on a thread.
struct OpenRange {
  std::string domain;
  std::string name;
  uint32_t colour = 0;  // ARGB; 0: none
  bool written = false;
};

// Memory that the recorder works in while it has a call at hand. Each thread brings its own: memory
// that another core wrote last is slow to come.
struct WorkSpace {
  RecordLine line;
  std::vector<uint64_t> dependencies;
  std::vector<Access> found;
  std::vector<Scalar> scalars;
};

// Something that a call takes away, as it was when the call began: by the time the call returns,
// another thread may have been given the same handle or address.
struct Going {
  static constexpr uint32_t kNobody = 0xffffffffu;  // nothing that is known
  Taken what = Taken::kNothing;
  uint64_t handle = 0;
  uint32_t id = kNobody;  // of a record
};

// State that the tracer keeps for each thread of the program. Owned by that thread.
// A call of NCCL that hasn't launched its kernel.
struct NcclCall {
  uint64_t communicator = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint64_t bytes = 0;
  int32_t peer = -1;
};

struct ThreadState {
  int64_t tid = 0;
  std::string name;
  ThreadId id;                       // none: not recorded yet
  std::vector<GraphEvent> events;    // since the driver call in flight began
  std::vector<ExecNode> exec_nodes;  // made or changed by the call in flight
  std::vector<OpenRange> ranges;     // innermost last
  size_t silent_ranges = 0;          // of these, the ones not written
  std::vector<NcclCall> nccl_calls;  // of the ranges in flight, and of the open group
  uint32_t nccl_ranges = 0;          // in flight
  uint32_t nccl_groups = 0;          // open, one inside the other
  std::string next_graph;            // the name of the graph that it is about to capture

  // The name of the innermost range of a domain; empty: none is open.
  std::string_view InnermostRange(std::string_view domain) const {
    for (size_t i = ranges.size(); i-- > 0;) {
      if (ranges[i].domain == domain) return ranges[i].name;
    }
    return {};
  }

  uint64_t context = 0;      // of its last call
  uint64_t stack_begin = 0;  // of its stack: [begin, end); 0: not asked for yet
  uint64_t stack_end = 0;
  bool copies_stack = false;  // it captured a copy of its own stack
  const char* runtime_call = nullptr;
  int runtime_depth = 0;
  int driver_depth = 0;
  bool internal_call = false;            // makes graph objects that are none of the user's
  bool instantiates = false;             // it makes an exec
  uint32_t correlation = 0;              // of the runtime call in flight
  bool inside = false;                   // in the tracer itself (Inside)
  WorkSpace space;                       // the recorder's, while it works for this thread
  HandleMap<const KernelInfo*> kernels;  // by function: launched outside of captures before
  uint64_t unloads = 0;                  // of modules, before these were launched
  uint64_t anchor = 0;                   // where the callback in flight lies on the stack
  uint64_t stack_left = 0;               // bytes, at the callback that is being handled
  KnownStacks known_stacks;              // that it took before
  std::unique_ptr<TakenStack> taken;     // none: it took none
  StackId said_stack;                    // of what an allocator says at the moment
  ThreadSites* sites = nullptr;          // the places of its launches outside of captures
  uint64_t site_unloads = 0;             // of modules, before these were found

  bool measuring = false;      // free memory was read when the call in flight began
  uint64_t takers_before = 0;  // calls until then that take or give back memory
  FreeMemory free_memory;

  std::vector<Going> going;  // by the calls in flight, the innermost call's last

  // While a runtime call is in flight: the error of the last driver call in it.
  int32_t failed = 0;
  uint64_t failed_stream = kNoStream;
  FailedGraph failed_on;                // what that call was about
  bool failed_matters = false;          // also outside of captures
  std::vector<CallArgument> arguments;  // of that driver call
  bool failure_told = false;            // it is recorded already
};

// While one lives, its thread is at work in the tracer: what the tracer's own calls of the driver
// cause on that thread is none of the program's.
class Inside {
 public:
  explicit Inside(ThreadState* thread)
      : thread_(thread != nullptr && !thread->inside ? thread : nullptr) {
    if (thread_ != nullptr) thread_->inside = true;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    if (thread_ != nullptr) thread_->inside = false;
  }

  // False: the thread is in the tracer already, or it has no state.
  explicit operator bool() const { return thread_ != nullptr; }

 private:
  ThreadState* thread_;
};

// A call for an address, as an allocator in the program annotates it.
inline Call CallAt(uint64_t address, uint64_t size, const ThreadState& thread, uint64_t time) {
  Call call;
  call.time = time;
  call.context = thread.context;
  call.address = address;
  call.size = size;
  call.stack = thread.said_stack;
  return call;
}

}  // namespace graphkit
