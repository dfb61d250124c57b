#include "libgraphkit/alloc/plan/plan_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

bool HandedOut(const Ran& trace, const Block& block) {
  if (block.pool.index() >= trace.pools.size()) return true;
  const PoolKind kind = trace[block.pool].kind;
  return kind != PoolKind::kDevice && kind != PoolKind::kHost && kind != PoolKind::kManaged;
}

struct GraphPool {
  GraphId graph;
  PoolBlocks pool;
  LowerBound bound = {};
  CapturePlan plan = {};
};

// `capacity`: where the search may stop; 0: it goes on to the least.
void PlanPool(const BlockOrder& order, CapturePlannerOptions options, Bytes capacity, bool greedily,
              GraphPool* pool) {
  options.search.capacity = capacity;
  if (greedily) options.search.effort = 0;
  options.bound = &pool->bound;
  pool->plan = PlanCapture(order, pool->pool.blocks, options);
}

// In an arena of its own.
PlannedMemory Describe(const BlockOrder& order, const GraphPool& planned_pool) {
  const auto& [graph, pool, bound, plan] = planned_pool;
  PlannedMemory planned;
  planned.of_trace = true;
  planned.arenas.push_back(
      {graph, pool.pool, pool.blocks.size(), plan.peak, plan.lower_bound, bound.blocks});
  planned.peak = plan.peak;
  planned.lower_bound = plan.lower_bound;
  planned.placements.reserve(pool.blocks.size());
  for (size_t i = 0; i < pool.blocks.size(); ++i) {
    const BlockId block = pool.blocks[i];
    planned.placements.push_back(
        {block.value, 0, plan.offsets[i], RoundedSize(order.trace()[block])});
  }
  AddSharedBytes(order, planned.placements, &planned);
  return planned;
}

// Neighbouring ranges of one pair are one.
bool Joins(const SharedBytes& last, const SharedBytes& next) {
  return last.earlier == next.earlier && last.later == next.later && last.arena == next.arena &&
         last.offset + last.size == next.offset;
}

Slice AddNodes(std::span<const NodeId> nodes, PlannedMemory* plan) {
  const Slice slice{static_cast<uint32_t>(plan->proof_nodes.size()),
                    static_cast<uint32_t>(nodes.size())};
  plan->proof_nodes.insert(plan->proof_nodes.end(), nodes.begin(), nodes.end());
  return slice;
}

struct CaptureSpan {
  GraphId graph;
  Seq begin = kNever;
  Seq end = 0;
  Seq gone = kNever;
  std::set<PoolId> pools = {};  // private ones
};

// Of the graphs with blocks, in capture order.
std::vector<CaptureSpan> FindSpans(const Facts& facts) {
  const Ran& trace = facts.trace;
  const std::vector<Seq> destroyed = FindDestroyed(trace, facts.roots());
  std::vector<CaptureSpan> spans;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (facts.blocks()[i].empty()) continue;
    CaptureSpan span{.graph = GraphId(i), .gone = destroyed[i]};
    for (const BlockId id : facts.blocks()[i]) {
      const Block& block = trace[id];
      const bool freed = facts.lives()[id].freed;
      span.begin = std::min(span.begin, block.allocated);
      span.end = std::max(span.end, freed ? block.free_requested : block.allocated);
      span.gone = std::max(span.gone, block.free_requested);
      const bool shareable = block.pool && trace[block.pool].kind == PoolKind::kPrivate;
      if (shareable) span.pools.insert(block.pool);
    }
    spans.push_back(std::move(span));
  }
  std::ranges::stable_sort(spans, {}, &CaptureSpan::begin);
  return spans;
}

// The arenas of all parts, in their order; each part has a trace's graphs or pools of its own.
PlannedMemory JoinPlans(std::vector<PlannedMemory> parts) {
  PlannedMemory plan;
  plan.of_trace = true;
  const auto reserve = [&](auto PlannedMemory::*rows) {
    size_t size = 0;
    for (const PlannedMemory& part : parts) size += (part.*rows).size();
    (plan.*rows).reserve(size);
  };
  reserve(&PlannedMemory::arenas);
  reserve(&PlannedMemory::placements);
  reserve(&PlannedMemory::shared);
  reserve(&PlannedMemory::proof_nodes);
  for (PlannedMemory& taken : parts) {
    const PlannedMemory part = std::exchange(taken, {});
    const auto arenas = static_cast<uint32_t>(plan.arenas.size());
    const auto nodes = static_cast<uint32_t>(plan.proof_nodes.size());
    for (Placement placement : part.placements) {
      placement.arena += arenas;
      plan.placements.push_back(placement);
    }
    for (SharedBytes shared : part.shared) {
      shared.arena += arenas;
      shared.ends.first += nodes;
      shared.starts.first += nodes;
      plan.shared.push_back(shared);
    }
    plan.arenas.insert(plan.arenas.end(), part.arenas.begin(), part.arenas.end());
    plan.proof_nodes.insert(plan.proof_nodes.end(), part.proof_nodes.begin(),
                            part.proof_nodes.end());
    plan.peak += part.peak;
    plan.lower_bound += part.lower_bound;
  }
  return plan;
}

// The nodes that touch a block and aren't after another one that does.
std::vector<NodeId> FirstTouches(const BlockOrder& order, BlockId block) {
  std::vector<NodeId> first;
  for (const NodeId touch : order.lives().Touches(block)) {
    const bool after = std::ranges::any_of(
        first, [&](NodeId node) { return node == touch || order.order().Before(node, touch); });
    if (!after) first.push_back(touch);
  }
  return first;
}

}  // namespace

