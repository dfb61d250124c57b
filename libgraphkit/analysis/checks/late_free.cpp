// late-free: the peak would be lower had blocks been freed right after their last use.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// The place after the last node that touches a block; its free where that isn't known.
Seq LastUse(const Facts& facts, BlockId id) {
  const BlockLife& life = facts.lives()[id];
  const Seq freed = facts.trace[id].free_requested;
  const std::span<const Touch> touches = facts.lives().Touches(id);
  if (life.escaped || life.elsewhere || !life.freed || touches.empty()) return freed;
  Seq last = 0;
  for (const Touch& touch : touches) {
    last = std::max(last, facts.trace[touch.node].seq);
  }
  return std::min(freed, last);
}

// The peak had every block (they are in the order of their allocations) been freed right after its
// last use.
Bytes PeakByLastUse(const Facts& facts, const std::vector<BlockId>& blocks,
                    const std::vector<Seq>& last_use) {
  const std::vector<uint32_t> ends =
      SortBySeq(blocks.size(), [&](size_t i) { return last_use[i]; });
  auto end = ends.begin();
  Bytes live = 0, peak = 0;
  for (const BlockId id : blocks) {
    const Block& block = facts.trace[id];
    for (; end != ends.end() && last_use[*end] < block.allocated; ++end) {
      live -= RoundedSize(facts.trace[blocks[*end]]);
    }
    peak = std::max(peak, live += RoundedSize(block));
  }
  return peak;
}

}  // namespace

std::vector<Finding> FindLateFrees(const Facts& facts) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<BlockId>& blocks = facts.blocks()[graph.index()];
    std::vector<Seq> last_use;
    last_use.reserve(blocks.size());
    for (const BlockId id : blocks) last_use.push_back(LastUse(facts, id));
    const Usage& usage = facts.usage()[graph.index()];
    // Streams beside each other may need more than what is live at once.
    const Bytes least = facts.bounds().empty() ? 0 : facts.bounds()[graph.index()].bytes;
    const Bytes peak = std::max(least, PeakByLastUse(facts, blocks, last_use));
    if (peak >= usage.peak_live) return;
    finding->bytes = usage.peak_live - peak;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block& block = facts.trace[blocks[i]];
      const bool live = block.allocated <= usage.peak_at && usage.peak_at < block.free_requested;
      if (!live || last_use[i] > usage.peak_at) continue;
      finding->blocks.push_back(blocks[i]);
      if (finding->evidence.size() >= kShownEvidence) continue;
      const NodeId last = facts.lives().Touches(blocks[i]).back().node;
      finding->nodes.push_back(last);
      finding->evidence.push_back({.text = NameOf(facts.trace, blocks[i]) +
                                           " was last touched by " + NameOf(facts.trace, last) +
                                           ", before the peak",
                                   .nodes = {last},
                                   .blocks = {blocks[i]},
                                   .stack = block.stack});
    }
    finding->message = "the peak of " + NameOf(facts.trace, graph) + " would be " +
                       FormatBytes(finding->bytes) + " lower if " + ListOf(finding->blocks) +
                       (finding->blocks.size() == 1 ? " was" : " were") +
                       " freed right after the last use";
    finding->advice = "drop the last reference to the memory right after the work that reads it";
    finding->assumes = Assumption::kArguments;
  });
}

}  // namespace graphkit
