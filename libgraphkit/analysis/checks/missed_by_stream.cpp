// missed-by-stream: reuse missed because the memory was another stream's.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/missed_reuse.h"

namespace graphkit {

std::vector<Finding> FindMissedByStream(const Facts& facts) {
  return FindMissedReuse(
      facts, "stream",
      "allocate on the stream that frees, or use an allocator that hands memory on "
      "once the streams are ordered",
      [](const Block& a, const Block& b) { return a.stream != b.stream && a.pool == b.pool; });
}

}  // namespace graphkit
