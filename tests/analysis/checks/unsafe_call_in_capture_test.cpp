#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("unsafe-call-in-capture: a call failed, and the capture went on") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const GraphId graph = t.BeginCapture(a);
  t.Kernel(a);
  t.Fail("cudaStreamEndCapture", 908, a, graph);
  t.EndCapture(a);
  const Ran trace = t.Build();
  const std::vector<Finding> findings = Run("unsafe-call-in-capture", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "cudaStreamEndCapture (908, cudaErrorStreamCaptureWrongThread) of thread 0 on stream 0 'a' "
        "failed in the capture of graph 0, which went on: a capture that isn't relaxed ends in "
        "the thread that began it");
  CHECK(findings[0].severity == Severity::kWarning);
}

TEST_CASE("unsafe-call-in-capture leaves calls that broke the capture to capture-invalidated") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.InvalidateCapture(a, "cudaMalloc", 900);
  CHECK(Run("unsafe-call-in-capture", &t).empty());
}

TEST_CASE("unsafe-call-in-capture: calls alike are one finding, and a failed free is one") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  for (int i = 0; i < 3; ++i) {
    const GraphId graph = t.BeginCapture(a);
    t.Kernel(a);
    t.Fail("cudaStreamEndCapture", 908, a, graph);
    if (i == 2) t.Fail("cudaFreeAsync", 1, a, graph);
    t.EndCapture(a);
  }
  const std::vector<Finding> findings = Run("unsafe-call-in-capture", &t);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message.ends_with("; so did 2 more calls alike"));
  CHECK(findings[1].message ==
        "cudaFreeAsync (1) of thread 0 on stream 0 'a' failed in the capture of graph 2, which "
        "went on: the graph lacks what it was to do");
}

TEST_CASE("unsafe-call-in-capture leaves what failed in a broken capture to capture-invalidated") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const GraphId graph = t.BeginCapture(a);
  t.Kernel(a);
  t.Fail("cudaGraphLaunch", 900, a, graph);
  for (const char* call : {"cudaLaunchKernel", "cudaLaunchKernel", "cudaFreeAsync"})
    t.Fail(call, 901, a, graph);
  t.Fail("cudaMalloc", 900, {}, graph);
  t.InvalidateCapture(a, "cudaStreamEndCapture", 901);
  const Ran trace = t.Build();
  CHECK(Run("unsafe-call-in-capture", trace).empty());
  const std::vector<Finding> findings = Run("capture-invalidated", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.ends_with(": a launch of a graph can't be captured, in no mode"));
  CHECK(findings[0].advice.find("relaxed") == std::string::npos);
  REQUIRE(findings[0].evidence.size() == 3);
  CHECK(findings[0].evidence[1].text ==
        "failed only because the capture was broken (901): cudaLaunchKernel 2 times and "
        "cudaFreeAsync");
  CHECK(findings[0].evidence[2].text == "failed in it too: cudaMalloc (900)");
}

}  // namespace
}  // namespace graphkit
