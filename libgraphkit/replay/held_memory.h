// What a pool holds when a graph begins to be captured into it, as the trace recorded it: the
// segments of earlier captures, and what of them is free.
//
//     segment 3   | a (lives) |  hole  | b (lives) | hole |      a graph's mallocs may take the
//     segment 7   |            hole                       |      holes of their own stream
#pragma once

#include <utility>
#include <vector>

#include "libgraphkit/alloc/models/caching_config.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct MemoryHole {
  Bytes offset = 0;
  Bytes size = 0;
  StreamId owner;
  bool small = false;
  bool operator==(const MemoryHole&) const = default;
};

struct HeldMemory {
  std::vector<MemoryHole> holes;
  std::vector<std::pair<SegmentId, Bytes>> begins;  // where each segment lies, the oldest first
  Bytes end = 0;
  bool operator==(const HeldMemory&) const = default;
};

// Before the graph's capture began; nothing for one that isn't captured. What lives in the pool
// then counts as living until the capture's end.
HeldMemory HeldBefore(const Trace& trace, GraphId graph, PoolId pool, const CachingConfig& config);

}  // namespace graphkit
