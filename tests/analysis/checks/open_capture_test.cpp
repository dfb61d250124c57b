#include <doctest/doctest.h>

#include "libgraphkit/analysis/checks/checks.h"
#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

Ran LeftOpen(bool cut) {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId a = t.Stream("a");
  t.BeginCapture(a, "step");
  t.Alloc(a, 4096);
  t.Kernel(a);
  Ran trace = t.Build();
  trace.completeness.truncated = cut;
  return trace;
}

TEST_CASE("open-capture names a capture that never ended, and what it holds") {
  const std::vector<Finding> findings = Run("open-capture", LeftOpen(false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "the capture of graph 0 'step' on stream 0 'a' was open when the program ended: its graph "
        "isn't whole, and was never run");
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].blocks == std::vector{BlockId(0u)});
  CHECK(findings[0].bytes == 4096);
}

TEST_CASE("open-capture is a note where the trace was cut off") {
  const Ran trace = LeftOpen(true);
  const Facts facts(trace);
  const std::vector<Finding> findings = RunCheck(*FindCheck("open-capture"), facts);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("open-capture finds nothing where captures ended, well or not") {
  CrossedBlock c;
  c.Join();
  c.End();
  CHECK(Run("open-capture", &c.t).empty());
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a);
  t.InvalidateCapture(a, "cudaMalloc", 900);
  CHECK(Run("open-capture", &t).empty());
}

TEST_CASE("a trace with an open capture is incomplete") {
  CHECK(
      IncompleteBecause(LeftOpen(false)) ==
      std::vector<std::string>{"the capture of graph 0 'step' never ended: the graph isn't whole"});
  CHECK_FALSE(IsComplete(LeftOpen(false)));
  CrossedBlock c;
  c.Join();
  c.End();
  CHECK(IsComplete(c.t.Build()));
}

}  // namespace
}  // namespace graphkit
