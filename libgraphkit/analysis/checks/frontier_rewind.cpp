// frontier-rewind: streams that were set back while capturing.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/frontier.h"

namespace graphkit {
namespace {

// Nodes that a stream was after, and isn't after its frontier was set.
std::vector<NodeId> Dropped(const Facts& facts, const StreamFrontier& before,
                            const StreamFrontier& after) {
  std::vector<NodeId> dropped;
  for (const FrontierEntry& old : before.entries) {
    const bool kept = std::ranges::any_of(after.entries, [&](const FrontierEntry& entry) {
      return facts.order().EndsBefore(old.node, entry.node);
    });
    if (!kept) dropped.push_back(old.node);
  }
  return dropped;
}

// Blocks of the stream that were freed while it was after the nodes, whose last users it may now
// run beside.
void AddFreedBlocks(const Facts& facts, const StreamOp& op, Finding* finding) {
  for (const BlockId id : facts.blocks()[finding->graph.index()]) {
    const Block& block = facts.trace[id];
    if (block.stream != op.stream || block.free_requested >= op.seq) continue;
    const auto markers = facts.lives().Markers(id, MarkerRule::kAtFree);
    const bool hit = std::ranges::find_first_of(markers, finding->nodes) != markers.end();
    if (hit) AddBlock(facts.trace, id, finding);
  }
}

}  // namespace

std::vector<Finding> FindFrontierRewinds(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!HasRewinds(trace)) return {};
  std::vector<Finding> findings;
  FrontierReplay replay(trace, WholeTrace(trace));
  for (const StreamOp& op : trace.stream_ops) {
    if (op.kind != StreamOpKind::kSetFrontier) continue;
    if (op.stream.index() >= trace.streams.size()) continue;
    replay.AdvanceTo(op.seq);
    const StreamFrontier before = replay.Of(op.stream);
    if (!before.capturing()) continue;
    replay.AdvanceTo(op.seq + 1);
    Finding finding;
    finding.nodes = Dropped(facts, before, replay.Of(op.stream));
    if (finding.nodes.empty()) continue;
    finding.graph = facts.roots()[before.graph.index()];
    finding.streams = {op.stream};
    AddFreedBlocks(facts, op, &finding);
    finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
    finding.message = NameOf(trace, op.stream) + " was set back " + facts.places().Of(op.seq) +
                      ": what it captures next isn't after " + NameOf(trace, finding.nodes.front());
    if (!finding.blocks.empty()) {
      finding.message +=
          "; " + ListOf(finding.blocks) + " freed before must not be reused there as if it were";
    }
    finding.advice = "fork to another stream by an event instead of setting the frontier back";
    finding.evidence.push_back(CapturedThere(trace, finding.nodes.front()));
    finding.evidence.back().nodes = finding.nodes;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
