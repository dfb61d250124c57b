// pool-across-streams, frontier-rewind: what an allocator takes for granted of
// streams, and captures don't keep.
#include "libgraphkit/analysis/checks/pool_rules.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/frontier.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

// Graphs of one pool, by the one stream that each allocates on.
using ByStream = std::map<StreamId, std::vector<GraphId>>;

std::map<PoolId, ByStream> FindSharedPools(const Facts& facts) {
  std::map<PoolId, ByStream> pools;
  for (size_t graph = 0; graph < facts.blocks.size(); ++graph) {
    const std::vector<BlockId>& blocks = facts.blocks[graph];
    if (blocks.empty()) continue;
    const Block& first = facts.trace[blocks.front()];
    if (!first.pool.valid() || facts.trace[first.pool].kind != PoolKind::kPrivate) continue;
    const bool one = std::all_of(blocks.begin(), blocks.end(), [&](BlockId id) {
      return facts.trace[id].stream == first.stream && facts.trace[id].pool == first.pool;
    });
    if (one) pools[first.pool][first.stream].emplace_back(graph);
  }
  return pools;
}

}  // namespace

std::vector<Finding> FindPoolsAcrossStreams(const Facts& facts) {
  std::vector<Finding> findings;
  for (const auto& [pool, by_stream] : FindSharedPools(facts)) {
    if (by_stream.size() < 2) continue;
    Finding finding;
    Bytes most = 0;
    for (const auto& [stream, graphs] : by_stream) {
      Bytes peak = 0;
      for (const GraphId graph : graphs)
        peak = std::max(peak, facts.usage[graph.index()].peak_live);
      finding.bytes += peak;
      most = std::max(most, peak);
      finding.streams.push_back(stream);
      finding.graph = graphs.front();
      finding.evidence.push_back({.text = NameOf(facts.trace, graphs.front()) + " allocates on " +
                                          NameOf(facts.trace, stream) + ": " + FormatBytes(peak) +
                                          " at most"});
    }
    finding.bytes -= most;
    finding.message = "graphs of pool " + std::to_string(pool.value) + " were captured on " +
                      ListOf(facts.trace, finding.streams) +
                      ": an allocator gives memory back to the stream that it came from, so that " +
                      FormatBytes(finding.bytes) + " can't be shared";
    finding.advice = "capture all graphs that share a pool on one stream";
    findings.push_back(std::move(finding));
  }
  return findings;
}

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
