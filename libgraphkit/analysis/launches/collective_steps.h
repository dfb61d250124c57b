// Two sequences of operations, and where they differ first. They are never written out: programs
// that are the same in both are stepped over together, as often as both repeat them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/rank_report.h"

namespace graphkit {

// An operation as it is compared: what is left out of the comparison is the same in all of them.
struct CollectiveStep {
  Collective key;
  bool captured = false;  // in a graph
  const RankOperation* operation = nullptr;

  // One operation for all ranks, apart from its size.
  bool SameOperation(const CollectiveStep& other) const {
    return key.communicator == other.key.communicator && key.kind == other.key.kind &&
           captured == other.captured && operation->body == other.operation->body;
  }
  bool SameSize(const CollectiveStep& other) const {
    return key.type == other.key.type && key.count == other.key.count && key.peer == other.key.peer;
  }
};

// How an operation counts; nothing: it doesn't.
using CollectiveFilter = std::function<std::optional<Collective>(const Collective&)>;

struct CollectiveSteps {
  // The summary must outlive it. Without `works`, what is outside of graphs doesn't count.
  CollectiveSteps(const RankCollectives& of, std::span<const RankRun> all_runs, bool works,
                  const CollectiveFilter& filter);
  bool empty() const { return runs.empty(); }

  const RankCollectives* rank;
  std::vector<RankRun> runs;  // of programs that have a step
  std::vector<std::vector<CollectiveStep>> programs;
};

// Steps at one place of both; none: that sequence is over.
struct StepDifference {
  uint64_t index = 0;  // steps that are the same, or of another size, before it
  std::optional<CollectiveStep> a, b;
  const RankProgram* program_a = nullptr;  // of the steps
  const RankProgram* program_b = nullptr;
};
struct StepsCompared {
  std::optional<StepDifference> order;  // the first operation that is another one
  std::optional<StepDifference> size;   // before that, the first of another count, type, or root
};
StepsCompared CompareSteps(const CollectiveSteps& a, const CollectiveSteps& b);

// Ranks that wait for each other for ever, although each does what the others expect of it: in
// another order.
//
//     rank 0   send to 1      receive from 1
//     rank 1   send to 0      receive from 0        both sends wait for a receive
//
// An operation on a communicator begins when the one before it has ended, on whatever stream it is.
// Calls of one ncclGroup are one node, and wait together.
//
// A rank of a communicator, with its operations there.
struct WaitingRank {
  uint32_t rank = 0;
  CollectiveSteps steps;
};

struct RankWait {
  size_t rank = 0;  // among those given
  const RankProgram* program = nullptr;
  const RankOperation* operation = nullptr;
};
// Two ranks of a circle in which each waits for the next one; nothing: there is none. Ranks that
// aren't given, and what is in conditionals' bodies, are taken to be in time.
std::optional<std::pair<RankWait, RankWait>> FindDeadlock(std::span<const WaitingRank> ranks);

}  // namespace graphkit
