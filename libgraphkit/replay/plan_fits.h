// Whether a plan is one of this trace. A plan comes from a file that may be of another trace, or be
// made up: what takes a plan (ReplayPlan, VerifyPlan, ValidateSequence) relies on this having
// passed.
#pragma once

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The error says what of the trace the plan doesn't hold, or holds twice, in another pool or with
// too few bytes, and what it holds that isn't in the trace: blocks, graphs, pools, launches.
Result<void> PlanFits(const Facts& facts, const PlannedMemory& plan);

}  // namespace graphkit
