#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

enum class Ends { kLaunchedAfter, kThere, kBefore };

Ran Step(Ends ends) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const CommunicatorId both = t.Communicator(2, 0, 1);
  const GraphId graph = t.BeginCapture(a, "step");
  t.Kernel(a, "ncclAllReduce");
  t.Collect(both, CollectiveKind::kAllReduce, 8, ElementType::kFp32);
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Destroy(graph);
  t.Launch(exec, a);
  if (ends == Ends::kBefore) t.Destroy(exec);
  t.Destroy(both);
  if (ends == Ends::kLaunchedAfter) t.Launch(exec, a);
  if (ends != Ends::kBefore) t.Destroy(exec);
  return t.Build();
}

TEST_CASE("comm-destroyed names a graph that is launched without its communicator") {
  const auto findings = Run("comm-destroyed", Step(Ends::kLaunchedAfter));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "graph 0 'step' was launched 1 time after communicator 0 of 2 ranks was destroyed, which "
        "node 0 (ncclAllReduce(count 8, fp32, communicator 0 of 2 ranks)) uses");
}

TEST_CASE("comm-destroyed warns of an exec that outlives its communicator") {
  const auto findings = Run("comm-destroyed", Step(Ends::kThere));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message ==
        "communicator 0 of 2 ranks was destroyed before graph 0 'step', whose node 0 "
        "(ncclAllReduce(count 8, fp32, communicator 0 of 2 ranks)) uses it: NCCL waits for the "
        "graph's end there");
}

TEST_CASE("comm-destroyed finds nothing where graphs go first") {
  CHECK(Run("comm-destroyed", Step(Ends::kBefore)).empty());
}

}  // namespace
}  // namespace graphkit
