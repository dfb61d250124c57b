#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Two graphs with an operation each, launched on two streams.
Ran TwoLaunches(const char* setting, bool ordered, bool same_communicator = true) {
  TwoStreams s;
  const CommunicatorId one = s.t.Communicator(2, 0, 1), two = s.t.Communicator(2, 0, 2);
  for (const StreamId stream : {s.a, s.b}) {
    s.t.BeginCapture(stream);
    s.t.Kernel(stream, "ncclAllReduce");
    s.t.Collect(stream == s.b && !same_communicator ? two : one, CollectiveKind::kAllReduce, 8,
                ElementType::kFp32);
    s.t.EndCapture(stream);
  }
  const ExecId first = s.t.Instantiate(GraphId(0u)), second = s.t.Instantiate(GraphId(1u));
  s.t.Launch(first, s.a);
  if (ordered) s.t.Order(s.a, s.b);
  s.t.Launch(second, s.b);
  Ran trace = s.t.Build();
  trace.process.environment = {setting};
  return trace;
}

constexpr char kMixing[] = "NCCL_GRAPH_MIXING_SUPPORT=0";
constexpr char kOrdering[] = "NCCL_GRAPH_STREAM_ORDERING=0";

TEST_CASE("concurrent-collectives names launches that NCCL was told not to order") {
  const auto findings = Run("concurrent-collectives", TwoLaunches(kMixing, false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "launch 0 of graph 0 on stream 0 'a' and launch 1 of graph 1 on stream 1 'b' may run "
        "operations on one communicator at once, which NCCL_GRAPH_MIXING_SUPPORT=0 doesn't allow");
}

TEST_CASE("concurrent-collectives finds nothing where launches are ordered, or NCCL does it") {
  CHECK(Run("concurrent-collectives", TwoLaunches(kMixing, true)).empty());
  CHECK(Run("concurrent-collectives", TwoLaunches("NCCL_GRAPH_MIXING_SUPPORT=1", false)).empty());
}

TEST_CASE("concurrent-collectives looks at all communicators where NCCL orders none of them") {
  CHECK(Run("concurrent-collectives", TwoLaunches(kMixing, false, false)).empty());
  CHECK(Run("concurrent-collectives", TwoLaunches(kOrdering, false, false)).size() == 1);
  CHECK(Run("concurrent-collectives", TwoLaunches(kOrdering, true, false)).empty());
}

}  // namespace
}  // namespace graphkit
