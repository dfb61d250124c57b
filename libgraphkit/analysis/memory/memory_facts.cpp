#include "libgraphkit/analysis/memory/memory_facts.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/naming.h"
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

}  // namespace

const MemoryFacts::Ordered& MemoryFacts::ordered() const {
  return ordered_.Get([&] {
    Ordered made{.order = BuildOrder(trace, options.edges), .lives = {}};
    made.lives = FindLifetimes(trace, &made.order);
    return made;
  });
}

const std::vector<std::vector<BlockId>>& MemoryFacts::blocks() const {
  return blocks_.Get([&] { return BlocksByRoot(trace, lives()); });
}

const std::vector<std::vector<BlockOverlap>>& MemoryFacts::overlaps() const {
  return overlaps_.Get([&] {
    std::vector<std::vector<BlockOverlap>> overlaps(trace.graphs.size());
    ForEachGraph(trace, blocks(), [&](GraphId graph) {
      overlaps[graph.index()] = FindOverlaps(trace, blocks()[graph.index()]);
    });
    return overlaps;
  });
}

const std::vector<ReuseFacts>& MemoryFacts::reuse() const {
  return reuse_.Get([&] {
    const BlockOrder by_last_use = Blocks(MarkerRule::kLastUse);
    std::vector<ReuseFacts> reuse(trace.graphs.size());
    ForEachGraph(trace, blocks(), [&](GraphId graph) {
      const size_t i = graph.index();
      reuse[i] = FindReuse(by_last_use, blocks()[i], overlaps()[i]);
    });
    return reuse;
  });
}

const std::vector<std::vector<GraphInput>>& MemoryFacts::inputs() const {
  return inputs_.Get([&] { return FindInputs(trace, lives(), roots()); });
}

const MemoryFacts::Bounds& MemoryFacts::all_bounds() const {
  return bounds_.Get([&] {
    Bounds made;
    if (!options.bound_time_limit) return made;
    const LowerBoundOptions how{.time_limit = *options.bound_time_limit};
    const BlockOrder by_last_use = Blocks(MarkerRule::kLastUse);
    made.graphs.resize(trace.graphs.size());
    made.pools.resize(trace.graphs.size());
    ForEachGraph(trace, blocks(), [&](GraphId graph) {
      const size_t i = graph.index();
      made.graphs[i] = FindLowerBound(by_last_use, blocks()[i], how);
      made.pools[i] = FindPoolBounds(by_last_use, blocks()[i], how, made.graphs[i]);
      if (options.graphs_done != nullptr) ++*options.graphs_done;
    });
    return made;
  });
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
