// Launches of graphs: their order, the graph that each ran, inputs that were freed before, memory
// that they overwrite; the kernels that they and others launch; and the host time of captures.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Launches, and work outside of graphs, that have ended before other launches start: order
// between graphs, as streams, events and waits of the host make it. (Order inside a graph:
// order.h.)
//
//     stream a:  launch 0 ── record e ───────────── launch 2
//     stream b:                └── wait e ── launch 1          0 before 1; 1 and 2 unordered
//
// Work that a thread of the host has waited for is before its later submissions; for other
// threads only if the program orders them (a lock, a join), which isn't recorded.

class LaunchOrder {
 public:
  explicit LaunchOrder(const Trace& trace);

  // True if launch `a` has ended when launch `b` starts; indices in Trace::launches. Launches whose
  // stream isn't known are ordered with everything: nothing can be said against them.
  bool Before(uint32_t a, uint32_t b) const { return a < b && Before(launches_[a], launches_[b]); }
  // The same of work that was submitted before the launch; an index in Trace::works.
  bool WorkBefore(uint32_t work, uint32_t launch) const {
    return Before(works_[work], launches_[launch]);
  }
  // The same if each thread knew what the others had waited for.
  bool BeforeByThreads(uint32_t a, uint32_t b) const { return Lenient().Before(a, b); }
  bool WorkBeforeByThreads(uint32_t work, uint32_t launch) const {
    return Lenient().WorkBefore(work, launch);
  }

 private:
  using Clock = std::vector<uint32_t>;  // by stream: how many of its submissions have ended

  struct Place {
    uint32_t stream = 0xffffffffu;
    uint32_t seq = 0;
    uint32_t row = 0;  // in rows_
  };

  LaunchOrder(const Trace& trace, bool by_threads);
  const LaunchOrder& Lenient() const { return by_threads_ ? *by_threads_ : *this; }
  Clock& HostOf(ThreadId thread);
  void Apply(const StreamOp& op);
  Place PlaceOn(StreamId stream, ThreadId thread);
  bool Before(const Place& a, const Place& b) const;
  void Absorb(Clock* into, const Clock& from);
  void Submit(uint32_t stream, ThreadId thread);

  const Trace& trace_;
  std::vector<Place> launches_;
  std::vector<Place> works_;
  std::vector<Clock> rows_;
  std::vector<Clock> streams_;  // what has ended once all that was submitted to the stream has
  std::vector<uint32_t> stream_row_;
  std::vector<Clock> events_;
  std::vector<Clock> hosts_;  // by thread: what it has waited for; the last: one that isn't known
  std::unique_ptr<LaunchOrder> by_threads_;  // where there are several threads
};

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
Nanoseconds TimeAt(const Trace& trace, Seq seq);

// By graph; of a graph that several captures added to, their sum.
std::vector<HostTime> FindHostTimes(const Trace& trace);

// "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string FormatNanoseconds(Nanoseconds ns);

// The fate of freed blocks, as of a later place in the trace: whether their memory was
// handed out again, and which block the program made in their place. Answered for many blocks at
// once, by sweeps over the trace's blocks.

// A freed block, and the place. Its free was requested before that.
struct FreedBlock {
  BlockId block;
  Seq at = 0;
  Seq written = 0;  // by its graph, which was launched again; what was handed out before is over
};

struct FreedFate {
  // Memory of its segment that it lay in was allocated outside of graphs since.
  bool handed_out = false;
  // A block that was allocated outside of graphs lies there at the place.
  bool occupied = false;
  // Made again in its place: as `replaced_by`, at the same address.
  bool remade = false;
  // Allocated since the last launch before the free, as it was (the same size, pool, stream and
  // code), alive at the place, and at another address. None, or not the only one: an invalid id.
  BlockId replaced_by;
  bool operator==(const FreedFate&) const = default;
};

// `looks`, if it isn't null, gets how many blocks and pieces of memory were looked at.
std::vector<FreedFate> FindFates(const MemoryFacts& facts, std::span<const FreedBlock> freed,
                                 uint64_t* looks = nullptr);

