#include "libgraphkit/analysis/memory/memory_facts.h"

#include <bit>
#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

// A graph with one pool has the pool's bound.
std::vector<PoolBound> FindPoolBounds(const BlockOrder& order, const std::vector<BlockId>& blocks,
                                      const LowerBoundOptions& options, const LowerBound& all) {
  const auto pool_of = [&](BlockId block) { return order.trace()[block].pool; };
  if (blocks.empty()) return {};
  const PoolId first = pool_of(blocks.front());
  if (std::ranges::all_of(blocks, [&](BlockId id) { return pool_of(id) == first; }))
    return {{first, all}};
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId block : blocks) by_pool[pool_of(block)].push_back(block);
  std::vector<PoolBound> bounds;
  for (const auto& [pool, of_pool] : by_pool)
    bounds.push_back({pool, FindLowerBound(order, of_pool, options)});
  return bounds;
}

}  // namespace

MemoryFacts::Ordered MemoryFacts::FindOrdered() const {
  Ordered made{.order = BuildOrder(trace, options.edges), .lives = {}};
  made.lives = FindLifetimes(trace, &made.order);
  return made;
}

std::vector<std::vector<BlockId>> MemoryFacts::FindBlocks() const {
  std::vector<std::vector<BlockId>> by_root(trace.graphs.size());
  std::vector<size_t> counts(by_root.size());
  for (const BlockLife& life : lives().blocks) {
    if (life.root.valid()) ++counts[life.root.index()];
  }
  for (size_t i = 0; i < by_root.size(); ++i) by_root[i].reserve(counts[i]);
  for (size_t i = 0; i < lives().blocks.size(); ++i) {
    const GraphId root = lives().blocks[i].root;
    if (root.valid()) by_root[root.index()].emplace_back(i);
  }
  return by_root;
}

std::vector<std::vector<BlockOverlap>> MemoryFacts::FindAllOverlaps() const {
  std::vector<std::vector<BlockOverlap>> found(trace.graphs.size());
  ForEachGraph(trace, blocks(), [&](GraphId graph) {
    found[graph.index()] = FindOverlaps(trace, blocks()[graph.index()]);
  });
  return found;
}

std::vector<ReuseFacts> MemoryFacts::FindAllReuse() const {
  const BlockOrder by_last_use = Blocks(MarkerRule::kLastUse);
  std::vector<ReuseFacts> found(trace.graphs.size());
  ForEachGraph(trace, blocks(), [&](GraphId graph) {
    const size_t i = graph.index();
    found[i] = FindReuse(by_last_use, blocks()[i], overlaps()[i]);
  });
  return found;
}

std::vector<std::vector<GraphInput>> MemoryFacts::FindInputs() const {
  std::vector<std::vector<GraphInput>> found(trace.graphs.size());
  const KernelSet numbers_only(trace, TakesNumbersOnly);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    GraphId last;
    for (const NodeId touch : lives().Touches(BlockId(i))) {
      const GraphId root = RootOf(touch);
      if (root == lives().blocks[i].root || root == last) continue;
      if (AlwaysRuns(trace, touch, numbers_only)) continue;
      last = root;
      auto& of_graph = found[root.index()];
      if (!of_graph.empty() && of_graph.back().block == BlockId(i)) continue;
      of_graph.push_back({BlockId(i), touch});
    }
  }
  return found;
}

MemoryFacts::Bounds MemoryFacts::FindBounds() const {
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
}

size_t ThreadsFor(const Ran& trace) {
  constexpr size_t kLarge = 10'000;
  return CoresFor(trace.nodes.size() + trace.blocks.size() >= kLarge);
}

void RunTasks(const Ran& trace, const std::vector<std::function<void()>>& tasks) {
  ParallelFor(tasks.size(), ThreadsFor(trace), [&](size_t i) { tasks[i](); });
}

void ForEachGraph(const Ran& trace, const std::vector<std::vector<BlockId>>& blocks,
                  const std::function<void(GraphId)>& body) {
  // By powers of two: a sort would take longer than most bodies.
  constexpr size_t kSizes = 65;
  Grouped largest_first;
  largest_first.Assign(trace.graphs.size(), kSizes, [&](size_t graph) {
    return kSizes - 1 - static_cast<size_t>(std::bit_width(blocks[graph].size()));
  });
  ParallelFor(trace.graphs.size(), ThreadsFor(trace),
              [&](size_t i) { body(GraphId(largest_first.items[i])); });
}

}  // namespace graphkit
