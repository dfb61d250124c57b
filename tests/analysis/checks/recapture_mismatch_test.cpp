#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A graph that is captured twice over the same nodes; `fails`: the second capture breaks.
std::vector<Finding> Recapture(bool fails, bool used) {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const GraphId graph = t.BeginCapture(s, "step");
  t.Kernel(s);
  t.EndCapture(s);
  t.BeginCaptureToGraph(s, graph);
  if (fails) {
    t.InvalidateCapture(s, "cuLaunchKernel", 918);
  } else {
    t.EndCapture(s);
  }
  if (used) t.Instantiate(graph);
  Ran trace = t.Build();
  trace.captures[1].recapture = true;
  return Run("recapture-mismatch", std::move(trace));
}

TEST_CASE("recapture-mismatch names a capture over a graph's nodes that failed") {
  const auto findings = Recapture(true, false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message ==
        "graph 0 'step' was captured again over its own nodes, and what was captured differs");
  CHECK(Recapture(false, true).empty());
}

TEST_CASE("recapture-mismatch is an error where the graph is used after that") {
  const auto findings = Recapture(true, true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "graph 0 'step' was captured again over its own nodes, and what was captured differs; the "
        "graph is undefined since then, and exec 0 was instantiated from it");
}

}  // namespace
}  // namespace graphkit
