#include "libgraphkit/replay/replay_trace.h"

#include <set>

#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/parallel.h"
#include "libgraphkit/replay/graph_replayer.h"

namespace graphkit {

namespace {

constexpr Bytes PolicyFigures::*kPeaks[] = {
    &PolicyFigures::peak_reserved, &PolicyFigures::peak_allocated, &PolicyFigures::peak_active,
    &PolicyFigures::peak_extent, &PolicyFigures::lower_bound};

}  // namespace

void PolicyFigures::AddNext(const PolicyFigures& next) {
  for (const auto peak : kPeaks) this->*peak = std::max(this->*peak, next.*peak);
  never_reclaimed += next.never_reclaimed;
  missed += next.missed;
  operations += next.operations;
  deferred_byte_operations += next.deferred_byte_operations;
  pending_looks += next.pending_looks;
  reclaimed += next.reclaimed;
  reclaim_operations += next.reclaim_operations;
  seconds += next.seconds;
}

PolicyFigures SumUp(std::span<const PoolSharers> sharers, std::span<const PolicyFigures> figures,
                    std::vector<Bytes>* before) {
  PolicyFigures sum, now;
  std::multimap<Seq, PolicyFigures> there;  // by when they are gone
  for (const PoolSharers& one : sharers) {
    while (!there.empty() && there.begin()->first < one.begin) {
      for (const auto peak : kPeaks) now.*peak -= there.begin()->second.*peak;
      there.erase(there.begin());
    }
    PolicyFigures of_all;
    for (const GraphId graph : one.graphs) {
      of_all.AddNext(figures[graph.index()]);
      if (before != nullptr) (*before)[graph.index()] = now.peak_reserved;
    }
    there.emplace(one.gone, of_all);
    for (const auto peak : kPeaks) of_all.*peak = now.*peak += of_all.*peak;
    sum.AddNext(of_all);
  }
  return sum;
}

std::vector<GraphReplay*> ByGraph(const Facts& facts, PolicyReplay* replay) {
  std::vector<GraphReplay*> graphs(facts.blocks().size());
  for (GraphReplay& graph : replay->graphs) graphs[graph.graph.index()] = &graph;
  return graphs;
}

void SumUpGraphs(const Facts& facts, std::span<const PoolSharers> sharers, PolicyReplay* replay) {
  std::vector<PolicyFigures> figures(facts.blocks().size());
  for (const GraphReplay& graph : replay->graphs) figures[graph.graph.index()] = graph.figures;
  replay->figures = SumUp(sharers, figures);
}

namespace {

// Adds to `unsafe` of the graph with the later block; `graphs`: by graph.
void VerifySharers(const Facts& facts, const PoolSharers& sharers,
                   std::vector<PlacedBlock> ReplayedPool::*placed,
                   std::span<GraphReplay* const> graphs, MarkerRule rule) {
  std::map<PoolId, std::vector<std::span<const PlacedBlock>>> pools;
  for (const GraphId graph : sharers.graphs) {
    const GraphReplay* const replay = graphs[graph.index()];
    if (replay == nullptr) continue;
    for (const ReplayedPool& pool : replay->pools) pools[pool.pool].emplace_back(pool.*placed);
  }
  for (const auto& [pool, of_graphs] : pools) {
    for (const UnsafePair& pair : ValidateSharers(facts.Blocks(rule), of_graphs))
      graphs[facts.lives()[pair.later].root.index()]->unsafe.push_back(pair);
  }
}

std::vector<Bytes> OffsetsOf(const Facts& facts, const PlannedMemory& plan) {
  std::vector<Bytes> offsets(facts.trace.blocks.size());
  for (const Placement& placement : plan.placements) {
    if (placement.block < offsets.size()) offsets[placement.block] = placement.offset;
  }
  return offsets;
}

// The input that all policies share of a graph, its bounds found once for those with the same
// markers.
GraphTask TaskOf(const Facts& facts, std::span<const PolicyKind> policies,
                 const ReplayOptions& options, GraphTask task) {
  const GraphId graph = task.slice.root;
  for (const PolicyKind policy : policies) {
    const PolicyInfo& info = InfoOf(policy);
    std::vector<LowerBound>& bounds = task.bounds[static_cast<size_t>(info.rule)];
    const bool plans = info.offline && task.planned == nullptr;
    if (!bounds.empty() || (!options.bound && !plans)) continue;
    for (const PoolBlocks& pool : task.pools)
      bounds.push_back(BoundOf(facts, info.rule, graph, pool));
  }
  return task;
}

// The first malloc that doesn't fit beside what earlier graphs hold.
std::optional<OutOfMemory> FindOutOfMemory(std::span<const OutOfMemory> rises, Bytes before,
                                           const ReplayOptions& options) {
  for (OutOfMemory rise : rises) {
    rise.reserved += before;
    if (rise.reserved > *options.capacity) return rise;
  }
  return std::nullopt;
}

// What a policy makes of all graphs; `graphs` by graph.
PolicyReplay Collect(std::span<const PoolSharers> sharers, PolicyKind policy,
                     const ReplayOptions& options,
                     std::vector<std::optional<ReplayedGraph>> graphs) {
  PolicyReplay replay;
  replay.policy = policy;
  replay.assumes = InfoOf(policy).assumes;
  replay.verified = options.verify;
  std::vector<PolicyFigures> figures(graphs.size());
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i]) figures[i] = graphs[i]->replay.figures;
  }
  for (const PoolSharers& one : sharers) {
    if (one.graphs.size() > 1) replay.sharers += one.graphs.size();
  }
  std::vector<Bytes> before(graphs.size());
  replay.figures = SumUp(sharers, figures, &before);
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (!graphs[i]) continue;
    GraphReplay& graph = graphs[i]->replay;
    graph.out_of_memory = FindOutOfMemory(graphs[i]->rises, before[i], options);
    if (!graph.unsafe.empty()) replay.verified = false;
    replay.graphs.push_back(std::move(graph));
    graphs[i].reset();
  }
  return replay;
}

