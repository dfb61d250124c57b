// Launches of graphs: the graph that each ran, and inputs that were freed before; the kernels that
// they and others launch; and the host time of captures.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Host time of capturing a graph: the time between the records of the capture, which is the
// program's own time and that of CUDA's calls.
//
//     begin ── node 0 ──── node 1 ─ free ── node 2 ───────────── node 3 ── end
//       └──────────── total, over the calls ──── longest ┘ before node 3

struct HostTime {
  uint64_t calls = 0;          // that made a node
  Nanoseconds total = 0;       // from the capture's begin to its end; 0: no times were recorded
  Nanoseconds longest = 0;     // between a node and what was recorded before it in the capture
  NodeId longest_before = {};  // the node
  bool operator==(const HostTime&) const = default;

  Nanoseconds per_call() const { return calls == 0 ? 0 : total / calls; }
};

// When the record was made; 0: unknown.
Nanoseconds TimeAt(const Ran& trace, Seq seq);

// By graph; of a graph that several captures added to, their sum.
std::vector<HostTime> FindHostTimes(const Ran& trace);

// "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string FormatNanoseconds(Nanoseconds ns);

class Facts;

// No launch and no work: of indices in Trace::launches and Trace::works.
inline constexpr uint32_t kNoUse = 0xffffffffu;

// By launch, the graph that it ran: the exec's own, or that of its last update. None where it ran a
// version of it that isn't shown (ran/ran.h).
std::vector<GraphId> FindRan(const Ran& trace);

// By graph, its launches: indices in Trace::launches. `ran` as of FindRan.
std::vector<std::vector<uint32_t>> LaunchesByGraph(const Ran& trace,
                                                   const std::vector<GraphId>& ran);

// The last launch of a graph before a place; none: there is none.
std::optional<uint32_t> LaunchBefore(const Facts& facts, GraphId graph, Seq at);
// Those after a place, in order.
std::span<const uint32_t> LaunchesAfter(const Facts& facts, GraphId graph, Seq at);

// By graph: a capture of it came to that.
std::vector<bool> CapturedWith(const Ran& trace, CaptureStatus status);

// By graph: it surely never ran and never will. It is gone, or only a model for others (clones,
// child graphs), and no exec was made of it, or updated to it. Its clones are judged for
// themselves.
std::vector<bool> FindNeverRun(const Ran& trace);

// By graph: when the last exec of its root was destroyed; kNever: one is left, or there was none,
// or the program captured and launched nothing afterwards, so that it may only have ended.
std::vector<Seq> FindDestroyed(const Ran& trace, const std::vector<GraphId>& roots);

// An input of a graph that was freed before the graph's last launch, which touched it as it was
// captured.
struct StaleInput {
  GraphInput input;
  // The block that the program made in its place: allocated about when the input was freed, or
  // later, by the same code (the same stack; where stacks aren't known the same size, pool and
  // stream), alive at the launch, and at another address. None, or not the only one: an invalid id.
  BlockId replaced_by;
  // Its private pool is still there, handed the memory out outside of graphs and has it back. The
  // program may have written it anew, as PyTorch's graph trees do after a warm-up in the pool.
  bool in_pool = false;
};
// By root graph. Left out are blocks that were made again in their place, and blocks of a private
// pool that is still there, if only graphs were given their memory since the owner's launch. So
// graphs of one pool hand their results on: what the pool's allocator calls free is written anew by
// the launch of its owner.
std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts);

// Makes a note of a finding on launches that only waits of other threads order.
void DoubtThreads(Finding* finding);

// "launch 3 of graph 1 on stream 2".
std::string LaunchText(const Ran& trace, uint32_t launch, GraphId graph);

// Where the program launches kernels: outside of captures, and into graphs. A site is a kernel and
// the frames from its launch to the innermost one of the program's own code: a warm-up and a
// capture that call the same function share its sites.
//
//     Attend(…)   model.cu:31   ┐ the site             Attend(…)   model.cu:31
//     Step(…)     model.cu:52   ┘ (own frames: the     Step(…)     model.cu:52
//     WarmUp()    main.cu:80      innermost suffices)  Capture()   main.cu:90
//
// Known only of traces with call stacks.

struct KernelSite {
  KernelId kernel;
  uint32_t frame = 0;  // of the program's own code, in Trace::stack_frames: of all alike the first
  auto operator<=>(const KernelSite&) const = default;
};

// The values of each number that launches pass, each once: of an argument and an offset in it, or
// of an extent of the grid (Scalar::kGrid).
using Numbers = std::map<std::pair<uint16_t, uint16_t>, std::vector<uint64_t>>;

// Launches at one site.
struct SiteLaunches {
  struct Count {
    Seq seq = 0;
    uint64_t launches = 0;  // until then
    uint64_t last = 0;      // of these, among the launches of the thread
  };
  std::vector<Count> counts;       // outside of captures
  uint64_t first = 0;              // of these, among the launches of the thread
  ThreadId thread;                 // the first that made some: others aren't counted
  StackId stack;                   // of the first of these
  Numbers outside;                 // of captures
  std::vector<NodeId> nodes = {};  // of graphs that launches run, or a copy of them
  Numbers captured;                // by these, as they were made and as they were changed
  bool captured_known = true;      // all of them

  Count Before(Seq seq) const;
  uint64_t all() const { return counts.empty() ? 0 : counts.back().launches; }
};
using KernelSites = std::map<KernelSite, SiteLaunches>;

KernelSites FindKernelSites(const Facts& facts);

}  // namespace graphkit
