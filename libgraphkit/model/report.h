// What `graphkit analyze` says of a trace: one value that every presenter draws from.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/graph.h"
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

// Bytes are of sizes rounded up to 512. Maxima are over capture order.
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
  uint64_t streams = 0;
  uint64_t blocks = 0;
  Bytes total_bytes = 0;      // sum of all blocks
  Bytes peak_live_bytes = 0;  // most bytes allocated and not yet free-requested
  Bytes deferred_bytes = 0;   // most bytes between free requested and free completed
  Bytes lower_bound_bytes =
      0;  // the heaviest set of pairwise conflicting blocks; no plan can be smaller
  bool lower_bound_exact = false;   // false: a valid bound, not proved the best
  Bytes recorded_extent_bytes = 0;  // highest minus lowest address used, summed over pools
  Bytes never_freed_bytes = 0;
  uint64_t never_freed_blocks = 0;
  uint64_t critical_path_nodes = 0;  // nodes on the longest path
  std::vector<ReusePair> reuse;      // the largest first
  Bytes reuse_bytes = 0;             // of all pairs, each later block counted once
  bool operator==(const GraphSummary&) const = default;
};

struct ReportTotals {
  uint64_t graphs = 0;
  uint64_t nodes = 0;
  uint64_t edges = 0;
  uint64_t blocks = 0;
  uint64_t launches = 0;
  Bytes allocated_bytes = 0;
  std::array<uint64_t, 3> findings{};  // by severity
  bool operator==(const ReportTotals&) const = default;
};

struct Report {
  DeviceKind device = DeviceKind::kImported;
  bool complete = true;
  std::vector<std::string> incomplete_because;
  std::string program;
  std::vector<GraphSummary> graphs;
  std::vector<Finding> findings;  // the gravest first, then by bytes
  ReportTotals totals;
  bool operator==(const Report&) const = default;
};

}  // namespace graphkit
