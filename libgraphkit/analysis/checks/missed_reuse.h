// What the checks of missed reuse share: reuse that was possible, and who kept it from happening.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

// One finding a graph, of the pairs of which `differs` says that they differ. `by` is what in:
// "stream".
std::vector<Finding> FindMissedReuse(const Facts& facts, const char* by, const char* advice,
                                     bool (*differs)(const Block& earlier, const Block& later));

}  // namespace graphkit
