// missed-by-pool, missed-by-stream: reuse that was possible, had the memory not been another
// pool's or another stream's.

#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// One finding a graph, of the pairs of which `differs` says that they differ. `by`: what in.
std::vector<Finding> FindMissedReuse(const Facts& facts, const char* by, const char* advice,
                                     bool (*differs)(const Block& earlier, const Block& later)) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    for (const ReusePair& pair : facts.reuse()[graph.index()].pairs) {
      const Block& earlier = facts.trace[pair.earlier];
      const Block& later = facts.trace[pair.later];
      if (!differs(earlier, later)) continue;
      finding->bytes += pair.bytes;
      finding->assumes = std::max(finding->assumes, pair.assumes);
      finding->blocks.push_back(pair.later);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back(OverBefore(facts.trace, pair.earlier, pair.later, later.stack));
    }
    if (finding->blocks.empty()) return;
    finding->message = FormatBytes(finding->bytes) + " of " + NameOf(facts.trace, graph) +
                       " were not reused because the free memory belonged to another " + by;
    finding->advice = advice;
  });
}

// Graphs that are launched on one stream only, each with a private pool that no other graph has: no
// two run at once, so that one pool would do. By that stream.
std::map<StreamId, std::vector<GraphId>> GraphsApart(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<GraphId>> graphs_of(trace.pools.size());
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    for (const BlockId block : facts.blocks()[graph]) {
      const PoolId pool = trace[block].pool;
      if (pool.valid()) AddOnce(GraphId(graph), &graphs_of[pool.index()]);
    }
  }
  const auto is_apart = [&](BlockId block) {
    const PoolId pool = trace[block].pool;
    return pool.valid() && trace[pool].kind == PoolKind::kPrivate &&
           graphs_of[pool.index()].size() == 1;
  };
  std::map<StreamId, std::vector<GraphId>> apart;
  const auto& launches = facts.launches();
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    if (launches[graph].empty() || facts.blocks()[graph].empty()) continue;
    const StreamId stream = trace.launches[launches[graph].front()].stream;
    const bool one_stream = std::ranges::all_of(
        launches[graph], [&](uint32_t at) { return trace.launches[at].stream == stream; });
    if (one_stream && std::ranges::all_of(facts.blocks()[graph], is_apart)) {
      apart[stream].emplace_back(graph);
    }
  }
  return apart;
}

// The most of a graph's memory that is live at once, without what it leaves.
Bytes PassingBytes(const Facts& facts, GraphId graph) {
  Bytes left = 0;
  for (const BlockId block : facts.blocks()[graph.index()]) {
    if (!facts.lives()[block].freed) left += RoundedSize(facts.trace[block]);
  }
  const Bytes peak = facts.usage()[graph.index()].peak_live;
  return peak - std::min(peak, left);
}

void FindPoolsApart(const Facts& facts, std::vector<Finding>* findings) {
  for (const auto& [stream, graphs] : GraphsApart(facts)) {
    Bytes sum = 0, largest = 0;
    for (const GraphId graph : graphs) {
      const Bytes passing = PassingBytes(facts, graph);
      sum += passing;
      largest = std::max(largest, passing);
    }
    if (sum == largest) continue;
    Finding finding;
    finding.graph = graphs.front();
    finding.bytes = sum - largest;
    finding.message = Count(graphs.size(), "graph") + ", " + NameOf(facts.trace, finding.graph) +
                      " first, have a pool each and run one after another on " +
                      NameOf(facts.trace, stream) + ": one pool would take " +
                      FormatBytes(finding.bytes) + " less";
    finding.advice =
        "pass one pool to all captures (in PyTorch: torch.cuda.graph(pool=…)), the largest graph "
        "first, and read or copy what a graph leaves before the next launch";
    for (size_t i = 0; i < std::min(graphs.size(), kShownEvidence); ++i) {
      finding.evidence.push_back(AllocatedThere(facts, facts.blocks()[graphs[i].index()].front()));
    }
    findings->push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> FindMissedByPool(const Facts& facts) {
  std::vector<Finding> findings =
      FindMissedReuse(facts, "pool", "let both allocate from one pool",
                      [](const Block& a, const Block& b) { return a.pool != b.pool; });
  FindPoolsApart(facts, &findings);
  return findings;
}

std::vector<Finding> FindMissedByStream(const Facts& facts) {
  return FindMissedReuse(
      facts, "stream",
      "allocate on the stream that frees, or use an allocator that hands memory on "
      "once the streams are ordered",
      [](const Block& a, const Block& b) { return a.stream != b.stream && a.pool == b.pool; });
}

}  // namespace graphkit
