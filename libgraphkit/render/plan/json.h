// A plan as JSON, schema "graphkit-plan", version 1 (docs/plan-format.md).
#pragma once

#include <ostream>

#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

void RenderPlanJson(const PlannedMemory& plan, std::ostream& out);

}  // namespace graphkit
