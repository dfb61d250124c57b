// Replays a trace under policies: each graph's blocks are allocated and freed again, in
// capture order, once under the segment rules of the caching allocator and once without segments.
//
// Graphs that share pools (libgraphkit/alloc/plan/plan_trace.h) are replayed one after the other,
// each in the pools that the one before it left; all others from empty pools. Of a graph's blocks
// those count that something hands out (an allocator, a driver pool, graph memory): driver
// allocations are where they come from.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/models/allocator_model.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/replay/execution.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Sizes are rounded up to 512 B; sums over the graph's pools, those of the graphs that share them
// included.
struct PolicyFigures {
  Bytes peak_reserved = 0;    // in segments, by the allocator's segment rules
  Bytes peak_allocated = 0;   // most bytes not yet free-requested
  Bytes peak_active = 0;      // most bytes whose free isn't complete
  Bytes peak_extent = 0;      // highest byte used, without segments
  Bytes never_reclaimed = 0;  // freed, and no malloc found the free complete
  // Taken fresh, without segments, though memory that was proved safe by last use would have done.
  Bytes missed = 0;
  Bytes lower_bound = 0;    // no placement by the policy's marker rule is smaller
  uint64_t operations = 0;  // mallocs and frees
  // Freed bytes whose free wasn't complete, summed up after each malloc and free.
  uint64_t deferred_byte_operations = 0;
  uint64_t pending_looks = 0;       // at pending blocks, by mallocs
  uint64_t reclaimed = 0;           // frees that a later malloc found complete
  uint64_t reclaim_operations = 0;  // mallocs and frees between those frees and those mallocs
  double seconds = 0;               // for both placements; `optimal`: for planning as well
  bool operator==(const PolicyFigures&) const = default;

  // Of graphs one after the other in the same pools: the largest peaks, all else summed up.
  void AddNext(const PolicyFigures& next);
};

struct ReplayedPool {
  PoolId pool;
  std::vector<PlacedBlock> arena;     // without segments
  std::vector<PlacedBlock> segments;  // under the segment rules; none for a plan
  bool operator==(const ReplayedPool&) const = default;
};

// Right after a malloc or a free. Sums over the graph's pools.
struct TimelinePoint {
  Seq seq = 0;
  Bytes allocated = 0;
  Bytes active = 0;
  Bytes reserved = 0;
  Bytes extent = 0;
  bool operator==(const TimelinePoint&) const = default;
};

// The allocation that the capacity would have been too small for.
struct OutOfMemory {
  BlockId block;
  Seq seq = 0;
  Bytes reserved = 0;  // what would have been needed, earlier graphs included
  bool operator==(const OutOfMemory&) const = default;
};

struct GraphReplay {
  GraphId graph;
  PolicyFigures figures;
  std::vector<ReplayedPool> pools;
  std::vector<UnsafePair> unsafe;  // when verified: pairs that share bytes and conflict
  std::optional<OutOfMemory> out_of_memory;
  std::vector<TimelinePoint> timeline;
  uint64_t steps = 0;    // nodes, operations of streams and ends of captures gone through
  bool scanned = false;  // each malloc looked at every piece of memory: there was no index
  bool operator==(const GraphReplay&) const = default;
};

struct PolicyReplay {
  PolicyKind policy = PolicyKind::kReuse;
  std::string given;  // what the placements come from when from no policy: "plan", an allocator
  Assumption assumes = Assumption::kTorchStreams;
  bool verified = false;  // it was looked at, and no pair is unsafe
  // Peaks are the most at any time of the graphs that exist: those that share pools share memory,
  // all others have their own until they are destroyed.
  PolicyFigures figures;
  std::vector<GraphReplay> graphs;
  size_t sharers = 0;  // graphs replayed in the pools that earlier ones left
  std::vector<DestroyedOutput> destroyed = {};  // of a plan whose graphs share memory
  size_t lent = 0;                              // ranges that a plan lends, when verified
  std::vector<WrongBorrow> wrong_loans = {};    // blocks that need some of them meanwhile
  std::vector<GraphExecution> executions;       // by graph; none: not executed
  bool operator==(const PolicyReplay&) const = default;

  bool executed_clean() const {
    return std::ranges::all_of(executions,
                               [](const GraphExecution& e) { return e.faults.empty(); });
  }
};

struct ReplayOptions {
  bool verify = false;
  CachingConfig config;
  CapturePlannerOptions planner = {};  // of `optimal`
  std::optional<Bytes> capacity = {};  // of the device, for all graphs together
  bool timeline = false;
  bool missed = true;  // fill in `missed`
  bool bound = true;   // and `lower_bound`
  bool scan = false;   // look at every piece of memory at each malloc: slow, to compare with
  std::atomic<size_t>* done = nullptr;  // counts up for each policy and graph, for who watches
};

// In the order of the policies. What they share of a graph is found once.
std::vector<PolicyReplay> ReplayTrace(const Facts& facts, std::span<const PolicyKind> policies,
                                      const ReplayOptions& options = {});
PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options = {});

// Placements in place of a policy's, each block's offset by the block; frees complete as with
// `reuse`. `sharers`: graphs whose offsets are in the same pools; none: each graph has its own
// memory.
PolicyReplay ReplayOffsets(const Facts& facts, const std::vector<Bytes>& offsets,
                           const ReplayOptions& options, const std::string& name,
                           const std::vector<PoolSharers>& sharers = {});
// Those of a plan, which must fit the trace (libgraphkit/alloc/judge/validate.h).
PolicyReplay ReplayPlan(const Facts& facts, const PlannedMemory& plan,
                        const ReplayOptions& options = {});

// Replays a trace with an allocator model (libgraphkit/alloc/models/allocator_model.h): each
// pool has a model of its own, for all graphs that share it, which is told of every malloc, use on
// another stream and free in capture order. The peak of reserved bytes is the model's.
PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options = {});

// The figures of all graphs: `sharers` in order, `figures` by graph. Fills in `before`, by graph,
// where it is given: the bytes that others had reserved when the graph's sharers began.
PolicyFigures SumUp(std::span<const PoolSharers> sharers, std::span<const PolicyFigures> figures,
                    std::vector<Bytes>* before = nullptr);
// A replay's graphs by graph; null: none.
std::vector<GraphReplay*> ByGraph(const Facts& facts, PolicyReplay* replay);
void SumUpGraphs(const Facts& facts, std::span<const PoolSharers> sharers, PolicyReplay* replay);

// Judges the arenas of graphs that share pools beside each other (ValidateSharers): adds to
// `unsafe` of the graph with the later block, and sets `verified`.
void VerifyArenas(const Facts& facts, std::span<const PoolSharers> sharers, MarkerRule rule,
                  PolicyReplay* replay);

}  // namespace graphkit
