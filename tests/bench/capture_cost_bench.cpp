// The time that the tracer adds to a captured kernel node, on the software device: capture_loop run
// as a program of its own, untraced and traced. The time of an iteration is that of one node (wall,
// the slowest of the capturing threads).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

constexpr int kNodes = 200'000;  // of each thread

std::string Command(bool traced, int threads, const std::string& trace) {
  const std::string build = GRAPHKIT_BUILD;
  std::string command = "env LD_LIBRARY_PATH='" + build + "/lib/graphkit/soft_cuda' ";
  if (traced) {
    command += "CUDA_INJECTION64_PATH='" + build +
               "/lib/graphkit/libgraphkit_tracer.so' GRAPHKIT_TRACE_OUT='" + trace + "' ";
  }
  return command + "'" + build + "/bench/capture_loop' " + std::to_string(kNodes) + " " +
         std::to_string(threads);
}

// Nanoseconds per node as the program prints them; negative: it failed.
double Run(const std::string& command) {
  FILE* out = popen(command.c_str(), "r");
  double nanoseconds = -1;
  if (out == nullptr || std::fscanf(out, "%lf", &nanoseconds) != 1) nanoseconds = -1;
  if (out != nullptr && pclose(out) != 0) nanoseconds = -1;
  return nanoseconds;
}

void CaptureNode(benchmark::State& state) {
  const bool traced = state.range(0) != 0;
  const int threads = static_cast<int>(state.range(1));
  const std::string trace = std::string(GRAPHKIT_BUILD) + "/bench/capture_cost.json";
  const std::string command = Command(traced, threads, trace);
  for (auto _ : state) {
    const double nanoseconds = Run(command);
    if (nanoseconds < 0) {
      state.SkipWithError("capture_loop failed: is it built, and the software device?");
      return;
    }
    state.SetIterationTime(nanoseconds * 1e-9);
  }
  if (traced) {
    const double nodes = static_cast<double>(kNodes) * threads;
    state.counters["trace_bytes_per_node"] =
        static_cast<double>(std::filesystem::file_size(trace)) / nodes;
  }
  std::error_code ignored;
  std::filesystem::remove(trace, ignored);
}

BENCHMARK(CaptureNode)
    ->ArgNames({"traced", "threads"})
    ->ArgsProduct({{0, 1}, {1, 4}})
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly(false)
    ->Unit(benchmark::kNanosecond);

}  // namespace
