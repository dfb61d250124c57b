#include "libgraphkit/alloc/plan/plan_trace.h"

#include <algorithm>
#include <map>
#include <vector>

#include "libgraphkit/alloc/plan/plan_to_fit.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {

namespace {

bool HandedOut(const Trace& trace, const Block& block) {
  if (block.pool.index() >= trace.pools.size()) return true;
  const PoolKind kind = trace[block.pool].kind;
  return kind != PoolKind::kDevice && kind != PoolKind::kHost && kind != PoolKind::kManaged;
}

// The bound of a pool's blocks by a rule, where the facts have it: pools are handed out whole.
const LowerBound* KnownBound(const Facts& facts, MarkerRule rule, GraphId graph, PoolId pool) {
  if (rule != MarkerRule::kLastUse || facts.pool_bounds.empty()) return nullptr;
  const std::vector<PoolBound>& bounds = facts.pool_bounds[graph.index()];
  const auto found = std::ranges::find(bounds, pool, &PoolBound::pool);
  return found == bounds.end() ? nullptr : &found->bound;
}

struct GraphPool {
  GraphId graph;
  PoolBlocks pool;
  CapturePlan plan = {};
};

void AddPool(const BlockOrder& order, const GraphPool& planned_pool, PlannedMemory* planned) {
  const auto& [graph, pool, plan] = planned_pool;
  const auto arena = static_cast<uint32_t>(planned->arenas.size());
  planned->arenas.push_back({graph, pool.pool, pool.blocks.size(), plan.peak, plan.lower_bound});
  planned->peak += plan.peak;
  planned->lower_bound += plan.lower_bound;
  const size_t first = planned->placements.size();
  for (size_t i = 0; i < pool.blocks.size(); ++i) {
    const BlockId block = pool.blocks[i];
    planned->placements.push_back(
        {block.value, arena, plan.offsets[i], RoundedSize(order.trace()[block])});
  }
  AddSharedBytes(order, std::span(planned->placements).subspan(first), planned);
}

}  // namespace

std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph) {
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId block : facts.blocks[graph.index()]) {
    const Block& b = facts.trace[block];
    if (HandedOut(facts.trace, b)) by_pool[b.pool].push_back(block);
  }
  std::vector<PoolBlocks> pools;
  for (auto& [pool, blocks] : by_pool) pools.push_back({pool, std::move(blocks)});
  return pools;
}

PlannedMemory PlanTrace(const Facts& facts, MarkerRule rule, const CapturePlannerOptions& options) {
  PlannedMemory planned;
  planned.of_trace = true;
  const BlockOrder order = facts.Blocks(rule);
  std::vector<GraphPool> pools;
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    for (PoolBlocks& pool : BlocksByPool(facts, GraphId(i))) {
      pools.push_back({GraphId(i), std::move(pool)});
    }
  }
  PlanToFit(pools.size(), options.search.capacity, [&](size_t i, Bytes capacity, bool greedily) {
    CapturePlannerOptions of_pool = options;
    of_pool.search.capacity = capacity;
    if (greedily) of_pool.search.effort = 0;
    of_pool.bound = KnownBound(facts, rule, pools[i].graph, pools[i].pool.pool);
    pools[i].plan = PlanCapture(order, pools[i].pool.blocks, of_pool);
    return pools[i].plan.peak;
  });
  for (const GraphPool& pool : pools) AddPool(order, pool, &planned);
  return planned;
}

void AddPlans(const Facts& facts, Report* report) {
  constexpr size_t kMostBlocks = 2000;
  if (facts.trace.blocks.size() > kMostBlocks) return;
  const PlannedMemory planned = PlanTrace(facts, MarkerRule::kLastUse,
                                          {.search = {.effort = 20'000'000}, .looks = 5'000'000});
  std::vector<uint64_t> blocks(report->graphs.size());
  std::vector<Bytes> bytes(report->graphs.size());
  for (const PlannedArena& arena : planned.arenas) {
    blocks[arena.graph.index()] += arena.blocks;
    bytes[arena.graph.index()] += arena.peak;
  }
  for (GraphSummary& graph : report->graphs) {
    const size_t at = graph.graph.index();
    const bool whole = graph.unknown_memory.empty() && blocks[at] == graph.blocks;
    if (graph.blocks > 0 && whole) graph.plan_bytes = bytes[at];
  }
}

}  // namespace graphkit
