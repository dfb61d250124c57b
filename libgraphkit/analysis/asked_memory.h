// What the driver was asked for, and who has it.
#pragma once

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

// Device and managed memory, where most of it was asked for. Sizes rounded up to 512 B.
AskedMemory FindAskedMemory(const Facts& facts);

}  // namespace graphkit
