// What policies would make of a trace: each graph's blocks are allocated and freed again, in
// capture order, once under the segment rules of the caching allocator and once without segments.
//
// A graph is replayed for itself, from empty pools. Of its blocks those count that something
// hands out (an allocator, a driver pool, graph memory): driver allocations are where they come
// from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/caching_config.h"
#include "libgraphkit/alloc/policy.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/replay/validate_placements.h"

namespace graphkit {

// Sizes are rounded up to 512 B; sums over the graph's pools.
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
  double seconds = 0;       // for both placements
  bool operator==(const PolicyFigures&) const = default;

  void Add(const PolicyFigures& other);
};

struct ReplayedPool {
  PoolId pool;
  std::vector<PlacedBlock> arena;     // without segments
  std::vector<PlacedBlock> segments;  // under the segment rules
  bool operator==(const ReplayedPool&) const = default;
};

struct GraphReplay {
  GraphId graph;
  PolicyFigures figures;
  std::vector<ReplayedPool> pools;
  std::vector<UnsafePair> unsafe;  // when verified: pairs that share bytes and conflict
  bool operator==(const GraphReplay&) const = default;
};

struct PolicyReplay {
  PolicyKind policy = PolicyKind::kReuse;
  Assumption assumes = Assumption::kTorchStreams;
  bool verified = false;  // it was looked at, and no pair is unsafe
  PolicyFigures figures;  // sums over the graphs: each has its own memory
  std::vector<GraphReplay> graphs;
  bool operator==(const PolicyReplay&) const = default;
};

struct ReplayOptions {
  bool verify = false;
  CachingConfig config;
};

PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options = {});

// A graph's blocks that are replayed and planned, by pool, each in capture order.
struct PoolBlocks {
  PoolId pool;
  std::vector<BlockId> blocks;
};
std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph);

}  // namespace graphkit