// Each with its own memory; `held`: only these, where there are any.
std::vector<PoolSharers> EachAlone(const Facts& facts, const std::set<GraphId>& held) {
  std::vector<PoolSharers> alone;
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    if (held.empty() || held.contains(GraphId(i))) alone.push_back({.graphs = {GraphId(i)}});
  }
  return alone;
}

// Judges the placements of graphs that share memory together, policy by policy.
void VerifyTogether(const Facts& facts, const PoolSharers& one,
                    std::span<std::vector<std::optional<ReplayedGraph>>> replayed) {
  std::vector<GraphReplay*> by_graph(facts.blocks().size());
  for (auto& graphs : replayed) {
    for (const GraphId graph : one.graphs) {
      if (graphs[graph.index()]) by_graph[graph.index()] = &graphs[graph.index()]->replay;
    }
    VerifySharers(facts, one, &ReplayedPool::segments, by_graph, MarkerRule::kAtFree);
  }
}

// Graphs that share no pool, and the policies of each, side by side.
std::vector<PolicyReplay> ReplayGraphs(const Facts& facts, std::span<const PolicyKind> policies,
                                       const ReplayOptions& options,
                                       const std::vector<Bytes>* planned,
                                       const std::vector<PoolSharers>& sharers) {
  const std::vector<std::vector<StreamId>> streams = OtherStreams(facts.trace, &facts.lives());
  const Slices slices(facts.trace, facts.roots(), facts.blocks());
  const bool all_full = facts.order().rule() == EdgeRule::kAllFull ||
                        std::ranges::all_of(facts.in_edges().edges, &InEdge::full);
  const Order walks = all_full ? Order() : BuildOrder(facts.trace, EdgeRule::kAllFull);
  std::vector<std::vector<std::optional<ReplayedGraph>>> replayed(policies.size());
  for (auto& graphs : replayed) graphs.resize(facts.blocks().size());
  const auto replay = [&](GraphId graph, std::vector<HeldPools>* held) {
    std::vector<PoolBlocks> pools = BlocksByPool(facts, graph);
    if (pools.empty()) return;
    const GraphTask task = TaskOf(facts, policies, options,
                                  {.facts = facts,
                                   .slice = slices.Of(graph),
                                   .walks = all_full ? facts.order() : walks,
                                   .streams = streams,
                                   .planned = planned,
                                   .pools = std::move(pools)});
    const GraphViews views = FindGraphViews(task, policies, options);
    ParallelFor(policies.size(), ThreadsFor(facts.trace), [&](size_t i) {
      HeldPools* const of_policy = held->empty() ? nullptr : &(*held)[i];
      replayed[i][graph.index()] =
          ReplayGraph(task, views, InfoOf(policies[i]), options, of_policy);
    });
  };
  std::vector<const PoolSharers*> by_first(facts.blocks().size());
  for (const PoolSharers& one : sharers) by_first[one.graphs.front().index()] = &one;
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId first) {
    if (options.done != nullptr) *options.done += policies.size();
    const PoolSharers* const one = by_first[first.index()];
    if (one == nullptr) return;
    const size_t shared = one->graphs.size() > 1 ? policies.size() : 0;
    std::vector<HeldPools> held(shared, HeldPools(facts.trace, options.config));
    for (const GraphId graph : one->graphs) replay(graph, &held);
    if (options.verify && !held.empty() && planned == nullptr)
      VerifyTogether(facts, *one, replayed);
  });
  std::vector<PolicyReplay> replays;
  for (size_t i = 0; i < policies.size(); ++i)
    replays.push_back(Collect(sharers, policies[i], options, std::move(replayed[i])));
  return replays;
}

