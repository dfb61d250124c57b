// Reads a plan back (docs/plan-format.md): what `graphkit plan trace.json` wrote.
//
// A file may be wrong in any way. What is read holds together: each placement lies in an arena that
// is there and within its peak, each arena has as many blocks as it says, and nothing wraps.
// Whether it is a plan of a certain trace is PlanFits's to say (libgraphkit/replay/validate.h).
#pragma once

#include <string>

#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The arenas and the placements; the proofs are left: a replay of a plan looks for itself.
Result<PlannedMemory> ReadPlan(const std::string& path);
// The same of the file's text; errors name `file`.
Result<PlannedMemory> ParsePlan(const std::string& text, const std::string& file);

}  // namespace graphkit
