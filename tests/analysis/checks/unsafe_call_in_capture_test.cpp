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
  const Trace trace = t.Build();
  const std::vector<Finding> findings = Run("unsafe-call-in-capture", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "cudaStreamEndCapture (908, cudaErrorStreamCaptureWrongThread) of thread 0 on stream 0 'a' "
        "failed in the capture of graph 0, which survived it: a capture that isn't relaxed ends in "
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

}  // namespace
}  // namespace graphkit
