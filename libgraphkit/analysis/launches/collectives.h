// Compares the operations of a communicator's ranks, and their order. NCCL waits for ever, or
// exchanges what doesn't belong together, where they don't.
//
//     rank 0   all_reduce 1024   all_gather 512   broadcast 8
//     rank 1   all_reduce 1024   broadcast 8      all_gather 512
//                                └ the first place that differs
//
// Compared are what graphs were captured with, and what was executed: launches, and work outside of
// graphs where both traces have it. Send and receive are compared by pairs of ranks: the sends of
// one with the receives of the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/rank_report.h"

namespace graphkit {

// A trace, as it is compared with others.
struct RankTrace {
  std::string name;
  const RankCollectives* collectives = nullptr;
  bool complete = true;  // if not, that something is missing at its end says nothing
};

// A finding about a trace that differs from another.
struct RankDifference {
  uint32_t trace = 0;
  Finding finding;  // its graph and nodes are the trace's
  bool operator==(const RankDifference&) const = default;
};
// Between ranks of different traces, or, of one trace, between its own.
std::vector<RankDifference> CompareCollectives(std::span<const RankTrace> traces);

// The findings of a check about the ranks of one process.
std::vector<Finding> CompareOwnRanks(const RankCollectives& collectives, std::string_view check);

}  // namespace graphkit
