// Traces that grow in one way each (tests/linear/many.h) at N and 4 N: the whole analysis. BigO
// is the time for one of N, RMS how far both sizes are from growing linearly.
#include <benchmark/benchmark.h>

#include "libgraphkit/analysis/analyze.h"
#include "tests/linear/many.h"

namespace graphkit {
namespace {

void Analysis(benchmark::State& state, Ran (*make)(uint32_t)) {
  const Ran trace = make(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Analyze(trace));
  state.SetComplexityN(state.range(0));
}

const bool kRegistered = [] {
  for (const ManyKind& kind : ManyKinds()) {
    benchmark::RegisterBenchmark(("Analysis/" + std::string(kind.name)).c_str(), Analysis,
                                 kind.make)
        ->Arg(1000)
        ->Arg(4000)
        ->Unit(benchmark::kMillisecond)
        ->Complexity(benchmark::oN);
  }
  return true;
}();

}  // namespace
}  // namespace graphkit