class Facts;

// By exec, the graphs that it ran: the one that it was instantiated from, then those that it was
// updated to; each as it was then.
struct ExecGraph {
  GraphId graph;
  Seq since = 0;
};
std::vector<std::vector<ExecGraph>> GraphsOfExecs(const Trace& trace);
// The one of an exec just before a place; none: there is none yet.
ExecGraph GraphBefore(const std::vector<ExecGraph>& of_exec, Seq at);

// By launch, the graph that it ran: the exec's own, or that of its last update. None where it ran a
// version of it that isn't shown (model/graph_versions.h).
std::vector<GraphId> FindRan(const Trace& trace);

// By graph, its launches: indices in Trace::launches. `ran` as of FindRan.
std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace,
                                                   const std::vector<GraphId>& ran);

// The last launch of a graph before a place; none: there is none.
std::optional<uint32_t> LaunchBefore(const Facts& facts, GraphId graph, Seq at);

// By graph: a capture of it came to that.
std::vector<bool> CapturedWith(const Trace& trace, CaptureStatus status);

// By graph: it surely never ran and never will. It is gone, or only a model for others (clones,
// child graphs), and no exec was made of it. Its clones are judged for themselves.
std::vector<bool> FindNeverRun(const Trace& trace);

// By graph: when the last exec of its root was destroyed; kNever: one is left, or there was none,
// or the program captured and launched nothing afterwards, so that it may only have ended.
std::vector<Seq> FindDestroyed(const Trace& trace, const std::vector<GraphId>& roots);

// A launch of `first` and a later one of `second` that isn't after its end; rather one that no
// thread has waited for.
struct LaunchPair {
  uint32_t first = 0;
  uint32_t second = 0;
  bool by_threads = false;  // after it if the threads of the program are ordered
};
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second);

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
std::string LaunchText(const Trace& trace, uint32_t launch, GraphId graph);

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
  };
  std::vector<Count> counts;       // outside of captures
  uint64_t first = 0, last = 0;    // of these, among the launches of the thread
  ThreadId thread;                 // the first that made some: others aren't counted
  StackId stack;                   // of the first of these
  Numbers outside;                 // of captures
  std::vector<NodeId> nodes = {};  // that launches run, and as they were captured
  Numbers captured;

  uint64_t Before(Seq seq) const;
  uint64_t all() const { return counts.empty() ? 0 : counts.back().launches; }
};
using KernelSites = std::map<KernelSite, SiteLaunches>;

// `never_run`: by graph.
KernelSites FindKernelSites(const Trace& trace, const std::vector<bool>& never_run);

// Memory that launches of graphs overwrite and that isn't theirs any more: work outside of graphs
// that a graph's replay writes as another block of its own.
//
//     capture of graph 0:   block 1 (freed)   block 2, at the same address (kept)
//     outside of graphs:                         writes block 2 ──┐               ┌── reads block 2
//     launches:                                                   └── graph 0 ────┘
//                                                                     writes block 1

inline constexpr uint32_t kNoUse = 0xffffffffu;

// Memory used outside of graphs that a launch wrote over, or may have.
struct Overwrite {
  BlockId used;              // what is used outside of graphs; none: no allocator's block is there
  BlockId own;               // the graph's block in its place
  NodeId node;               // that writes it
  GraphId graph;             // that was launched
  uint32_t launch = 0;       // in Trace::launches: the one that wrote over it
  uint32_t before = kNoUse;  // in Trace::works: what used it before the launch, if any did
  uint32_t after = kNoUse;   // that uses it after the launch; none: nothing recorded does
  AccessMode mode = AccessMode::kUnknown;  // of `after`: it reads what is used, or may
  bool sure = true;                        // both uses are known to be some (SureAccess)
  bool operator==(const Overwrite&) const = default;
};

// By what is used, each by each graph once.
std::vector<Overwrite> FindOverwrites(const Facts& facts);

}  // namespace graphkit