// The graphs run one at a time, in the same memory.
void ShareMemory(const Facts& facts, const PlannedMemory& plan, const ReplayOptions& options,
                 PolicyReplay* replay) {
  PolicyFigures& figures = replay->figures;
  figures.peak_extent = plan.peak;
  figures.lower_bound = plan.lower_bound;
  figures.peak_reserved = figures.peak_allocated = figures.peak_active = 0;
  for (const PlannedArena& arena : plan.arenas)
    figures.peak_reserved += RoundUp(arena.peak, kPlanSegment);
  for (const GraphReplay& graph : replay->graphs) {
    figures.peak_allocated = std::max(figures.peak_allocated, graph.figures.peak_allocated);
    figures.peak_active = std::max(figures.peak_active, graph.figures.peak_active);
  }
  if (!options.verify) return;
  replay->destroyed = ValidateSequence(facts, plan);
  if (!replay->destroyed.empty()) replay->verified = false;
}

// What a plan lends, between launches and at nodes.
void JudgeLoans(const Facts& facts, const PlannedMemory& plan, PolicyReplay* replay) {
  replay->lent = plan.borrow_at.size() + (plan.borrow ? plan.borrow->size() : 0);
  replay->wrong_loans = ValidatePlanBorrow(facts, plan);
  const std::vector<WrongBorrow> at = ValidateBorrowAt(facts, plan, plan.borrow_at);
  replay->wrong_loans.insert(replay->wrong_loans.end(), at.begin(), at.end());
  if (!replay->wrong_loans.empty()) replay->verified = false;
}

}  // namespace

void VerifyArenas(const Facts& facts, std::span<const PoolSharers> sharers, MarkerRule rule,
                  PolicyReplay* replay) {
  const std::vector<GraphReplay*> by_graph = ByGraph(facts, replay);
  for (const PoolSharers& one : sharers) {
    if (one.graphs.size() == 1) continue;
    VerifySharers(facts, one, &ReplayedPool::arena, by_graph, rule);
  }
  const auto safe = [](const GraphReplay& graph) { return graph.unsafe.empty(); };
  replay->verified = std::ranges::all_of(replay->graphs, safe);
}

std::vector<PolicyReplay> ReplayTrace(const Facts& facts, std::span<const PolicyKind> policies,
                                      const ReplayOptions& options) {
  return ReplayGraphs(facts, policies, options, nullptr, FindPoolSharers(facts));
}

PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options) {
  return std::move(ReplayTrace(facts, {&policy, 1}, options).front());
}

PolicyReplay ReplayOffsets(const Facts& facts, const std::vector<Bytes>& offsets,
                           const ReplayOptions& options, const std::string& name,
                           const std::vector<PoolSharers>& sharers) {
  PolicyReplay replay = std::move(ReplayGraphs(facts, {&kPolicyOfPlans, 1}, options, &offsets,
                                               sharers.empty() ? EachAlone(facts, {}) : sharers)
                                      .front());
  replay.given = name;
  return replay;
}

PolicyReplay ReplayPlan(const Facts& facts, const PlannedMemory& plan,
                        const ReplayOptions& options) {
  const std::vector<PoolSharers> alone =
      EachAlone(facts, {plan.sequence.begin(), plan.sequence.end()});
  PolicyReplay replay = ReplayOffsets(facts, OffsetsOf(facts, plan), options, "plan", alone);
  if (!plan.sequence.empty()) ShareMemory(facts, plan, options, &replay);
  if (options.verify) JudgeLoans(facts, plan, &replay);
  return replay;
}

}  // namespace graphkit
