// Comparing two traces of 100 000 nodes on 8 streams: equal ones, and ones with a change in every
// hundredth node.
#include <benchmark/benchmark.h>

#include <random>

#include "libgraphkit/compare/diff.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr int kStreams = 8;

// Layers of the same few kernels on all streams, joined now and then: what training looks like.
Ran Layers(int nodes, int change_every) {
  TraceBuilder t;
  std::mt19937 random(1);
  std::vector<StreamId> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(t.Stream());
  t.BeginCapture(streams[0], "step");
  t.Kernel(streams[0], "first");
  for (int i = 1; i < kStreams; ++i) t.Order(streams[0], streams[i]);
  for (int i = 0; i < nodes; ++i) {
    const StreamId stream = streams[random() % kStreams];
    if (random() % 16 == 0) t.Order(streams[random() % kStreams], stream);
    const bool changed = change_every > 0 && i % change_every == 0;
    t.Kernel(stream, changed ? "changed" : "k" + std::to_string(i % 20));
  }
  for (int i = 1; i < kStreams; ++i) t.Order(streams[i], streams[0]);
  t.Kernel(streams[0], "last");
  t.EndCapture(streams[0]);
  return t.Build();
}

void DiffLayers(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  const Ran before = Layers(nodes, 0), after = Layers(nodes, static_cast<int>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(DiffTraces(before, {}, after, {}));
  }
  state.SetItemsProcessed(state.iterations() * nodes);
}
BENCHMARK(DiffLayers)
    ->ArgNames({"nodes", "change_every"})
    ->Args({100'000, 0})
    ->Args({100'000, 10'000})
    ->Args({100'000, 100})
    ->Args({100'000, 3})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphkit
