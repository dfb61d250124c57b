// Reading and writing traces: bytes per second, bytes per node, nodes per second.
#include <benchmark/benchmark.h>

#include <string>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// About as many blocks and frees as nodes, on 8 streams.
Ran TrainingTrace(int64_t nodes) {
  SynthOptions options;
  options.shape = SynthShape::kTraining;
  options.ops = static_cast<uint64_t>(nodes);
  options.streams = 8;
  return Synthesize(options);
}

void ReadTraceText(benchmark::State& state) {
  const std::string text = FormatTrace(TrainingTrace(state.range(0))).value();
  for (auto _ : state) benchmark::DoNotOptimize(ParseTrace(text, "bench").value());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["file_bytes_per_node"] =
      static_cast<double>(text.size()) / static_cast<double>(state.range(0));
}

void WriteTraceText(benchmark::State& state) {
  const Ran trace = TrainingTrace(state.range(0));
  size_t size = 0;
  for (auto _ : state) size = FormatTrace(trace).value().size();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void SynthesizeTraining(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(TrainingTrace(state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(ReadTraceText)
    ->Arg(1000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(WriteTraceText)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(SynthesizeTraining)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphkit
