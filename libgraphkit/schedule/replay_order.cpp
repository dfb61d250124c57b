#include "libgraphkit/schedule/replay_order.h"

#include <map>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/group_by.h"

namespace graphkit {

namespace {

constexpr size_t kMostShown = 100;

// The graphs of each private pool, in capture order.
std::map<PoolId, std::vector<GraphId>> GraphsByPool(const Trace& trace) {
  std::map<PoolId, std::vector<GraphId>> graphs;
  for (const Block& block : trace.blocks) {
    if (!block.graph.valid() || !block.pool.valid()) continue;
    if (trace[block.pool].kind != PoolKind::kPrivate) continue;
    graphs[block.pool].push_back(RootOf(trace, block.graph));
  }
  for (auto& [pool, of_pool] : graphs) {
    const auto created = [&trace](GraphId graph) { return trace[graph].created; };
    SortUnique(&of_pool, [&](GraphId g) { return std::pair(created(g), g.value); });
  }
  return graphs;
}

void Follow(PoolReplays& replays, uint32_t launch, GraphId graph, std::optional<size_t>& last) {
  const auto at = std::ranges::find(replays.captured, graph);
  if (at == replays.captured.end()) return;
  ++replays.launches;
  const size_t place = static_cast<size_t>(at - replays.captured.begin());
  if (!last || place == 0) {
    ++replays.rounds;
    last = place;
    return;
  }
  if (place <= *last) {
    ++replays.departure_count;
    if (replays.departures.size() < kMostShown) {
      replays.departures.push_back({launch, graph, replays.captured[*last], replays.rounds - 1});
    }
  }
  last = place;
}

}  // namespace

std::vector<PoolReplays> FindPoolReplays(const Trace& trace) {
  std::vector<PoolReplays> pools;
  for (auto& [pool, graphs] : GraphsByPool(trace)) {
    if (graphs.size() > 1) pools.push_back({.pool = pool, .captured = std::move(graphs)});
  }
  std::vector<std::optional<size_t>> last(pools.size());
  const std::vector<GraphId> ran = FindRan(trace);
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    for (size_t p = 0; p < pools.size() && ran[i].valid(); ++p) {
      Follow(pools[p], i, RootOf(trace, ran[i]), last[p]);
    }
  }
  return pools;
}

}  // namespace graphkit
