// reusable-never-reclaimed: deferred blocks that a later allocation could have taken, but none was
// made on their own stream, where alone the allocator looks.
#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"

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
  const auto of_own = std::ranges::find_if(last, own);
  if (of_own != last.end() && can_take(*of_own)) return {};
  const auto taker = std::find_if(last.rbegin(), last.rend(), can_take);
  return taker == last.rend() ? BlockId() : *taker;
}

}  // namespace

std::vector<Finding> FindReusableNeverReclaimed(const Facts& facts) {
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  const Trace& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (facts.usage()[graph.index()].deferred == 0) return;
    const std::vector<BlockId> last = LastOfStreams(trace, facts.blocks()[graph.index()]);
    for (const BlockId id : facts.blocks()[graph.index()]) {
      if (!Deferred(trace[id])) continue;
      const BlockId taker = TakerElsewhere(facts, order, id, last);
      if (!taker.valid()) continue;
      AddBlock(trace, id, finding);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back(OverBefore(trace, id, taker, trace[id].stack));
    }
    if (finding->blocks.empty()) return;
    finding->message = FormatBytes(finding->bytes) + " in " + ListOf(finding->blocks) + " of " +
                       NameOf(trace, graph) +
                       " could be reused by other streams, and their own never allocates again";
    finding->advice =
        "allocate once more on the stream after its join, or use an allocator that hands memory on "
        "across streams";
    finding->assumes = Assumption::kTorchStreams;
  });
}

}  // namespace graphkit
