#include "libgraphkit/replay/replay_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "libgraphkit/parallel.h"
#include "libgraphkit/replay/graph_replayer.h"
#include "libgraphkit/replay/recorded.h"

namespace graphkit {

void PolicyFigures::Add(const PolicyFigures& other) {
  peak_reserved += other.peak_reserved;
  peak_allocated += other.peak_allocated;
  peak_active += other.peak_active;
  peak_extent += other.peak_extent;
  never_reclaimed += other.never_reclaimed;
  missed += other.missed;
  lower_bound += other.lower_bound;
  operations += other.operations;
  deferred_byte_operations += other.deferred_byte_operations;
  pending_looks += other.pending_looks;
  reclaimed += other.reclaimed;
  reclaim_operations += other.reclaim_operations;
  seconds += other.seconds;
}

namespace {

GraphExecution Execute(const Facts& facts, PolicyKind policy, const GraphSlice& slice,
                       const GraphReplay& graph, const ReplayOptions& options) {
  std::vector<std::vector<PlacedBlock>> pools;
  std::vector<std::vector<PlacedBlock>> recorded;
  for (const ReplayedPool& pool : graph.pools) {
    pools.push_back(pool.arena);
    recorded.push_back(RecordedPlacement(facts, pool.arena));
  }
  const BlockOrder order = facts.Blocks(InfoOf(policy).rule);
  const Program program = MakeProgram(facts, slice, order, pools);
  GraphExecution execution =
      Execute(facts, program, {.options = *options.execute, .device = options.device});
  execution.graph = graph.graph;
  if (options.device == nullptr || !execution.failed.empty()) return execution;
  execution.launch_seconds = options.device->Time(facts, program);
  execution.recorded_launch_seconds =
      options.device->Time(facts, MakeProgram(facts, slice, order, recorded));
  return execution;
}

// A plan of a sequence holds these graphs only.
std::set<GraphId> GraphsOf(const PlannedMemory& plan) {
  return {plan.sequence.begin(), plan.sequence.end()};
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
    for (const PoolBlocks& pool : task.pools) {
      bounds.push_back(BoundOf(facts, info.rule, graph, pool));
    }
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

// Sums up what a policy makes of all graphs; `graphs` in their order.
PolicyReplay SumUp(const Facts& facts, const Slices& slices, PolicyKind policy,
                   const ReplayOptions& options, std::vector<std::optional<ReplayedGraph>> graphs) {
  PolicyReplay replay;
  replay.policy = policy;
  replay.assumes = InfoOf(policy).assumes;
  replay.verified = options.verify;
  for (std::optional<ReplayedGraph>& one : graphs) {
    if (!one) continue;
    GraphReplay& graph = one->replay;
    graph.out_of_memory = FindOutOfMemory(one->rises, replay.figures.peak_reserved, options);
    replay.figures.Add(graph.figures);
    if (options.execute) {
      replay.executions.push_back(Execute(facts, policy, slices.Of(graph.graph), graph, options));
    }
    if (!graph.unsafe.empty()) replay.verified = false;
    replay.graphs.push_back(std::move(graph));
    one.reset();
  }
  return replay;
}

// Graphs, and the policies of each, side by side.
std::vector<PolicyReplay> ReplayGraphs(const Facts& facts, std::span<const PolicyKind> policies,
                                       const ReplayOptions& options, const PlannedMemory* plan) {
  const std::vector<std::vector<StreamId>> streams = OtherStreams(facts.trace, &facts.lives());
  const Slices slices(facts.trace, facts.roots(), facts.blocks());
  std::optional<PoolHistory> history;
  if (options.continued) history.emplace(facts.trace, facts.blocks());
  const std::vector<Bytes> planned =
      plan != nullptr ? OffsetsOf(facts, *plan) : std::vector<Bytes>();
  const std::set<GraphId> held = plan != nullptr ? GraphsOf(*plan) : std::set<GraphId>();
  const bool all_full = facts.order().rule() == EdgeRule::kAllFull ||
                        std::ranges::all_of(facts.in_edges().edges, &InEdge::full);
  const Order walks = all_full ? Order() : BuildOrder(facts.trace, EdgeRule::kAllFull);
  std::vector<std::vector<std::optional<ReplayedGraph>>> replayed(policies.size());
  for (auto& graphs : replayed) graphs.resize(facts.blocks().size());
  const auto count = [&](size_t more) {
    if (options.done != nullptr) *options.done += more;
  };
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    std::vector<PoolBlocks> pools = BlocksByPool(facts, graph);
    if (!pools.empty() && (held.empty() || held.contains(graph))) {
      const GraphTask task = TaskOf(facts, policies, options,
                                    {.facts = facts,
                                     .slice = slices.Of(graph),
                                     .walks = all_full ? facts.order() : walks,
                                     .streams = streams,
                                     .planned = plan != nullptr ? &planned : nullptr,
                                     .pools = std::move(pools),
                                     .history = history ? &*history : nullptr});
      const GraphViews views = FindGraphViews(task, policies, options);
      ParallelFor(policies.size(), ThreadsFor(facts.trace), [&](size_t i) {
        replayed[i][graph.index()] = ReplayGraph(task, views, InfoOf(policies[i]), options);
        count(1);
      });
    } else {
      count(policies.size());
    }
  });
  std::vector<PolicyReplay> replays;
  for (size_t i = 0; i < policies.size(); ++i) {
    replays.push_back(SumUp(facts, slices, policies[i], options, std::move(replayed[i])));
  }
  return replays;
}

// The graphs run one at a time, in the same memory.
void ShareMemory(const Facts& facts, const PlannedMemory& plan, const ReplayOptions& options,
                 PolicyReplay* replay) {
  PolicyFigures& figures = replay->figures;
  figures.peak_extent = plan.peak;
  figures.lower_bound = plan.lower_bound;
  figures.peak_reserved = figures.peak_allocated = figures.peak_active = 0;
  for (const PlannedArena& arena : plan.arenas) {
    figures.peak_reserved += RoundUp(arena.peak, kPlanSegment);
  }
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

std::vector<PolicyReplay> ReplayTrace(const Facts& facts, std::span<const PolicyKind> policies,
                                      const ReplayOptions& options) {
  return ReplayGraphs(facts, policies, options, nullptr);
}

PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options) {
  return std::move(ReplayTrace(facts, {&policy, 1}, options).front());
}

PolicyReplay ReplayPlan(const Facts& facts, const PlannedMemory& plan, const ReplayOptions& options,
                        const std::string& name) {
  PolicyReplay replay =
      std::move(ReplayGraphs(facts, {&kPolicyOfPlans, 1}, options, &plan).front());
  replay.given = name;
  if (!plan.sequence.empty()) ShareMemory(facts, plan, options, &replay);
  if (options.verify) JudgeLoans(facts, plan, &replay);
  return replay;
}

}  // namespace graphkit
