// The checks of what a graph's shape costs.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

std::vector<Finding> FindRedundantEdges(const Facts& facts);
std::vector<Finding> FindEmptyNodes(const Facts& facts);
std::vector<Finding> FindSerializedBranches(const Facts& facts);

}  // namespace graphkit
