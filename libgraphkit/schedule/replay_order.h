// Checks that graphs which share a pool were replayed in the order of their captures, as memory
// that one graph leaves to the next demands: every replay, round by round.
//
//   captured  F1 F2 B2 B1
//   launched  F1 F2 B2 B1 | F1 F2 B1 B2         B2 after B1: out of order
//
// A launch of the pool's first graph begins a round; graphs that a round leaves out are no matter.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct ReplayDeparture {
  uint32_t launch = 0;  // in Trace::launches
  GraphId graph;        // that it ran
  GraphId after;        // captured later, and launched before it in the same round
  uint64_t round = 0;   // 0-based
  bool operator==(const ReplayDeparture&) const = default;
};

struct PoolReplays {
  PoolId pool;
  std::vector<GraphId> captured;  // that have blocks in the pool, in capture order
  uint64_t launches = 0;
  uint64_t rounds = 0;
  uint64_t departure_count = 0;
  std::vector<ReplayDeparture> departures;  // the first hundred
  bool operator==(const PoolReplays&) const = default;
};

// The private pools that two graphs or more have blocks in, by pool.
std::vector<PoolReplays> FindPoolReplays(const Trace& trace);

}  // namespace graphkit
