// The checks of how streams and pools share memory.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

std::vector<Finding> FindPoolsAcrossStreams(const Facts& facts);
std::vector<Finding> FindFrontierRewinds(const Facts& facts);

}  // namespace graphkit
