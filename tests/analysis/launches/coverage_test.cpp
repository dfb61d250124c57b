#include "libgraphkit/analysis/launches/coverage.h"

#include <doctest/doctest.h>

#include "libgraphkit/analysis/facts.h"
#include "tests/analysis/pieces.h"

namespace graphkit {
namespace {

// A graph of two kernels and a copy of 4 KiB, launched three times, on a stream.
struct Step {
  TraceBuilder t;
  StreamId a = t.Stream("main"), b = t.Stream("side");
  KernelId layer = t.Function("layer"), other = t.Function("other");
  GraphId graph;
  ExecId exec;

  Step() {
    const BlockId x = t.Alloc(a, 4096);
    graph = t.BeginCapture(a);
    t.Kernel(a, layer, {});
    t.Kernel(a, layer, {});
    t.Memcpy(a, {Writes(x, 0, 4096)});
    t.EndCapture(a);
    exec = t.Instantiate(graph);
  }
};

TEST_CASE("coverage counts what comes after the first launch") {
  Step s;
  s.t.Work(s.a, "other");  // a warm-up
  for (int i = 0; i < 3; ++i) {
    s.t.Launch(s.exec, s.a);
    s.t.Work(s.b, "other");
  }
  s.t.Work(s.a, "layer");
  const Coverage coverage = FindCoverage(Facts(s.t.Build()));
  CHECK(coverage.unknown.empty());
  CHECK(coverage.share.in_graphs == WorkCounts{.kernels = 6, .copies = 3, .copied_bytes = 12288});
  CHECK(coverage.share.eager == WorkCounts{.kernels = 4});
  CHECK(coverage.share.kernels() == 0.6);
  CHECK(coverage.before == WorkCounts{.kernels = 1});
  REQUIRE(coverage.by_stream.size() == 2);
  CHECK(coverage.by_stream[0].name == "stream 1 'side'");
  CHECK(coverage.by_stream[0].share.kernels() == 0);
  CHECK(coverage.kernels == std::vector<EagerKernel>{{s.other, EagerBecause::kNeverCaptured, 3},
                                                     {s.layer, EagerBecause::kAlsoInGraphs, 1}});
}

TEST_CASE("counts that are larger than any stay so, and leave no share to graphs") {
  Step s;
  s.t.Launch(s.exec, s.a);
  Ran trace = s.t.Build();
  const uint64_t half = uint64_t{1} << 63;
  for (int i = 0; i < 2; ++i)
    trace.eager_counts.push_back({.kernels = half, .copied_bytes = half, .seq = trace.records++});
  const Coverage coverage = FindCoverage(Facts(trace));
  CHECK(coverage.share.eager.kernels == ~uint64_t{0});
  CHECK(coverage.share.eager.copied_bytes == ~uint64_t{0});
  CHECK(coverage.share.kernels() < 1e-9);
}

TEST_CASE("coverage of a trace that says nothing of eager work isn't known") {
  Step s;
  s.t.Launch(s.exec, s.a);
  Ran trace = s.t.Build();
  CHECK(FindCoverage(Facts(trace)).unknown ==
        "work outside of graphs wasn't recorded: record with --scope all");
  // A count of nothing says that there was none.
  trace.eager_counts.push_back({.seq = trace.records++});
  const Coverage coverage = FindCoverage(Facts(trace));
  CHECK(coverage.unknown.empty());
  CHECK(coverage.share.kernels() == 1);
}

TEST_CASE("coverage takes counts in place of the work itself") {
  Step s;
  s.t.Launch(s.exec, s.a);
  Ran trace = s.t.Build();
  const Seq launch = trace.launches[0].seq;
  trace.eager_counts.push_back({.stream = s.a, .kernels = 7, .seq = launch - 1});
  trace.eager_counts.push_back(
      {.stream = s.a, .kernels = 2, .copies = 1, .copied_bytes = 64, .seq = trace.records++});
  const Coverage coverage = FindCoverage(Facts(trace));
  CHECK(coverage.before.kernels == 7);
  CHECK(coverage.share.eager == WorkCounts{.kernels = 2, .copies = 1, .copied_bytes = 64});
  CHECK(coverage.share.kernels() == 0.5);
}

TEST_CASE("coverage by NVTX range takes inner ranges in, and each name once") {
  Step s;
  s.t.Launch(s.exec, s.a);
  s.t.NvtxPush("step");
  s.t.NvtxPush("step");
  s.t.Launch(s.exec, s.a);
  s.t.NvtxPush("optimizer");
  s.t.Work(s.a, "other");
  s.t.NvtxPop();
  s.t.NvtxPop();
  s.t.NvtxPop();
  Ran trace = s.t.Build();
  trace.works[0].thread = trace.nvtx_ranges[0].thread;
  const Coverage coverage = FindCoverage(Facts(trace));
  REQUIRE(coverage.by_range.size() == 2);
  CHECK(coverage.by_range[0].name == "step");
  CHECK(coverage.by_range[0].share.in_graphs.kernels == 2);
  CHECK(coverage.by_range[0].share.eager.kernels == 1);
  CHECK(coverage.by_range[1].name == "optimizer");
  CHECK(coverage.by_range[1].share.kernels() == 0);
}

TEST_CASE("coverage says of an eager kernel that its capture broke") {
  Step s;
  s.t.Launch(s.exec, s.a);
  const KernelId broken = s.t.Function("broken");
  s.t.BeginCapture(s.b);
  s.t.Kernel(s.b, broken, {});
  s.t.InvalidateCapture(s.b, "cudaMalloc", 900);
  s.t.Work(s.b, "broken");
  const Coverage coverage = FindCoverage(Facts(s.t.Build()));
  CHECK(coverage.broken_captures == 1);
  CHECK(coverage.kernels == std::vector<EagerKernel>{{broken, EagerBecause::kCaptureBroke, 1}});
}

}  // namespace
}  // namespace graphkit
