// The result of `graphkit analyze`: one value that every presenter draws from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"

namespace graphkit {

// Two blocks that may share memory and don't: `later` could lie where `earlier` lay.
struct ReusePair {
  BlockId earlier;
  BlockId later;
  Bytes bytes = 0;  // the smaller of both
  Assumption assumes = Assumption::kOrder;
  bool operator==(const ReusePair&) const = default;
};

// Bytes are of sizes rounded up to 512; nothing: unknown. Maxima are over capture order.
// A graph's share of one pool.
struct PoolShare {
  PoolId pool;  // none: blocks without one
  uint64_t blocks = 0;
  Bytes total_bytes = 0;
  Bytes peak_live_bytes = 0;
  Bytes lower_bound_bytes = 0;
  bool lower_bound_exact = false;
  auto operator<=>(const PoolShare&) const = default;
};

// Memory allocated from the driver at the place of the trace where it was most (of several, where
// most of it was handed out), and who has it. The parts add up to it.
struct AskedMemory {
  Bytes asked_bytes = 0;           // device and managed memory: calls, memory pools, graph nodes
  Bytes segment_used_bytes = 0;    // in an allocator's segments: handed out
  Bytes segment_free_bytes = 0;    // in an allocator's segments: not handed out
  Bytes graph_node_bytes = 0;      // memory-alloc nodes
  Bytes input_bytes = 0;           // plain allocations that graphs touch
  Bytes not_attributed_bytes = 0;  // plain allocations that no graph touches
  bool operator==(const AskedMemory&) const = default;
};

// The edges from one kernel to another that don't wait for its end, of one sort.
struct EarlyLaunches {
  KernelId producer;
  KernelId consumer;
  EarlyStart start;
  uint64_t edges = 0;
  EdgeId first;
  auto operator<=>(const EarlyLaunches&) const = default;
};

struct GraphSummary {
  GraphId graph;
  std::string name;
  GraphOrigin origin = GraphOrigin::kCapture;
  uint64_t nodes = 0;
  uint64_t edges = 0;
  std::array<uint64_t, kNodeKindCount> nodes_by_type{};
  uint64_t programmatic_edges = 0;
  uint64_t launch_completion_edges = 0;
  uint64_t cross_stream_edges = 0;
  std::vector<EarlyLaunches> early_launches;  // the most edges first
  uint64_t streams = 0;
  uint64_t launches = 0;   // of execs that ran it
  uint64_t execs = 0;      // instantiated from it
  ExecId updated = {};     // of a graph without: the first exec that was updated to it
  bool destroyed = false;  // all of these before the last capture or launch, and its blocks freed
  std::optional<ExecPeak> exec_peak = {};  // of these; nothing: there are none
  ExecSource exec_source = ExecSource::kMeasured;
  uint64_t blocks = 0;                       // that were recorded
  std::string unknown_memory;                // why its bytes aren't known; empty: they are
  std::optional<Bytes> total_bytes = 0;      // sum of all blocks
  std::optional<Bytes> peak_live_bytes = 0;  // most bytes allocated and not yet free-requested
  std::optional<Bytes> deferred_bytes = 0;   // most bytes between free requested and completed
  // The heaviest set of pairwise conflicting blocks; no plan can be smaller.
  std::optional<Bytes> lower_bound_bytes = 0;
  bool lower_bound_exact = false;        // false: a valid bound, not proved the best
  std::optional<Bytes> plan_bytes = {};  // of a plan of all its blocks, where one was made
  // Highest minus lowest address used, summed over pools.
  std::optional<Bytes> recorded_extent_bytes = 0;
  std::optional<Bytes> never_freed_bytes = 0;
  uint64_t never_freed_blocks = 0;
  uint64_t critical_path_nodes = 0;  // nodes on the longest path
  uint64_t critical_path_ns = 0;     // by measured durations; 0: none measured
  uint64_t captured_calls = 0;       // that made nodes, in captures whose times are known
  uint64_t capture_host_ns = 0;      // what these captures took the host; 0: not measured
  uint64_t width = 0;                // most nodes at one distance from the start
  // Memory from elsewhere that it touches: kept as long as it runs.
  std::optional<Bytes> pinned_bytes = 0;
  uint64_t pinned_blocks = 0;
  std::vector<BlockId> peak_blocks;         // live at the peak, the largest first
  std::vector<BlockId> lower_bound_blocks;  // pairwise in conflict: why the bound is what it is
  std::vector<PoolShare> pools;             // by pool
  std::vector<ReusePair> reuse;             // the largest first
  std::optional<Bytes> reuse_bytes = 0;     // of all pairs, each later block counted once
  bool operator==(const GraphSummary&) const = default;
};

struct ReportTotals {
  uint64_t graphs = 0;
  uint64_t nodes = 0;
  uint64_t edges = 0;
  uint64_t blocks = 0;
  uint64_t launches = 0;
  std::optional<Bytes> allocated_bytes = 0;
  std::array<uint64_t, 3> findings{};  // by severity
  bool operator==(const ReportTotals&) const = default;
};

// Of the blocks that graphs allocate: how many have a stream, a line of the program, and a first
// and a last node; and what the others lack. One may lack several.
struct BlockJoins {
  uint64_t captured_blocks = 0;
  uint64_t joined = 0;          // have a stream, a stack and nodes
  uint64_t without_stream = 0;  // the source doesn't say
  uint64_t without_stack = 0;   // none was recorded
  uint64_t library_only = 0;    // the stack has no frame of the program's own
  uint64_t untouched = 0;       // no node touches it
  uint64_t unread = 0;          // no node is known to touch it, and one ran that may touch anything
  bool operator==(const BlockJoins&) const = default;
};

struct Report {
  DeviceKind device = DeviceKind::kImported;
  bool complete = true;
  std::vector<std::string> incomplete_because;
  std::string program;
  std::vector<GraphSummary> graphs;
  std::vector<Finding> findings;     // the most severe first, then by bytes
  std::vector<FindingGroup> groups;  // of these
  std::string unknown_memory;  // why its bytes aren't known, or those of a graph; empty: they are
  std::optional<AskedMemory> memory = AskedMemory();
  std::optional<MemoryMoments> moments = {};  // of all devices; nothing: sizes are unknown
  std::optional<ExecMemory> execs = {};       // nothing: nothing was instantiated
  BlockJoins joins;
  ReportTotals totals;
  bool operator==(const Report&) const = default;
};

// A graph's content, in numbers that two runs of a program share, whatever its ids, addresses and
// name: what tells the graphs of a program apart that have no name.
struct GraphContent {
  // Of nodes, kernels, parameters, sizes, edges, and which nodes share a stream.
  uint64_t hash = 0;
  // A sample of the nodes' hashes, the smallest ones, rising: how many of them two graphs share
  // says how alike they are. As many as the graph has, up to kSampled.
  std::vector<uint32_t> sample = {};
  static constexpr uint32_t kSampled = 16;

  bool operator==(const GraphContent&) const = default;
};

}  // namespace graphkit
