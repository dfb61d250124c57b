#include "libgraphkit/analysis/facts.h"

#include <algorithm>
#include <future>

namespace graphkit {
namespace {

std::vector<std::vector<BlockId>> BlocksByRoot(const Trace& trace, const Lifetimes& lives) {
  std::vector<std::vector<BlockId>> blocks(trace.graphs.size());
  for (size_t i = 0; i < lives.blocks.size(); ++i) {
    const GraphId root = lives.blocks[i].root;
    if (root.valid()) blocks[root.index()].emplace_back(i);
  }
  return blocks;
}

bool HasPartialEdges(const Trace& trace) {
  return !std::all_of(trace.edges.begin(), trace.edges.end(),
                      [](const Edge& edge) { return edge.full(); });
}

std::vector<LowerBound> FindBounds(const Facts& facts, std::chrono::milliseconds time_limit) {
  std::vector<LowerBound> bounds;
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  for (const std::vector<BlockId>& blocks : facts.blocks) {
    bounds.push_back(FindLowerBound(order, blocks, {.time_limit = time_limit}));
  }
  return bounds;
}

std::vector<ReuseFacts> FindAllReuse(const Facts& facts) {
  std::vector<ReuseFacts> reuse;
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  for (const std::vector<BlockId>& blocks : facts.blocks) {
    reuse.push_back(FindReuse(order, blocks));
  }
  return reuse;
}

// A thread costs more than a small trace.
std::launch LaunchOf(const Trace& trace) {
  constexpr size_t kSmall = 10'000;
  return trace.nodes.size() + trace.blocks.size() < kSmall ? std::launch::deferred
                                                           : std::launch::async;
}

}  // namespace

// Found on two cores: what needs no order beside the order, then races and bounds beside the rest.
Facts FindFacts(const Trace& trace, const FactOptions& options) {
  Facts facts{.trace = trace, .order = Order(options.edges)};
  auto shapes = std::async(LaunchOf(trace), [&facts, &trace] {
    facts.in_edges = FindInEdges(trace);
    facts.shapes = FindShapes(trace, facts.in_edges);
    facts.partial_edges = HasPartialEdges(trace);
  });
  facts.order = BuildOrder(trace, options.edges);
  facts.lives = FindLifetimes(trace, &facts.order);
  facts.roots = FindRoots(trace);
  facts.blocks = BlocksByRoot(trace, facts.lives);
  shapes.get();
  auto bounds = std::async(LaunchOf(trace), [&facts, &options] {
    facts.races = FindRaces(facts);
    if (options.bound_time_limit) facts.bounds = FindBounds(facts, *options.bound_time_limit);
  });
  facts.usage = FindUsage(trace, facts.lives);
  facts.inputs = FindInputs(trace, facts.lives, facts.roots);
  facts.reuse = FindAllReuse(facts);
  bounds.get();
  return facts;
}

}  // namespace graphkit
