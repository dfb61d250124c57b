// Reads a plan back (docs/plan-format.md): what `graphkit plan trace.json` wrote.
#pragma once

#include <string>

#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The arenas and the placements; the proofs are left: whoever replays a plan looks for himself.
Result<PlannedMemory> ReadPlan(const std::string& path);

}  // namespace graphkit
