// block-leak: memory that was allocated and never freed.
#include <map>
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

const char* PoolKindText(PoolKind kind) {
  switch (kind) {
    case PoolKind::kDevice:
      return "device memory";
    case PoolKind::kStream:
      return "a driver memory pool";
    case PoolKind::kGraph:
      return "graph memory";
    case PoolKind::kHost:
      return "pinned host memory";
    case PoolKind::kManaged:
      return "managed memory";
    default:
      return "an allocator's pool";
  }
}

}  // namespace

std::vector<Finding> FindBlockLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  const std::vector<bool> backs_segment = BacksSegment(trace);
  std::map<std::pair<StackId, PoolId>, Finding> by_site;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (block.freed() || block.alloc_node.valid() || block.size == 0 || backs_segment[i]) continue;
    if (block.pool.valid() && trace[block.pool].destroyed != kNever) continue;
    Finding& finding = by_site[{block.stack, block.pool}];
    finding.blocks.emplace_back(i);
    finding.bytes += block.size;
    if (finding.blocks.size() > 1) continue;
    finding.graph = block.graph;
    finding.evidence.push_back(
        {.text = NameOf(trace, BlockId(i)) + " was allocated " + PlaceOf(trace, block.allocated),
         .blocks = {BlockId(i)},
         .stack = block.stack});
  }
  std::vector<Finding> findings;
  for (auto& [site, finding] : by_site) {
    const PoolKind kind = site.second.valid() ? trace[site.second].kind : PoolKind::kDevice;
    finding.message = ListOf(finding.blocks) + " of " + PoolKindText(kind) +
                      (finding.blocks.size() == 1 ? " was" : " were") +
                      " never freed: " + FormatBytes(finding.bytes);
    finding.advice = "free the memory where its owner ends, or keep it in a pool that is destroyed";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
