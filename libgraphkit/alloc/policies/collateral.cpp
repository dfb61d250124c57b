#include "libgraphkit/alloc/policies/collateral.h"

#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

// When the last of the captures ends that are under way at `seq`, chained: one that begins before
// another one ends goes on holding. 0: none is.
Seq HeldUntil(const Trace& trace, Seq seq) {
  Seq until = 0;
  for (bool longer = true; longer;) {
    longer = false;
    const Seq at = std::max(until, seq);
    for (const Capture& capture : trace.captures) {
      if (capture.begin > at || capture.end <= at) continue;
      until = capture.end;
      longer = true;
    }
  }
  return until;
}

}  // namespace

Collateral FindCollateral(const Trace& trace) {
  const std::vector<std::vector<StreamId>> streams = OtherStreams(trace);
  Collateral collateral;
  std::vector<std::pair<Seq, std::pair<bool, Bytes>>> changes;  // ends come before begins
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (block.graph.valid() || !block.freed() || streams[i].empty()) continue;
    if (block.pool.index() >= trace.pools.size()) continue;
    const Pool& pool = trace[block.pool];
    if (pool.kind != PoolKind::kAllocator && pool.kind != PoolKind::kPrivate) continue;
    const Seq until = HeldUntil(trace, block.free_requested);
    if (until == 0) continue;
    const Bytes size = RoundedSize(block);
    ++collateral.blocks;
    collateral.bytes += size;
    changes.push_back({block.free_requested, {true, size}});
    changes.push_back({until, {false, size}});
  }
  std::ranges::sort(changes);
  Bytes held = 0;
  for (const auto& [seq, change] : changes) {
    held = change.first ? held + change.second : held - change.second;
    collateral.peak = std::max(collateral.peak, held);
  }
  return collateral;
}

}  // namespace graphkit
