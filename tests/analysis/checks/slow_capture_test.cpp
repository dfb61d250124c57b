#include <doctest/doctest.h>

#include "libgraphkit/analysis/launches/launches.h"
#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A capture of four kernels, 10 us apart but for the third.
Ran TimedCapture(DeviceKind device, Nanoseconds pause) {
  TraceBuilder t(device);
  const StreamId s = t.Stream();
  t.BeginCapture(s, "step");
  for (int i = 0; i < 4; ++i) t.Kernel(s, i == 2 ? "gemm" : "add");
  t.EndCapture(s);
  Ran trace = t.Build();
  trace.times.resize(trace.records);
  Nanoseconds now = trace.times[trace.captures[0].begin] = 5'000;
  for (size_t i = 0; i < 4; ++i) {
    now += i == 2 ? pause : 10'000;
    trace.times[trace.nodes[i].seq] = now;
  }
  trace.times[trace.captures[0].end] = now + 2'000;
  return trace;
}

TEST_CASE("host times are of the capture as a whole, and of its longest pause") {
  const HostTime expected{
      .calls = 4, .total = 82'000, .longest = 50'000, .longest_before = NodeId(2u)};
  CHECK(FindHostTimes(TimedCapture(DeviceKind::kCuda, 50'000)) == std::vector{expected});
  CHECK(expected.per_call() == 20'500);
}

TEST_CASE("times are said as people read them") {
  CHECK(FormatNanoseconds(850) == "850 ns");
  CHECK(FormatNanoseconds(12'340) == "12.3 us");
  CHECK(FormatNanoseconds(999'600) == "1.00 ms");
  CHECK(FormatNanoseconds(4'560'000) == "4.56 ms");
  CHECK(FormatNanoseconds(120'000'000'000) == "120 s");
}

TEST_CASE("slow-capture names a capture whose calls take long, and the longest pause") {
  const std::vector<Finding> found =
      Run("slow-capture", TimedCapture(DeviceKind::kCuda, 2'000'000));
  REQUIRE(found.size() == 1);
  const Finding& finding = found[0];
  CHECK(finding.message ==
        "capturing graph 0 'step' took the host 2.03 ms: 508 us for each of 4 calls");
  CHECK(finding.severity == Severity::kNote);
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].text == "the longest pause was 2.00 ms, before node 2 (gemm)");
}

TEST_CASE("slow-capture finds nothing in quick captures, nor in simulated ones") {
  CHECK(Run("slow-capture", TimedCapture(DeviceKind::kCuda, 50'000)).empty());
  CHECK(Run("slow-capture", TimedCapture(DeviceKind::kSoft, 2'000'000)).empty());
}

TEST_CASE("slow-capture doesn't judge a memory history, whose points no call made") {
  const Ran trace = OfHistory(TimedCapture(DeviceKind::kCuda, 500'000'000));
  CHECK(FindHostTimes(trace)[0].calls == 0);
  CHECK(Run("slow-capture", trace).empty());
}

}  // namespace
}  // namespace graphkit
