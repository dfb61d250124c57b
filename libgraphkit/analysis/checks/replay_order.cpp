// replay-order: graphs of one pool launched in another order than captured.
#include <algorithm>
#include <map>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

namespace {

constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

bool Share(const Block& a, const Block& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

}  // namespace

std::vector<Finding> FindReplayOrders(const Facts& facts) {
  const Trace& trace = facts.trace;
  RunGraphs run(trace);
  std::vector<Seq> first_launch(trace.graphs.size(), kNever);
  for (const Launch& launch : trace.launches) {
    const GraphId graph = run.Of(launch);
    if (graph.valid() && first_launch[graph.index()] == kNever) {
      first_launch[graph.index()] = launch.seq;
    }
  }
  std::map<PoolId, std::vector<GraphId>> by_pool;  // launched graphs, in capture order
  for (size_t graph = 0; graph < facts.blocks.size(); ++graph) {
    if (first_launch[graph] == kNever || facts.blocks[graph].empty()) continue;
    const PoolId pool = trace[facts.blocks[graph].front()].pool;
    if (pool.valid() && trace[pool].kind == PoolKind::kPrivate) by_pool[pool].emplace_back(graph);
  }
  std::vector<Finding> findings;
  size_t pairs = 0;
  for (const auto& [pool, graphs] : by_pool) {
    for (size_t later = 1; later < graphs.size(); ++later) {
      for (size_t earlier = 0; earlier < later && pairs < kMostPairs; ++earlier) {
        const GraphId a = graphs[earlier];
        const GraphId b = graphs[later];
        if (first_launch[a.index()] < first_launch[b.index()]) continue;
        ++pairs;
        Finding finding;
        // What the later capture leaves behind, where the earlier one writes.
        for (const BlockId left : facts.blocks[b.index()]) {
          if (facts.lives[left].freed) continue;
          const auto over = [&](BlockId id) { return Share(trace[id], trace[left]); };
          const auto& own = facts.blocks[a.index()];
          if (std::find_if(own.begin(), own.end(), over) == own.end()) continue;
          finding.blocks.push_back(left);
          finding.bytes += RoundedSize(trace[left]);
        }
        if (finding.blocks.empty()) continue;
        finding.graph = a;
        finding.message = NameOf(trace, a) + " was captured before " + NameOf(trace, b) +
                          " in the same pool and launched after it: it writes over " +
                          ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) +
                          "), which that one leaves";
        finding.advice =
            "launch graphs that share a pool in the order of their captures, or copy "
            "what a graph leaves before the next launch";
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

}  // namespace graphkit
