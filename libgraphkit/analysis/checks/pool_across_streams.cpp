// pool-across-streams: pools whose graphs were captured on many streams.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Graphs of one pool, by the one stream that each allocates on.
using ByStream = std::map<StreamId, std::vector<GraphId>>;

std::map<PoolId, ByStream> FindSharedPools(const Facts& facts) {
  std::map<PoolId, ByStream> pools;
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    const std::vector<BlockId>& blocks = facts.blocks()[graph];
    if (blocks.empty()) continue;
    const Block& first = facts.trace[blocks.front()];
    if (!first.pool.valid() || facts.trace[first.pool].kind != PoolKind::kPrivate) continue;
    const bool one = std::ranges::all_of(blocks, [&](BlockId id) {
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
        peak = std::max(peak, facts.usage()[graph.index()].peak_live);
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

}  // namespace graphkit
