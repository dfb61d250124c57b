#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("capture-invalidated names the call, the rule, and the memory that is stuck") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a, "step");
  const BlockId x = t.Alloc(a, 4096);
  t.Kernel(a, "write", {Writes(x)});
  t.InvalidateCapture(a, "cudaMalloc", 900);
  const Finding finding = RunForOne("capture-invalidated", &t);
  CHECK(finding.message ==
        "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 on stream 0 'a' broke the "
        "capture of graph 0 'step' on stream 0 'a': while a capture is open, calls that wait for "
        "the device or may do so are not allowed");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.blocks == std::vector{x});
  CHECK(finding.bytes == 4096);
}

TEST_CASE("capture-invalidated says what the call was given") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  t.InvalidateCapture(a, "cudaMalloc", 900);
  Trace trace = t.Build();
  trace.failures[0].arguments = trace.strings.Intern("bytesize=4096");
  const std::vector<Finding> findings = Run("capture-invalidated", std::move(trace));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].evidence[0].text.ends_with(" with bytesize=4096"));
}

TEST_CASE("capture-invalidated finds nothing in a capture that ended well") {
  CrossedBlock c;
  c.Join();
  c.End();
  CHECK(Run("capture-invalidated", &c.t).empty());
}

}  // namespace
}  // namespace graphkit
