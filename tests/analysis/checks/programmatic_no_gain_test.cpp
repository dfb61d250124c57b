#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Three kernels in a row, each launched so that it may start early.
std::vector<Finding> Row(Triggers triggers, uint8_t port = kPortProgrammatic) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a, "step");
  const KernelId kernel = t.Function("layer", Ternary::kYes, triggers, Ternary::kYes);
  t.Kernel(a, kernel, {});
  for (int i = 0; i < 2; ++i) t.ProgrammaticKernel(a, kernel, {});
  t.EndCapture(a);
  Trace trace = t.Build();
  trace.edges.ChangeAll([&](Edge& edge) { edge.from_port = port; });
  return Run("programmatic-no-gain", trace);
}

TEST_CASE("programmatic-no-gain names edges whose producer never triggers") {
  const std::vector<Finding> findings = Row(Triggers::kNo);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "2 of 2 programmatic edges of graph 0 'step' let no work overlap: the producer never "
        "triggers");
  REQUIRE(findings[0].evidence.size() == 1);
  CHECK(findings[0].evidence[0].text ==
        "2 edges: node 0 (layer) never triggers, so that node 1 (layer) starts when all its "
        "blocks have ended");
}

TEST_CASE("programmatic-no-gain: a trigger on any way, or one that isn't known, may gain") {
  CHECK(Row(Triggers::kYes).empty());
  CHECK(Row(Triggers::kSome).empty());
  CHECK(Row(Triggers::kUnknown).empty());
}

TEST_CASE(
    "programmatic-no-gain: launch completion needs no trigger, a full edge has no use of one") {
  CHECK(Row(Triggers::kNo, kPortLaunchCompletion).empty());
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const KernelId silent = t.Function("silent", Ternary::kYes, Triggers::kNo);
  t.Kernel(a, silent, {});
  t.Kernel(a, silent, {});
  t.EndCapture(a);
  CHECK(Run("programmatic-no-gain", &t).empty());
}

}  // namespace
}  // namespace graphkit
