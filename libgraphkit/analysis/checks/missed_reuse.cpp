// missed-by-pool, missed-by-stream: reuse that was possible, had the memory not been another
// pool's or another stream's.

#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// One finding a graph, of the pairs of which `differs` says that they differ. `by`: what in.
std::vector<Finding> FindMissedReuse(const Facts& facts, const char* by, const char* advice,
                                     bool (*differs)(const Block& earlier, const Block& later)) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    for (const ReusePair& pair : facts.reuse[graph.index()].pairs) {
      const Block& earlier = facts.trace[pair.earlier];
      const Block& later = facts.trace[pair.later];
      if (!differs(earlier, later)) continue;
      finding->bytes += pair.bytes;
      finding->assumes = std::max(finding->assumes, pair.assumes);
      finding->blocks.push_back(pair.later);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back(OverBefore(facts.trace, pair.earlier, pair.later, later.stack));
    }
    if (finding->blocks.empty()) return;
    finding->message = FormatBytes(finding->bytes) + " of " + NameOf(facts.trace, graph) +
                       " were not reused because the free memory belonged to another " + by;
    finding->advice = advice;
  });
}

}  // namespace

std::vector<Finding> FindMissedByPool(const Facts& facts) {
  return FindMissedReuse(facts, "pool", "let both allocate from one pool",
                         [](const Block& a, const Block& b) { return a.pool != b.pool; });
}

std::vector<Finding> FindMissedByStream(const Facts& facts) {
  return FindMissedReuse(
      facts, "stream",
      "allocate on the stream that frees, or use an allocator that hands memory on "
      "once the streams are ordered",
      [](const Block& a, const Block& b) { return a.stream != b.stream && a.pool == b.pool; });
}

}  // namespace graphkit
