// The checks of what launches find in memory.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

std::vector<Finding> FindDeadInputs(const Facts& facts);
std::vector<Finding> FindReplayOrders(const Facts& facts);

}  // namespace graphkit
