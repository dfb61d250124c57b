// comm-buffer-idle: memory of communication that computation could borrow while nothing is
// exchanged.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

class Lender {
 public:
  explicit Lender(const Facts& facts)
      : facts_(facts), trace_(facts.trace), communicates_(facts.communication()) {}

  std::vector<Finding> FindLoans() {
    if (communicates_.empty()) return {};
    std::vector<std::vector<BlockId>> buffers(trace_.graphs.size());
    buffer_.assign(trace_.blocks.size(), false);
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const GraphId graph = OnlyGraph(BlockId(i));
      if (graph.valid()) buffers[graph.index()].emplace_back(i);
      buffer_[i] = graph.valid();
    }
    return FindByGraph(facts_, [&](GraphId graph, Finding* finding) {
      Lend(graph, buffers[graph.index()], finding);
    });
  }

 private:
  // The one graph whose nodes touch a buffer of communication that its allocator can't hand to
  // computation: it lives outside the graph, or in a pool of its own.
  GraphId OnlyGraph(BlockId id) const {
    const auto touches = facts_.lives().Touches(id);
    GraphId graph;
    bool exchanged = false;
    for (const Touch& touch : touches) {
      const Node& node = trace_[touch.node];
      const GraphId root = facts_.roots()[node.graph.index()];
      if (node.graph != root || (graph.valid() && graph != root)) return {};
      graph = root;
      exchanged = exchanged || communicates_.Has(node.kernel);
    }
    return exchanged ? graph : GraphId();
  }

  // Blocks that the buffer could hold: each use of the buffer is over before the block begins, or
  // begins when the block is over, and what comes after the block doesn't need what was there.
  bool Holds(BlockId buffer, BlockId block) const {
    const Block& from = trace_[buffer];
    const Block& to = trace_[block];
    if (from.pool == to.pool && facts_.lives()[buffer].root.valid()) return false;
    if (RoundedSize(to) > RoundedSize(from) || facts_.lives()[block].escaped) return false;
    const BlockOrder order = facts_.Blocks(MarkerRule::kLastUse);
    std::vector<Touch> later;
    for (const Touch& use : facts_.lives().Touches(buffer)) {
      if (facts_.order().Before(use.node, facts_.lives()[block].alloc)) continue;
      if (!order.Dies(block)) return false;
      if (!order.DiesBefore(block, facts_.order().StartOf(use.node))) return false;
      later.push_back(use);
    }
    return later.empty() || FillsFirst(buffer, later);
  }

  // True if the first of some uses writes the whole buffer, before all others.
  bool FillsFirst(BlockId buffer, std::span<const Touch> uses) const {
    const NodeId first = uses.front().node;
    return std::ranges::all_of(uses, [&](const Touch& use) {
      if (use.node != first) return facts_.order().Before(first, use.node);
      return Fills(first, buffer);
    });
  }

  bool Fills(NodeId node, BlockId buffer) const {
    return std::ranges::all_of(
        trace_.accesses.Of(trace_[node].accesses), [&](const Access& access) {
          const bool whole =
              access.length == kLengthUnknown || access.length >= trace_[buffer].size;
          const bool fills = access.mode == AccessMode::kWrite && access.offset == 0 && whole &&
                             access.rows.width == 0;
          return access.block != buffer || fills;
        });
  }

  // Each buffer is lent to the largest block that it can hold and that hasn't borrowed another one.
  void Lend(GraphId graph, const std::vector<BlockId>& buffers, Finding* finding) const {
    std::vector<BlockId> borrowers;
    for (const BlockId buffer : buffers) {
      const BlockId best = BestBorrower(buffer, facts_.blocks()[graph.index()], borrowers);
      if (!best.valid()) continue;
      borrowers.push_back(best);
      finding->blocks.push_back(buffer);
      finding->bytes += RoundedSize(trace_[best]);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back({.text = NameOf(trace_, best) + " could lie in " +
                                           NameOf(trace_, buffer) + " while nothing is exchanged",
                                   .blocks = {best, buffer},
                                   .stack = trace_[best].stack});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message =
        FormatBytes(finding->bytes) + " of " + NameOf(trace_, graph) +
        " could lie in communication buffers that are idle then: " + ListOf(finding->blocks);
    finding->advice =
        "let computation borrow the buffers outside the exchange, or allocate them "
        "from the same pool around it";
  }

  BlockId BestBorrower(BlockId buffer, const std::vector<BlockId>& blocks,
                       const std::vector<BlockId>& borrowers) const {
    BlockId best;
    for (const BlockId block : blocks) {
      if (buffer_[block.index()] || trace_[block].size == 0) continue;
      if (best.valid() && RoundedSize(trace_[block]) <= RoundedSize(trace_[best])) continue;
      const bool has = std::ranges::find(borrowers, block) != borrowers.end();
      if (!has && Holds(buffer, block)) best = block;
    }
    return best;
  }

  const Facts& facts_;
  const Trace& trace_;
  const KernelSet& communicates_;
  std::vector<bool> buffer_;  // by block
};

}  // namespace

std::vector<Finding> FindIdleCommBuffers(const Facts& facts) { return Lender(facts).FindLoans(); }

}  // namespace graphkit
