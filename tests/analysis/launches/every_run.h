// All runs that CUDA allows of a small program, one by one: which of its submissions may start
// before others have ended. Written from the definitions in CUDA's programming guide and API
// reference, and from nothing of the library: streams are queues, threads are lists of calls, and a
// run is one path through their states.
//
//     thread 0:  launch on a     synchronize a     launch on b
//     stream a:  ■                                                 states: (a 0) → (a 1) → (a 1, b
//     1) stream b:                                    ■               b never starts before a has
//     ended
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphkit {

enum class HostCallKind : uint8_t {
  kLaunch,      // of an exec
  kWork,        // a kernel, a copy or a memset outside of graphs
  kRecord,      // an event on a stream
  kWait,        // a stream waits for an event
  kSyncStream,  // the host waits
  kSyncEvent,
  kSyncDevice,
  kFree,    // of device memory: the host waits for the device
  kUpdate,  // of an exec, from a graph
  kChange,  // of an exec's parameters
};

// A call, by a thread; the calls of a program are in the order in which they were made.
struct HostCall {
  HostCallKind kind = HostCallKind::kWork;
  size_t thread = 0;
  size_t stream = 0;
  size_t event = 0;
  size_t exec = 0;
  size_t graph = 0;
};

enum class RunStream : uint8_t { kLegacy, kBlocking, kNonBlocking };

// Nodes of a graph that wait for an event before all others, and record one after them.
struct RunGraph {
  static constexpr size_t kNoEvent = ~size_t{0};
  size_t waits = kNoEvent;
  size_t records = kNoEvent;
};

struct RunProgram {
  std::vector<RunStream> streams;
  size_t events = 0;
  size_t threads = 1;
  std::vector<RunGraph> graphs;
  size_t execs = 0;  // each of the graph with its number, at first
  std::vector<HostCall> calls;
};

// By submission (launches and work, in order), and by the later one: it may start before the
// earlier one has ended. `threads_in_order`: where each thread makes a call only once all calls
// before it were made, by whatever thread. Otherwise only what is queued has the order of the
// calls, and the program may not order its threads at all; of several threads any may have made a
// call by which a stream waits, as traces don't name it.
std::vector<std::vector<bool>> MayOverlap(const RunProgram& program, bool threads_in_order);

}  // namespace graphkit
