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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Collective operations of a trace, in the order in which they run. `ran`: the graph that each
// launch ran.
RankCollectives SummarizeCollectives(const Ran& trace, const std::vector<GraphId>& ran);

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

// Two sequences of operations, and where they differ first. They are never written out: programs
// that are the same in both are stepped over together, as often as both repeat them.
//
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

class CollectiveSteps {
 public:
  // The summary must outlive it. Without `works`, what is outside of graphs doesn't count.
  CollectiveSteps(const RankCollectives& rank, std::span<const RankRun> runs, bool works,
                  const CollectiveFilter& filter);
  bool empty() const { return runs_.empty(); }

 private:
  friend class StepCursor;
  friend struct StepComparison;
  const RankCollectives* rank_;
  std::vector<RankRun> runs_;  // of programs that have a step
  std::vector<std::vector<CollectiveStep>> programs_;
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
