// aborted-capture-pool: pools that a failed capture left behind.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindAbortedCapturePools(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool>& aborted = facts.invalidated();
  if (std::ranges::find(aborted, true) == aborted.end()) return {};
  std::vector<Finding> findings;
  for (size_t i = 0; i < trace.pools.size(); ++i) {
    const Pool& pool = trace.pools[i];
    if (pool.kind != PoolKind::kPrivate || pool.destroyed != kNever) continue;
    Finding finding;
    bool used_well = false;
    for (const Block& block : trace.blocks) {
      if (block.pool != PoolId(i) || !block.graph.valid()) continue;
      if (!aborted[block.graph.index()]) used_well = true;
      finding.graph = block.graph;
    }
    if (used_well || !finding.graph.valid()) continue;
    for (const Segment& segment : trace.segments) {
      if (segment.pool == PoolId(i) && segment.freed == kNever) finding.bytes += segment.size;
    }
    if (finding.bytes == 0) continue;
    finding.message = "the capture of " + NameOf(trace, finding.graph) +
                      " failed, and its private pool keeps " + FormatBytes(finding.bytes);
    finding.advice = "destroy the pool of a capture that failed; in PyTorch, reset() the graph";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
