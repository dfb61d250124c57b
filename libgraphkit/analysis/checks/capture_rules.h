// The checks of what happens while a graph is captured.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

std::vector<Finding> FindInvalidatedCaptures(const Facts& facts);
std::vector<Finding> FindUnjoinedStreams(const Facts& facts);
std::vector<Finding> FindUnsafeCalls(const Facts& facts);
std::vector<Finding> FindLossyEdgeQueries(const Facts& facts);
std::vector<Finding> FindAbortedCapturePools(const Facts& facts);

}  // namespace graphkit
