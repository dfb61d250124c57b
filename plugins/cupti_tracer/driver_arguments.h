// The arguments of a driver call, for calls that fail.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cupti_tracer/calls.h"

namespace graphkit {

// Those that say something by their value, in their order, by cuda.h's names. `params`: CUPTI's
// structure for the call.
void ReadArguments(uint32_t call, const void* params, std::vector<CallArgument>& arguments);

}  // namespace graphkit
