// collective-size: ranks of one process that run an operation with another count, type or root. The
// ranks of many traces: launches/collectives.h.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindCollectiveSizes(const Facts& facts) {
  return CompareOwnRanks(facts.collectives(), "collective-size");
}

}  // namespace graphkit
