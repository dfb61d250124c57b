#include "libgraphkit/analysis/facts.h"

#include <algorithm>
#include <utility>

namespace graphkit {

Facts FindFacts(const Trace& trace) {
  Order order = BuildOrder(trace);
  InEdges in_edges = FindInEdges(trace);
  Lifetimes lives = FindLifetimes(trace, &order);
  std::vector<std::vector<BlockId>> blocks(trace.graphs.size());
  for (size_t i = 0; i < lives.blocks.size(); ++i) {
    const GraphId root = lives.blocks[i].root;
    if (root.valid()) blocks[root.index()].emplace_back(i);
  }
  std::vector<Usage> usage = FindUsage(trace, lives);
  std::vector<Shape> shapes = FindShapes(trace, in_edges);
  const bool partial_edges = !std::all_of(trace.edges.begin(), trace.edges.end(),
                                          [](const Edge& edge) { return edge.full(); });
  Facts facts{trace,
              std::move(order),
              std::move(in_edges),
              std::move(lives),
              FindRoots(trace),
              std::move(blocks),
              std::move(usage),
              std::move(shapes),
              {},
              {},
              partial_edges};
  const BlockOrder last_use = facts.Blocks(MarkerRule::kLastUse);
  for (const std::vector<BlockId>& of_graph : facts.blocks) {
    facts.reuse.push_back(FindReuse(last_use, of_graph));
  }
  facts.races = FindRaces(facts);
  return facts;
}

}  // namespace graphkit
