// The order index, the lower bound and the whole analysis, on synthetic traces with as many blocks
// as nodes on 8 streams.
#include <benchmark/benchmark.h>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/lower_bound.h"
#include "libgraphkit/model/synth.h"

namespace graphkit {
namespace {

// An op of the training shape is a kernel with a block of its own.
Trace MakeTrace(const benchmark::State& state) {
  SynthOptions options;
  options.shape = SynthShape::kTraining;
  options.ops = static_cast<uint64_t>(state.range(0));
  options.streams = 8;
  return Synthesize(options);
}

void OrderIndex(benchmark::State& state) {
  const Trace trace = MakeTrace(state);
  for (auto _ : state) benchmark::DoNotOptimize(BuildOrder(trace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}

void Bound(benchmark::State& state) {
  const Trace trace = MakeTrace(state);
  const Facts facts = FindFacts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  for (auto _ : state) {
    for (const auto& blocks : facts.blocks) benchmark::DoNotOptimize(FindLowerBound(order, blocks));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.blocks.size()));
}

void WholeAnalysis(benchmark::State& state) {
  const Trace trace = MakeTrace(state);
  for (auto _ : state) benchmark::DoNotOptimize(Analyze(trace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}

BENCHMARK(OrderIndex)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Bound)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(WholeAnalysis)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphkit
