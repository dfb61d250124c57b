// Streams, events, and what orders them: the calls from which a stream's frontier follows.
//
// The frontier of a capturing stream is the set of nodes that its next node will depend on. It
// starts empty (or with the dependencies given to begin-capture-to-graph), becomes {n} when node n
// is captured on the stream, takes in an event's set when the stream waits for it, and is edited by
// cudaStreamUpdateCaptureDependencies:
//
//     stream A:  a0 ─── record e ─── a1
//     stream B:            └── wait e ── b0        frontier of B before b0: {a0}
#pragma once

#include <cstdint>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class StreamKind : uint8_t { kCreated, kLegacyDefault, kPerThreadDefault };

struct Stream {
  uint64_t handle = 0;
  StreamKind kind = StreamKind::kCreated;
  bool non_blocking = false;
  int16_t device = 0;
  int32_t priority = 0;
  Seq created = 0;
  Seq destroyed = kNever;
  StringId name;  // from NVTX; may be empty
  bool operator==(const Stream&) const = default;
};

struct Event {
  uint64_t handle = 0;
  Seq created = 0;
  Seq destroyed = kNever;
  bool operator==(const Event&) const = default;
};

enum class CaptureMode : uint8_t { kGlobal, kThreadLocal, kRelaxed };

enum class CaptureStatus : uint8_t {
  kOpen,  // the trace ends inside it
  kCompleted,
  kInvalidated,  // ended with an error, or could not be ended
};

// One stream capture: from begin to end on its origin stream.
struct Capture {
  GraphId graph;
  StreamId origin;
  ThreadId thread;
  CaptureMode mode = CaptureMode::kGlobal;
  bool recapture = false;  // over the nodes that the graph has (cuStreamBeginRecaptureToGraph)
  CaptureStatus status = CaptureStatus::kOpen;
  int32_t error = 0;               // cudaError_t that ended it; 0: none
  uint32_t failure = 0xffffffffu;  // index in Trace::failures of the call that invalidated it
  Seq begin = 0;
  Seq end = kNever;
  bool operator==(const Capture&) const = default;
};

enum class StreamOpKind : uint8_t {
  kEventRecord,    // event := frontier of stream (or `nodes`, when the record is part of a launch)
  kEventWait,      // frontier of stream ∪= event
  kSetFrontier,    // frontier of stream := nodes
  kAddToFrontier,  // frontier of stream ∪= nodes
  kStreamSync,     // the host waited for the stream
  kEventSync,      // the host waited for the event
  kDeviceSync,     // the host waited for everything
};

// An entry of an explicit frontier: a node and through which port it is left.
struct FrontierEntry {
  NodeId node;
  uint8_t from_port = 0;
  uint8_t edge_type = 0;
  bool operator==(const FrontierEntry&) const = default;
};

struct StreamOp {
  Seq seq = 0;
  StreamOpKind kind = StreamOpKind::kEventRecord;
  bool capturing = false;  // the stream was capturing, or joined a capture by this
  bool external = false;   // cudaEventRecordExternal / cudaEventWaitExternal: a node, no order
  bool has_entries = false;
  ThreadId thread = {};  // that made the call; none: not recorded
  StreamId stream = {};
  EventId event = {};
  Slice entries = {};  // in Trace::frontier_entries, when has_entries
  bool operator==(const StreamOp&) const = default;
};

}  // namespace graphkit
