// Planning, checking and replaying synthetic captures (docs/planning.md, policies.md,
// replay.md). The counter peak_over_bound is what a plan or a policy needs, over the lower bound.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// As many operations as asked for; three of ten allocate.
Ran Capture(SynthShape shape, int64_t ops) {
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
  const Ran trace = Capture(static_cast<SynthShape>(state.range(0)), state.range(1));
  const Facts facts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  CapturePlan plan;
  for (auto _ : state) plan = PlanCapture(order, facts.blocks()[0]);
  SetRatio(state, plan.peak, plan.lower_bound);
  state.counters["blocks"] = static_cast<double>(plan.offsets.size());
}
BENCHMARK(BM_PlanCapture)->ArgsProduct({{0, 1, 2}, {20'000, 200'000}})->Iterations(1);
BENCHMARK(BM_PlanCapture)->Args({0, 3'300'000})->Iterations(1);

void BM_PlanOneSize(benchmark::State& state) {
  const Ran trace = Synthesize(
      {.shape = SynthShape::kPipeline, .ops = static_cast<uint64_t>(state.range(0)), .streams = 8});
  const Facts facts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  CapturePlan plan;
  for (auto _ : state) plan = PlanCapture(order, facts.blocks()[0]);
  SetRatio(state, plan.peak, plan.lower_bound);
  state.counters["blocks"] = static_cast<double>(plan.offsets.size());
}
BENCHMARK(BM_PlanOneSize)->Arg(20'000)->Arg(100'000)->Iterations(1);

void BM_ValidatePlan(benchmark::State& state) {
  const Ran trace = Capture(SynthShape::kRandom, state.range(0));
  const Facts facts(trace);
  CapturePlannerOptions options;
  options.search.effort = 0;
  const PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse, options);
  for (auto _ : state) {
    benchmark::DoNotOptimize(VerifyPlan(facts, plan, MarkerRule::kLastUse));
  }
  state.counters["blocks"] = static_cast<double>(plan.placements.size());
}
BENCHMARK(BM_ValidatePlan)->Arg(200'000)->Arg(3'300'000)->Unit(benchmark::kMillisecond);

void BM_ReplayPolicy(benchmark::State& state) {
  const Ran trace = Capture(SynthShape::kRandom, state.range(1));
  const Facts facts(trace);
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

// A million blocks, without finding out what was missed.
void BM_ReplayMillion(benchmark::State& state) {
  const auto shape = static_cast<SynthShape>(state.range(1));
  const Ran trace = Capture(shape, shape == SynthShape::kRandom ? 3'300'000 : 1'250'000);
  const Facts facts(trace);
  const PolicyInfo& policy = Policies()[static_cast<size_t>(state.range(0))];
  state.SetLabel(policy.name);
  PolicyFigures figures;
  for (auto _ : state) {
    figures = ReplayTrace(facts, policy.kind, {.missed = false, .bound = false}).figures;
  }
  state.counters["operations_per_second"] =
      static_cast<double>(figures.operations) / figures.seconds;
}
BENCHMARK(BM_ReplayMillion)->ArgsProduct({{0, 1, 2, 4, 5, 6}, {0, 1}})->Iterations(1);

// `deferred` blocks that a second stream still uses when the measured ones are allocated.
Ran WithDeferred(int64_t deferred, int measured) {
  TraceBuilder t;
  const StreamId own = t.Stream("own");
  const StreamId other = t.Stream("other");
  t.BeginCapture(own);
  t.Kernel(own, "first", {});
  t.Order(own, other);
  for (int64_t i = 0; i < deferred; ++i) {
    const BlockId block = t.Alloc(own, 4096);
    t.RecordStream(block, other);
    t.Kernel(other, "use", {Reads(block)});
    t.Free(block);
  }
  for (int i = 0; i <= measured; ++i) {
    const BlockId block = t.Alloc(own, 4096);
    t.Kernel(own, "use", {Writes(block)});
    t.Free(block);
  }
  t.Order(other, own);
  t.EndCapture(own);
  return t.Build();
}

// A replay with many deferred blocks: pair by pair, and with the views of mallocs.
void BM_MallocWithDeferred(benchmark::State& state) {
  constexpr int kMeasured = 200;
  const Ran trace = WithDeferred(state.range(2), kMeasured);
  const Facts facts(trace);
  const auto kind = static_cast<PolicyKind>(state.range(0));
  const bool scan = state.range(1) != 0;
  state.SetLabel(std::string(Policies()[static_cast<size_t>(kind)].name) +
                 (scan ? ", scan" : ", index"));
  ReplayTrace(facts, PolicyKind::kDefer);  // the facts are made
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ReplayTrace(facts, kind, {.missed = false, .bound = false, .scan = scan}));
  }
}
BENCHMARK(BM_MallocWithDeferred)
    ->ArgsProduct({{static_cast<int64_t>(PolicyKind::kPyTorch),
                    static_cast<int64_t>(PolicyKind::kReuse)},
                   {1},
                   {100, 1'000, 10'000}})
    ->ArgsProduct({{static_cast<int64_t>(PolicyKind::kPyTorch),
                    static_cast<int64_t>(PolicyKind::kReuse)},
                   {0},
                   {100, 1'000, 10'000, 100'000, 1'000'000}})
    ->Iterations(1);

}  // namespace
}  // namespace graphkit
