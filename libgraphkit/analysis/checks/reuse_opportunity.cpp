// reuse-opportunity: blocks that could have lain where earlier ones lay.
#include <algorithm>
#include <set>
#include <tuple>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr size_t kPathsShown = 4;
constexpr size_t kBlocksNamed = 100;

// Why the later block may take the earlier one's memory: a way from each last use to the first one.
void Prove(const Facts& facts, const ReusePair& pair, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->evidence.push_back({.text = NameOf(trace, pair.later) + " could share memory with " +
                                       NameOf(trace, pair.earlier),
                               .blocks = {pair.earlier, pair.later},
                               .stack = trace[pair.later].stack});
  const auto markers = facts.lives().Markers(pair.earlier, MarkerRule::kLastUse);
  const auto touches = facts.lives().Touches(pair.later);
  if (touches.empty()) return;
  const NodeId first = touches.front().node;
  for (const NodeId marker : markers.first(std::min(markers.size(), kPathsShown))) {
    if (!facts.order().Before(marker, first)) continue;
    finding->evidence.push_back(ProofPath(facts, marker, first));
  }
}

}  // namespace

std::vector<Finding> FindReuseOpportunities(const Facts& facts) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const ReuseFacts& reuse = facts.reuse()[graph.index()];
    if (reuse.pairs.empty()) return;
    finding->bytes = reuse.bytes;
    for (const ReusePair& pair : reuse.pairs) {
      if (finding->blocks.size() < kBlocksNamed) finding->blocks.push_back(pair.later);
      finding->assumes = std::max(finding->assumes, pair.assumes);
    }
    finding->message =
        FormatBytes(reuse.bytes) + " of " + NameOf(facts.trace, graph) +
        " could share memory with earlier blocks: " + Count(reuse.pairs.size(), "block");
    finding->advice =
        "free each block right after its last use, to an allocator that hands memory on once that "
        "use is ordered before the malloc (for PyTorch: docs/torch-allocator.md); graphkit replay "
        "shows what each policy saves";
    std::set<std::tuple<Bytes, StackId, StackId>> shown;  // of pairs alike, the first
    for (const ReusePair& pair : reuse.pairs) {
      if (shown.size() == kShownEvidence) break;
      const StackId earlier = facts.trace[pair.earlier].stack,
                    later = facts.trace[pair.later].stack;
      if (shown.insert({pair.bytes, earlier, later}).second) Prove(facts, pair, finding);
    }
  });
}

}  // namespace graphkit
