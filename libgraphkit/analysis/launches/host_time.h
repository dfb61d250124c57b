// Host time of capturing a graph: the time between the records of the capture, which is the
// program's own time and that of CUDA's calls.
//
//     begin ── node 0 ──── node 1 ─ free ── node 2 ───────────── node 3 ── end
//       └──────────── total, over the calls ──── longest ┘ before node 3
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct HostTime {
  uint64_t calls = 0;          // that made a node
  Nanoseconds total = 0;       // from the capture's begin to its end; 0: no times were recorded
  Nanoseconds longest = 0;     // between a node and what was recorded before it in the capture
  NodeId longest_before = {};  // the node
  bool operator==(const HostTime&) const = default;

  Nanoseconds per_call() const { return calls == 0 ? 0 : total / calls; }
};

// When the record was made; 0: unknown.
Nanoseconds TimeAt(const Trace& trace, Seq seq);

// By graph; of a graph that several captures added to, their sum.
std::vector<HostTime> FindHostTimes(const Trace& trace);

// "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string FormatNanoseconds(Nanoseconds ns);

}  // namespace graphkit
