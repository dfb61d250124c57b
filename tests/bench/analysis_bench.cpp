// The order index, the lower bound and the whole analysis, on synthetic traces of a million blocks.
#include <benchmark/benchmark.h>

#include <chrono>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// An op of the training shape is a kernel, four of five with a block of their own.
Ran MakeTraining(const benchmark::State& state) {
  SynthOptions options;
  options.shape = SynthShape::kTraining;
  options.ops = static_cast<uint64_t>(state.range(0)) * 5 / 4;
  options.streams = static_cast<uint32_t>(state.range(1));
  return Synthesize(options);
}

// Half of the ops free a block, the others allocate one; thousands are alive at once.
Ran MakeRandom(const benchmark::State& state) {
  SynthOptions options;
  options.ops = static_cast<uint64_t>(state.range(0)) * 2;
  options.streams = static_cast<uint32_t>(state.range(1));
  options.alloc = 1;
  options.free = 0.5;
  options.sizes = {SizeDistribution::Kind::kUniform, 512, Bytes{4} << 20};
  return Synthesize(options);
}

void OrderIndex(benchmark::State& state) {
  const Ran trace = MakeTraining(state);
  for (auto _ : state) benchmark::DoNotOptimize(BuildOrder(trace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}

void Bound(benchmark::State& state, const Ran& trace) {
  const Facts facts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  bool exact = true;
  for (auto _ : state) {
    for (const auto& blocks : facts.blocks()) {
      exact = FindLowerBound(order, blocks, {.time_limit = std::chrono::minutes(5)}).exact && exact;
    }
  }
  state.counters["exact"] = exact ? 1 : 0;
  state.counters["blocks"] = static_cast<double>(trace.blocks.size());
}
void BoundOfTraining(benchmark::State& state) { Bound(state, MakeTraining(state)); }
void BoundOfRandom(benchmark::State& state) { Bound(state, MakeRandom(state)); }

void WholeAnalysis(benchmark::State& state) {
  const Ran trace = MakeTraining(state);
  for (auto _ : state) benchmark::DoNotOptimize(Analyze(trace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}

// Blocks, streams.
void Sizes(benchmark::internal::Benchmark* bench) {
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int64_t streams : {8, 16, 64}) bench->Args({1'000'000, streams});
}
BENCHMARK(OrderIndex)->Apply(Sizes);
BENCHMARK(BoundOfTraining)->Apply(Sizes);
BENCHMARK(BoundOfRandom)->Apply(Sizes);
BENCHMARK(WholeAnalysis)->Apply(Sizes);

}  // namespace
}  // namespace graphkit
