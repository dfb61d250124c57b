// Planning, checking, replaying and executing synthetic captures (docs/planning.md, policies.md,
// replay.md). The counter peak_over_bound is what a plan or a policy needs, over the lower bound.
#include <benchmark/benchmark.h>

#include <vector>

#include "libgraphkit/alloc/capture_planner.h"
#include "libgraphkit/alloc/plan_trace.h"
#include "libgraphkit/model/synth.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

// As many operations as asked for; three of ten allocate.
Trace Capture(SynthShape shape, int64_t ops) {
  return Synthesize({.shape = shape,
                     .ops = static_cast<uint64_t>(ops),
                     .streams = 8,
                     .join = 0.3,
                     .alloc = 0.5,
                     .free = 0.4,
                     .sizes = *ParseSizeDistribution("log:512B-32MiB")});
}

void SetRatio(benchmark::State& state, Bytes peak, Bytes bound) {
  state.counters["peak_over_bound"] = static_cast<double>(peak) / static_cast<double>(bound);
}

void BM_PlanCapture(benchmark::State& state) {
  const Trace trace = Capture(static_cast<SynthShape>(state.range(0)), state.range(1));
  const Facts facts = FindFacts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  CapturePlan plan;
  for (auto _ : state) plan = PlanCapture(order, facts.blocks[0]);
  SetRatio(state, plan.peak, plan.lower_bound);
  state.counters["blocks"] = static_cast<double>(plan.offsets.size());
}
BENCHMARK(BM_PlanCapture)->ArgsProduct({{0, 1, 2}, {20'000, 200'000}})->Iterations(1);

void BM_ValidatePlan(benchmark::State& state) {
  const Trace trace = Capture(SynthShape::kRandom, state.range(0));
  const Facts facts = FindFacts(trace);
  CapturePlannerOptions options;
  options.search.effort = 0;
  const PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse, options);
  for (auto _ : state) {
    benchmark::DoNotOptimize(VerifyPlan(facts, plan, MarkerRule::kLastUse));
  }
  state.counters["blocks"] = static_cast<double>(plan.placements.size());
}
BENCHMARK(BM_ValidatePlan)->Arg(200'000)->Unit(benchmark::kMillisecond);

void BM_ReplayPolicy(benchmark::State& state) {
  const Trace trace = Capture(SynthShape::kRandom, state.range(1));
  const Facts facts = FindFacts(trace);
  const PolicyInfo& policy = Policies()[static_cast<size_t>(state.range(0))];
  state.SetLabel(policy.name);
  PolicyFigures figures;
  for (auto _ : state) figures = ReplayTrace(facts, policy.kind).figures;
  SetRatio(state, figures.peak_extent, figures.lower_bound);
  state.counters["operations_per_second"] =
      static_cast<double>(figures.operations) / figures.seconds;
}
BENCHMARK(BM_ReplayPolicy)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 7, 1), {20'000}})
    ->Iterations(1);

void BM_ExecuteOnHost(benchmark::State& state) {
  const Trace trace = Capture(SynthShape::kRandom, state.range(0));
  const Facts facts = FindFacts(trace);
  const PolicyReplay replay = ReplayTrace(facts, PolicyKind::kOptimal);
  std::vector<std::vector<PlacedBlock>> pools;
  for (const ReplayedPool& pool : replay.graphs[0].pools) pools.push_back(pool.arena);
  const Program program =
      MakeProgram(facts, replay.graphs[0].graph, facts.Blocks(MarkerRule::kLastUse), pools);
  GraphExecution execution;
  for (auto _ : state) execution = ExecuteOnHost(program, {});
  state.counters["nodes"] = static_cast<double>(program.steps.size());
  state.counters["checks"] = static_cast<double>(execution.checks);
}
BENCHMARK(BM_ExecuteOnHost)->Arg(8'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace graphkit
