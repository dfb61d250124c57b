// frontier-rewind: streams that were set back while capturing.
#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/frontier.h"

namespace graphkit {

namespace {

// Nodes that a stream was after, and isn't after its frontier was set.
std::vector<NodeId> Dropped(const Facts& facts, const StreamFrontier& before,
                            const StreamFrontier& after) {
  std::vector<NodeId> dropped;
  for (const FrontierEntry& old : before.entries) {
    const bool kept = std::any_of(
        after.entries.begin(), after.entries.end(),
        [&](const FrontierEntry& entry) { return facts.order.EndsBefore(old.node, entry.node); });
    if (!kept) dropped.push_back(old.node);
  }
  return dropped;
}

// Blocks of the stream that were freed while it was after the nodes, whose last users it may now
// run beside.
void AddFreedBlocks(const Facts& facts, const StreamOp& op, Finding* finding) {
  for (const BlockId id : facts.blocks[finding->graph.index()]) {
    const Block& block = facts.trace[id];
    if (block.stream != op.stream || block.free_requested >= op.seq) continue;
    const auto markers = facts.lives.Markers(id, MarkerRule::kAtFree);
    const bool hit = std::any_of(markers.begin(), markers.end(), [&](NodeId marker) {
      return std::find(finding->nodes.begin(), finding->nodes.end(), marker) !=
             finding->nodes.end();
    });
    if (!hit) continue;
    finding->blocks.push_back(id);
    finding->bytes += RoundedSize(block);
  }
}

}  // namespace

std::vector<Finding> FindFrontierRewinds(const Facts& facts) {
  const Trace& trace = facts.trace;
  const bool any =
      std::any_of(trace.stream_ops.begin(), trace.stream_ops.end(),
                  [](const auto& op) { return op.kind == StreamOpKind::kSetFrontier; });
  if (!any) return {};
  std::vector<Finding> findings;
  FrontierReplay replay(trace);
  for (const StreamOp& op : trace.stream_ops) {
    if (op.kind != StreamOpKind::kSetFrontier || op.stream.index() >= trace.streams.size())
      continue;
    replay.AdvanceTo(op.seq);
    const StreamFrontier before = replay.Of(op.stream);
    if (!before.capturing()) continue;
    replay.AdvanceTo(op.seq + 1);
    Finding finding;
    finding.nodes = Dropped(facts, before, replay.Of(op.stream));
    if (finding.nodes.empty()) continue;
    finding.graph = facts.roots[before.graph.index()];
    finding.streams = {op.stream};
    AddFreedBlocks(facts, op, &finding);
    finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
    finding.message = NameOf(trace, op.stream) + " was set back " + PlaceOf(trace, op.seq) +
                      ": what it captures next isn't after " + NameOf(trace, finding.nodes.front());
    if (!finding.blocks.empty()) {
      finding.message +=
          "; " + ListOf(finding.blocks) + " freed before must not be reused there as if it were";
    }
    finding.advice = "fork to another stream by an event instead of setting the frontier back";
    finding.evidence.push_back({.text = CapturedOn(trace, finding.nodes.front()),
                                .nodes = finding.nodes,
                                .stack = trace[finding.nodes.front()].stack});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
