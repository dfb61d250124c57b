// unsafe-reuse: a block lies where another one lay, and nothing orders their uses.
#include <optional>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// A pair of nodes, one for each block, that nothing orders; the last one of the earlier block.
struct UnorderedUses {
  NodeId earlier;
  NodeId later;
};

UnorderedUses FindUnorderedUses(const Facts& facts, const BlockOverlap& overlap) {
  for (const NodeId marker : facts.lives().Markers(overlap.earlier, MarkerRule::kLastUse)) {
    for (const Touch& touch : facts.lives().Touches(overlap.later)) {
      if (!facts.order().Before(marker, touch.node)) return {marker, touch.node};
    }
  }
  return {};
}

bool Writes(const Trace& trace, NodeId node, BlockId block) {
  return std::ranges::any_of(trace.accesses.Of(trace[node].accesses), [&](const Access& access) {
    return access.block == block &&
           (access.mode == AccessMode::kWrite || access.mode == AccessMode::kReadWrite);
  });
}

// Lost only where it isn't known whether a kernel waits for its grid dependencies.
class LostToTheUnknown {
 public:
  explicit LostToTheUnknown(const Facts& facts) : facts_(facts) {}

  bool operator()(const BlockOverlap& overlap) {
    if (!facts_.partial_edges()) return false;
    if (!order_) order_ = BuildOrder(facts_.trace, EdgeRule::kCompletion, Ternary::kYes);
    for (const NodeId marker : facts_.lives().Markers(overlap.earlier, MarkerRule::kLastUse)) {
      for (const Touch& touch : facts_.lives().Touches(overlap.later)) {
        if (!order_->Before(marker, touch.node)) return false;
      }
    }
    return true;
  }

 private:
  const Facts& facts_;
  std::optional<Order> order_;
};

Finding Describe(const Facts& facts, const BlockOverlap& overlap, GraphId graph) {
  const Trace& trace = facts.trace;
  const UnorderedUses race = FindUnorderedUses(facts, overlap);
  Finding finding;
  finding.graph = graph;
  finding.blocks = {overlap.earlier, overlap.later};
  finding.bytes = std::min(RoundedSize(trace[overlap.earlier]), RoundedSize(trace[overlap.later]));
  finding.assumes = Assumption::kArguments;
  finding.message =
      NameOf(trace, overlap.later) + " lies where " + NameOf(trace, overlap.earlier) + " lay, and ";
  if (race.earlier.valid()) {
    const bool writes =
        Writes(trace, race.later, overlap.later) || Writes(trace, race.earlier, overlap.earlier);
    finding.severity = writes ? Severity::kError : Severity::kWarning;
    finding.nodes = {race.earlier, race.later};
    finding.message += NameOf(trace, race.earlier) + " need not have ended when " +
                       NameOf(trace, race.later) + " starts";
    finding.evidence = {CapturedThere(trace, race.earlier), CapturedThere(trace, race.later)};
  } else {
    finding.severity = Severity::kWarning;
    finding.message += "nothing proves that it was over";
  }
  finding.advice =
      "order the two (an event from the one stream to the other), or record the block on every "
      "stream that uses it before it is freed";
  return finding;
}

}  // namespace

std::vector<Finding> FindUnsafeReuse(const Facts& facts) {
  std::vector<Finding> findings;
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  LostToTheUnknown unknown(facts);
  const std::vector<bool> histories = GraphsOfHistories(facts.trace);
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    if (histories[graph]) continue;  // what used the blocks isn't in it
    for (const BlockOverlap& overlap : facts.overlaps()[graph]) {
      const BlockLife& earlier = facts.lives()[overlap.earlier];
      if (earlier.elsewhere || order.Before(overlap.earlier, overlap.later)) continue;
      // The driver places the memory of nodes, and knows what it does.
      if (facts.trace[overlap.later].alloc_node.valid()) continue;
      // A block freed by a call that no node stands for is over for its owner.
      if (earlier.escaped && earlier.foreign) continue;
      findings.push_back(Describe(facts, overlap, GraphId(graph)));
      Finding& finding = findings.back();
      if (finding.nodes.empty() || !unknown(overlap)) continue;
      finding.severity = Severity::kNote;
      finding.message += ": a kernel between them isn't known to wait for its grid dependencies";
    }
  }
  return findings;
}

}  // namespace graphkit
