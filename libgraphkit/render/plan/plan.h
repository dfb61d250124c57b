// Plans: as text, and as JSON.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// The figures of a plan, for people.
void RenderPlanText(const PlannedMemory& plan, std::ostream& out);

// "1.0025": how much higher than the bound; "1" for a plan without bytes.
std::string RatioText(Bytes bytes, Bytes bound);

// A plan as JSON, schema "graphkit-plan", version 1 (docs/planning.md).
void RenderPlanJson(const PlannedMemory& plan, std::ostream& out);

}  // namespace graphkit
