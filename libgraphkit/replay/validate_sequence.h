// Checks a plan of graphs that are launched one after the other
// (libgraphkit/alloc/plan/plan_sequence.h) by going through two rounds of launches: what a launch
// leaves for later ones must not be overwritten before the last of them has run. Shares no code
// with the planner. What happens inside of a launch is VerifyPlan's.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// An output that is destroyed although it is needed.
struct DestroyedOutput {
  BlockId output;
  BlockId by;     // a block of another graph, in the same bytes
  GraphId taker;  // that takes the output as an input; none: nobody, and so anyone may read it
  auto operator<=>(const DestroyedOutput&) const = default;
};

// Sorted. Empty for a plan without a sequence.
std::vector<DestroyedOutput> ValidateSequence(const Facts& facts, const PlannedMemory& plan);

}  // namespace graphkit
