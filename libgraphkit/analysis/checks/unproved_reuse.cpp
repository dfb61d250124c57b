// programmatic-only-order, of what isn't there yet: memory that PyTorch's rule would hand on,
// although only an edge that doesn't mean completion leads from its last use to the next block.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// PyTorch hands memory on to its own stream only.
bool SameStream(const Trace& trace, const ReusePair& pair) {
  return trace[pair.earlier].stream == trace[pair.later].stream &&
         trace[pair.earlier].pool == trace[pair.later].pool;
}

void Add(const Facts& strict, const ReusePair& pair, Finding* finding) {
  const Trace& trace = strict.trace;
  finding->blocks.push_back(pair.later);
  finding->bytes += pair.bytes;
  if (finding->evidence.size() >= kShownEvidence) return;
  Evidence evidence{.text = NameOf(trace, pair.later) + " could be put where " +
                            NameOf(trace, pair.earlier) + " lay",
                    .blocks = {pair.earlier, pair.later},
                    .stack = trace[pair.later].stack};
  for (const NodeId marker : strict.lives().Markers(pair.earlier, MarkerRule::kAtFree)) {
    if (strict.order().Before(marker, strict.lives()[pair.later].alloc)) continue;
    evidence.text += ", and " + NameOf(trace, marker) + " need not have ended";
    evidence.nodes = {marker};
    break;
  }
  finding->evidence.push_back(std::move(evidence));
}

}  // namespace

std::vector<Finding> FindUnprovedReuse(const Facts& torch, const Facts& strict) {
  const Trace& trace = strict.trace;
  const BlockOrder by_torch = torch.Blocks(MarkerRule::kAtFree);
  const BlockOrder proved = strict.Blocks(MarkerRule::kAtFree);
  return FindByGraph(torch, [&](GraphId graph, Finding* finding) {
    const size_t i = graph.index();
    for (const ReusePair& pair :
         FindReuse(by_torch, torch.blocks()[i], torch.overlaps()[i]).pairs) {
      if (!SameStream(trace, pair) || proved.Before(pair.earlier, pair.later)) continue;
      Add(strict, pair, finding);
    }
    if (finding->blocks.empty()) return;
    finding->check = "programmatic-only-order";
    finding->severity = Severity::kWarning;
    finding->assumes = Assumption::kTorchStreams;
    finding->message =
        "PyTorch's rule would reuse " + FormatBytes(finding->bytes) + " of " +
        NameOf(trace, graph) +
        " behind programmatic edges, as if they meant that the work before has ended";
    finding->advice =
        "don't let an allocator reuse across programmatic launches by order of launch";
  });
}

}  // namespace graphkit
