#include "libgraphkit/analysis/facts.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/names/kernel_names.h"
#include "libgraphkit/parallel.h"

namespace graphkit {

namespace {

std::vector<std::vector<BlockId>> BlocksByRoot(const Trace& trace, const Lifetimes& lives) {
  std::vector<std::vector<BlockId>> blocks(trace.graphs.size());
  std::vector<size_t> counts(blocks.size());
  for (const BlockLife& life : lives.blocks) {
    if (life.root.valid()) ++counts[life.root.index()];
  }
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].reserve(counts[i]);
  for (size_t i = 0; i < lives.blocks.size(); ++i) {
    const GraphId root = lives.blocks[i].root;
    if (root.valid()) blocks[root.index()].emplace_back(i);
  }
  return blocks;
}

bool HasPartialEdges(const Trace& trace) {
  return !std::ranges::all_of(trace.edges, [](const Edge& edge) { return edge.full(); });
}

// A graph with one pool has the pool's bound.
std::vector<PoolBound> FindPoolBounds(const BlockOrder& order, const std::vector<BlockId>& blocks,
                                      const LowerBoundOptions& options, const LowerBound& all) {
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId block : blocks) by_pool[order.trace()[block].pool].push_back(block);
  std::vector<PoolBound> bounds;
  for (const auto& [pool, of_pool] : by_pool) {
    bounds.push_back({pool, by_pool.size() == 1 ? all : FindLowerBound(order, of_pool, options)});
  }
  return bounds;
}

void FindBounds(const LowerBoundOptions& options, std::atomic<size_t>* done, Facts* facts) {
  const BlockOrder order = facts->Blocks(MarkerRule::kLastUse);
  facts->bounds.resize(facts->blocks.size());
  facts->pool_bounds.resize(facts->blocks.size());
  ForEachGraph(facts->trace, facts->blocks, [&](GraphId graph) {
    const std::vector<BlockId>& blocks = facts->blocks[graph.index()];
    LowerBound& bound = facts->bounds[graph.index()];
    bound = FindLowerBound(order, blocks, options);
    facts->pool_bounds[graph.index()] = FindPoolBounds(order, blocks, options, bound);
    if (done != nullptr) ++*done;
  });
}

void FindAllReuse(Facts* facts) {
  const BlockOrder order = facts->Blocks(MarkerRule::kLastUse);
  facts->overlaps.resize(facts->blocks.size());
  facts->reuse.resize(facts->blocks.size());
  ForEachGraph(facts->trace, facts->blocks, [&](GraphId graph) {
    const std::vector<BlockId>& blocks = facts->blocks[graph.index()];
    std::vector<Overlap>& overlaps = facts->overlaps[graph.index()];
    overlaps = FindOverlaps(facts->trace, blocks);
    facts->reuse[graph.index()] = FindReuse(order, blocks, overlaps);
  });
}

void FindOrder(EdgeRule edges, Facts* facts) {
  facts->order = BuildOrder(facts->trace, edges);
  facts->lives = FindLifetimes(facts->trace, &facts->order);
  facts->blocks = BlocksByRoot(facts->trace, facts->lives);
}

std::unique_ptr<const Facts> FindStrict(const Facts& facts) {
  auto strict = std::make_unique<Facts>(
      Facts{.trace = facts.trace, .order = Order(), .in_edges = facts.in_edges});
  FindOrder(EdgeRule::kCompletion, strict.get());
  strict->roots = facts.roots;
  strict->overlaps = facts.overlaps;
  strict->partial_edges = facts.partial_edges;
  strict->exec_memory = facts.exec_memory;
  strict->races = FindRaces(*strict, &facts.order);
  return strict;
}

}  // namespace

// What needs no order beside the order, then the rest, the longest first. Edges by node are found
// when the bounds, which take the most memory, are mostly over.
Facts FindFacts(const Trace& trace, const FactOptions& options) {
  Facts facts{.trace = trace, .order = Order(options.edges)};
  RunTasks(trace, {[&] { FindOrder(options.edges, &facts); },
                   [&] {
                     facts.roots = FindRoots(trace);
                     facts.unknown_memory = FindUnknownMemory(trace, facts.roots);
                     if (options.scope == FactScope::kPlacement) return;
                     if (options.scope == FactScope::kReplay) {
                       facts.in_edges = FindInEdges(trace);
                     } else {
                       facts.partial_edges = HasPartialEdges(trace);
                     }
                   }});
  if (options.scope != FactScope::kAll) {
    facts.inputs = FindInputs(trace, facts.lives, facts.roots);
    return facts;
  }
  const bool differs = options.edges != EdgeRule::kCompletion && facts.partial_edges;
  const auto bounds = [&] {
    if (!options.bound_time_limit) return;
    FindBounds({.time_limit = *options.bound_time_limit, .online = true}, options.graphs_done,
               &facts);
  };
  const auto edges = [&] {
    facts.in_edges = FindInEdges(trace);
    facts.shapes = FindShapes(trace, facts.in_edges);
    if (!differs) facts.races = FindRaces(facts);
  };
  RunTasks(trace, {bounds, [&] { FindAllReuse(&facts); },
                   [&] { facts.usage = FindUsage(trace, facts.lives); },
                   [&] { facts.inputs = FindInputs(trace, facts.lives, facts.roots); }, edges,
                   [&] { facts.exec_memory = FindExecMemory(trace, facts.roots); }});
  if (differs) facts.strict = FindStrict(facts);
  return facts;
}

std::vector<std::vector<GraphInput>> FindInputs(const Trace& trace, const Lifetimes& lives,
                                                const std::vector<GraphId>& roots) {
  std::vector<std::vector<GraphInput>> inputs(trace.graphs.size());
  const KernelSet numbers_only(trace, TakesNumbersOnly);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    GraphId last;
    for (const Touch& touch : lives.Touches(BlockId(i))) {
      const GraphId root = roots[trace[touch.node].graph.index()];
      if (root == lives.blocks[i].root || root == last) continue;
      if (AlwaysRuns(trace, touch.node, numbers_only)) continue;
      last = root;
      auto& of_graph = inputs[root.index()];
      if (!of_graph.empty() && of_graph.back().block == BlockId(i)) continue;
      of_graph.push_back({BlockId(i), touch.node});
    }
  }
  return inputs;
}

size_t ThreadsFor(const Trace& trace) {
  constexpr size_t kLarge = 10'000;
  return CoresFor(trace.nodes.size() + trace.blocks.size() >= kLarge);
}

void RunTasks(const Trace& trace, const std::vector<std::function<void()>>& tasks) {
  ParallelFor(tasks.size(), ThreadsFor(trace), [&](size_t i) { tasks[i](); });
}

void ForEachGraph(const Trace& trace, const std::vector<std::vector<BlockId>>& blocks,
                  const std::function<void(GraphId)>& body) {
  std::vector<GraphId> largest_first;
  for (size_t i = 0; i < trace.graphs.size(); ++i) largest_first.emplace_back(i);
  std::ranges::stable_sort(largest_first, std::greater(),
                           [&](GraphId graph) { return blocks[graph.index()].size(); });
  ParallelFor(largest_first.size(), ThreadsFor(trace), [&](size_t i) { body(largest_first[i]); });
}

}  // namespace graphkit
