#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"
#include "tests/analysis/checks/two_devices.h"

namespace graphkit {
namespace {

// Two operations on a communicator, captured on two streams.
Ran TwoBranches(bool ordered, bool same_communicator = true) {
  TwoStreams s;
  const CommunicatorId one = s.t.Communicator(2, 0, 1), two = s.t.Communicator(2, 0, 2);
  s.t.BeginCapture(s.a, "step");
  s.t.Kernel(s.a, "first");
  s.t.Order(s.a, s.b);
  s.t.Kernel(s.a, "ncclAllReduce");
  s.t.Collect(one, CollectiveKind::kAllReduce, 8, ElementType::kFp32);
  if (ordered) s.t.Order(s.a, s.b);
  s.t.Kernel(s.b, "ncclAllGather");
  s.t.Collect(same_communicator ? one : two, CollectiveKind::kAllGather, 8, ElementType::kFp32);
  s.t.Order(s.b, s.a);
  s.t.EndCapture(s.a);
  s.t.Launch(s.t.Instantiate(GraphId(0u)), s.a);
  return s.t.Build();
}

TEST_CASE("collective-order names operations on one communicator that no edge orders") {
  const auto findings = Run("collective-order", TwoBranches(false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].nodes == std::vector{NodeId(1u), NodeId(2u)});
  CHECK(
      findings[0].message ==
      "node 1 (ncclAllReduce(count 8, fp32, communicator 0 of 2 ranks)) and node 2 "
      "(ncclAllGather(count 8, fp32, communicator 0 of 2 ranks)) of graph 0 'step' are operations "
      "on one communicator, and no edge orders them");
}

TEST_CASE("collective-order finds nothing where an edge orders them") {
  CHECK(Run("collective-order", TwoBranches(true)).empty());
}

TEST_CASE("collective-order leaves branches to communicators of their own") {
  CHECK(Run("collective-order", TwoBranches(false, false)).empty());
}

// An operation in each body of a conditional, and one beside it.
Ran TwoBodies(bool beside) {
  TwoStreams s;
  const CommunicatorId one = s.t.Communicator(2, 0, 1);
  const auto collect = [&](StreamId stream) {
    s.t.Kernel(stream, "ncclAllReduce");
    s.t.Collect(one, CollectiveKind::kAllReduce, 8, ElementType::kFp32);
  };
  const StreamId inside = s.t.Stream("inside");
  s.t.BeginCapture(s.a, "step");
  if (beside) s.t.Order(s.a, s.b);
  const NodeId branch = s.t.Conditional(s.a, ConditionalType::kIf);
  for (int i = 0; i < 2; ++i) {
    s.t.BeginCaptureToGraph(inside, s.t.Body(branch));
    collect(inside);
    s.t.EndCapture(inside);
  }
  collect(beside ? s.b : s.a);
  if (beside) s.t.Order(s.b, s.a);
  s.t.EndCapture(s.a);
  s.t.Launch(s.t.Instantiate(GraphId(0u)), s.a);
  return s.t.Build();
}

TEST_CASE("collective-order takes bodies of which one runs for ordered, and not what is beside") {
  CHECK(Run("collective-order", TwoBodies(false)).empty());
  const auto findings = Run("collective-order", TwoBodies(true));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.find("no edge orders them") != std::string::npos);
}

TEST_CASE("collective-order compares the ranks of one process") {
  const auto findings = Run("collective-order", TwoDevices(false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "rank 1 runs all_gather of 8 fp32 as operation 1 on communicator 0x1 of 2 ranks, where "
        "rank 0 runs all_reduce of 8 fp32");
  CHECK(Run("collective-order", TwoDevices(true)).empty());
}

}  // namespace
}  // namespace graphkit
