// The contents of a pool when a graph begins to be captured into it, as the trace recorded it: the
// segments of earlier captures, and what of them is free.
//
//     segment 3   | a (lives) |  hole  | b (lives) | hole |      a graph's mallocs may take the
//     segment 7   |            hole                       |      holes of their own stream
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/model/caching_config.h"
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

// The contents of pools before captures, found for all of a trace's graphs in one sweep over each
// pool:
//
//     pool    ├ a ────┤   ├ c ───────────
//                ├ b ─────────┤
//     begin         ↑ 1           ↑ 2        graph 1: a, b; graph 2: c
class PoolHistory {
 public:
  // `blocks`: of each root graph, in capture order.
  PoolHistory(const Trace& trace, std::span<const std::vector<BlockId>> blocks);

  // Before the graph's capture began; nothing for one that isn't captured, or has no block of the
  // pool. What lives in the pool then counts as living until the capture's end.
  HeldMemory Before(GraphId graph, PoolId pool, const CachingConfig& config) const;

  // Beginnings and ends of blocks and segments, and what was living, that were looked at.
  uint64_t looks() const { return looks_; }

 private:
  struct Held {
    std::vector<SegmentId> segments;  // the oldest first
    std::vector<BlockId> blocks;
  };
  struct Sweep;

  const Trace& trace_;
  std::map<std::pair<GraphId, PoolId>, Held> held_;
  uint64_t looks_ = 0;
};

}  // namespace graphkit
