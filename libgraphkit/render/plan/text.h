// What a plan comes to, as a person reads it.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

void RenderPlanText(const PlannedMemory& plan, std::ostream& out);

// "1.0025": how much higher than the bound; "1" for a plan without bytes.
std::string RatioText(Bytes bytes, Bytes bound);

}  // namespace graphkit
