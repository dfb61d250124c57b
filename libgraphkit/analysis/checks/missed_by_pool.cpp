// missed-by-pool: reuse missed because the memory was another pool's.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/missed_reuse.h"

namespace graphkit {

std::vector<Finding> FindMissedByPool(const Facts& facts) {
  return FindMissedReuse(facts, "pool", "let both allocate from one pool",
                         [](const Block& a, const Block& b) { return a.pool != b.pool; });
}

}  // namespace graphkit
