// reusable-never-reclaimed: deferred blocks that a later allocation could have taken, but none was
// made on their own stream, where alone the allocator looks.
#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

// The last block that each stream allocates in a graph: what is before any is before it.
std::vector<BlockId> LastOfStreams(const Trace& trace, const std::vector<BlockId>& blocks) {
  std::vector<BlockId> last;
  std::vector<bool> seen(trace.streams.size());
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const StreamId stream = trace[*block].stream;
    if (!stream.valid() || seen[stream.index()]) continue;
    seen[stream.index()] = true;
    last.push_back(*block);
  }
  return last;
}

// A later allocation that could have taken the block's memory; none if its own stream could have.
BlockId TakerElsewhere(const Facts& facts, const BlockOrder& order, BlockId id,
                       const std::vector<BlockId>& last) {
  const auto own = [&](BlockId later) {
    return facts.trace[later].stream == facts.trace[id].stream;
  };
  const auto can_take = [&](BlockId later) { return order.Before(id, later); };
  const auto of_own = std::find_if(last.begin(), last.end(), own);
  if (of_own != last.end() && can_take(*of_own)) return {};
  const auto taker = std::find_if(last.rbegin(), last.rend(), can_take);
  return taker == last.rend() ? BlockId() : *taker;
}

}  // namespace

std::vector<Finding> FindReusableNeverReclaimed(const Facts& facts) {
  std::vector<Finding> findings;
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  for (size_t graph = 0; graph < facts.blocks.size(); ++graph) {
    if (facts.usage[graph].deferred == 0) continue;
    const std::vector<BlockId> last = LastOfStreams(facts.trace, facts.blocks[graph]);
    Finding finding;
    for (const BlockId id : facts.blocks[graph]) {
      if (!Deferred(facts.trace[id])) continue;
      const BlockId taker = TakerElsewhere(facts, order, id, last);
      if (!taker.valid()) continue;
      finding.blocks.push_back(id);
      finding.bytes += RoundedSize(facts.trace[id]);
      if (finding.evidence.size() >= 3) continue;
      finding.evidence.push_back({.text = NameOf(facts.trace, id) + " of " +
                                          NameOf(facts.trace, facts.trace[id].stream) +
                                          " is over before " + NameOf(facts.trace, taker) + " of " +
                                          NameOf(facts.trace, facts.trace[taker].stream),
                                  .blocks = {id, taker},
                                  .stack = facts.trace[id].stack});
    }
    if (finding.blocks.empty()) continue;
    finding.graph = GraphId(graph);
    finding.message = FormatBytes(finding.bytes) + " in " + ListOf(finding.blocks) + " of " +
                      NameOf(facts.trace, finding.graph) +
                      " could be reused by other streams, and their own never allocates again";
    finding.advice =
        "allocate once more on the stream after its join, or use an allocator that hands memory on "
        "across streams";
    finding.assumes = Assumption::kTorchStreams;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