std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph) {
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId block : facts.blocks()[graph.index()]) {
    const Block& b = facts.trace[block];
    if (HandedOut(facts.trace, b)) by_pool[b.pool].push_back(block);
  }
  std::vector<PoolBlocks> pools;
  for (auto& [pool, blocks] : by_pool) pools.push_back({pool, std::move(blocks)});
  return pools;
}

LowerBound BoundOf(const Facts& facts, MarkerRule rule, GraphId graph, const PoolBlocks& pool) {
  if (rule == MarkerRule::kLastUse && !facts.pool_bounds().empty()) {
    // Pools are handed out whole.
    const std::vector<PoolBound>& bounds = facts.pool_bounds()[graph.index()];
    const auto found = std::ranges::find(bounds, pool.pool, &PoolBound::pool);
    if (found != bounds.end()) return found->bound;
  }
  return FindLowerBound(facts.Blocks(rule), pool.blocks);
}

// Each pool by itself; greedily, where several are to fit into one capacity.
PlannedMemory PlanTrace(const Facts& facts, MarkerRule rule, const CapturePlannerOptions& options,
                        std::atomic<size_t>* graphs_done) {
  const BlockOrder order = facts.Blocks(rule);
  std::vector<GraphPool> pools;
  std::vector<Slice> of_graph(facts.blocks().size());  // in `pools`
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    of_graph[i].first = static_cast<uint32_t>(pools.size());
    for (PoolBlocks& pool : BlocksByPool(facts, GraphId(i))) {
      pools.push_back({GraphId(i), std::move(pool)});
      ++of_graph[i].count;
    }
  }
  const Bytes capacity = options.search.capacity;
  const bool together = capacity != 0 && pools.size() > 1;
  const size_t threads = ThreadsFor(facts.trace);
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    const Slice own = of_graph[graph.index()];
    ParallelFor(own.count, threads, [&](size_t i) {
      GraphPool& pool = pools[own.first + i];
      pool.bound = BoundOf(facts, rule, graph, pool.pool);
      PlanPool(order, options, together ? 0 : capacity, together, &pool);
    });
    if (graphs_done != nullptr) ++*graphs_done;
  });
  if (together) {
    PlanToFit(pools.size(), capacity, [&](size_t i, Bytes share, bool greedily) {
      if (!greedily) PlanPool(order, options, share, false, &pools[i]);
      return pools[i].plan.peak;
    });
  }
  std::vector<PlannedMemory> parts(pools.size());
  ParallelFor(pools.size(), threads, [&](size_t i) {
    parts[i] = Describe(order, pools[i]);
    pools[i] = {};
  });
  return parts.size() == 1 ? std::move(parts.front()) : JoinPlans(std::move(parts));
}

void AddPlans(const Facts& facts, Report* report) {
  constexpr size_t kMostBlocks = 2000;
  if (facts.trace.blocks.size() > kMostBlocks) return;
  const PlannedMemory planned =
      PlanTrace(facts, MarkerRule::kLastUse, {.search = {.effort = 60'000'000}});
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

void AddSharedBytes(const BlockOrder& order, std::span<const Placement> placements,
                    PlannedMemory* plan) {
  IntervalMap<BlockId> occupants;  // who lay where last
  const size_t known = plan->shared.size();
  for (const Placement& placement : placements) {
    if (placement.size == 0) continue;
    const BlockId later(placement.block);
    const Interval<Bytes> bytes{placement.offset, placement.offset + placement.size};
    occupants.Visit(bytes, [&](const auto& earlier) {
      const Bytes begin = std::max(earlier.range.begin, bytes.begin);
      const SharedBytes next{.earlier = earlier.value,
                             .later = later,
                             .arena = placement.arena,
                             .offset = begin,
                             .size = std::min(earlier.range.end, bytes.end) - begin};
      if (plan->shared.size() > known && Joins(plan->shared.back(), next)) {
        plan->shared.back().size += next.size;
      } else {
        plan->shared.push_back(next);
      }
      return true;
    });
    occupants.Add(bytes, later);
  }
  for (size_t i = known; i < plan->shared.size(); ++i) {
    SharedBytes& shared = plan->shared[i];
    shared.exclusive = !order.DiesBefore(shared.earlier, order.lives()[shared.later].alloc);
    shared.assumes = order.Assumes(shared.earlier);
    if (shared.exclusive) continue;
    shared.ends = AddNodes(order.lives().Markers(shared.earlier, order.rule()), plan);
    shared.starts = AddNodes(FirstTouches(order, shared.later), plan);
  }
}

std::vector<PoolSharers> FindPoolSharers(const Facts& facts) {
  struct Last {
    size_t sharers = 0;
    Seq end = 0;
  };
  std::vector<PoolSharers> sharers;
  std::map<PoolId, Last> last_in;
  for (const CaptureSpan& span : FindSpans(facts)) {
    size_t place = sharers.size();
    for (const PoolId pool : span.pools) {
      const auto last = last_in.find(pool);
      if (last == last_in.end() || last->second.end > span.begin) continue;
      const size_t before = last->second.sharers;
      if (sharers[before].gone > span.begin) place = std::min(place, before);
    }
    if (place == sharers.size()) sharers.push_back({.graphs = {}, .begin = span.begin, .gone = 0});
    sharers[place].graphs.push_back(span.graph);
    sharers[place].gone = std::max(sharers[place].gone, span.gone);
    for (const PoolId pool : span.pools) last_in[pool] = {place, span.end};
  }
  return sharers;
}

}  // namespace graphkit
