// Two sequences of operations, and where they differ first. They are never written out: programs
// that are the same in both are stepped over together, as often as both repeat them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/model/rank_collectives.h"

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

class CollectiveSteps {
 public:
  // The summary must outlive it. Without `works`, what is outside of graphs doesn't count.
  CollectiveSteps(const RankCollectives& rank, std::span<const RankRun> runs, bool works,
                  const CollectiveFilter& filter);
  bool empty() const { return runs_.empty(); }

 private:
  friend class StepCursor;
  friend class StepComparison;
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

}  // namespace graphkit
