#include <doctest/doctest.h>

#include <bit>

#include "tests/analysis/checks/frozen_steps.h"

namespace graphkit {
namespace {

void PassFloat(Scalars& to, float value) { to.Pass(2, std::bit_cast<uint32_t>(value)); }

const Steps kRate{.pass = [](Scalars& to, int step) {
  PassFloat(to, step < 0 ? 0.1f : 0.1f / static_cast<float>(step + 1));
}};

TEST_CASE("frozen-argument names the argument that changed from step to step") {
  const Finding finding = One("frozen-argument", kRate);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message ==
        "graph 0 'step' always passes 0.1 as argument 2 (32-bit float) of Update; the same line "
        "passed 0.0333333, 0.05 and 0.1 in 3 launches outside of graphs");
  CHECK(finding.nodes == std::vector{NodeId(2u)});
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[1].stack.valid());
}

TEST_CASE("frozen-argument is a note of two values, or of one launch") {
  Steps two = kRate, once = kRate;
  two.outside = 2;
  once.launches = 1;
  CHECK(One("frozen-argument", two).severity == Severity::kNote);
  CHECK(One("frozen-argument", once).severity == Severity::kNote);
}

TEST_CASE("frozen-argument reads integers with their sign, and of many the ends") {
  Steps steps{.outside = 9, .pass = [](Scalars& to, int step) {
                to.Pass(0, step < 0 ? 7 : static_cast<uint32_t>(step - 4));
              }};
  CHECK(One("frozen-argument", steps)
            .message.ends_with("passed values from -4 to 4 in 9 launches outside of graphs"));
}

TEST_CASE("frozen values are silent where the program captures again for others") {
  Steps steps = kRate;
  steps.captures = 2;
  CHECK(One("frozen-argument", steps).graph == GraphId(0u));  // both with one value
  steps.pass = [](Scalars& to, int step) { to.Pass(2, static_cast<uint32_t>(step + 10)); };
  CHECK(Silent(steps));
}

TEST_CASE("frozen values are silent where an update gives the exec another value") {
  Steps steps = kRate;
  steps.captures = 2;
  steps.updates = true;
  CHECK(One("frozen-argument", steps).graph == GraphId(1u));  // which the later launches run
  steps.pass = [](Scalars& to, int step) { to.Pass(2, static_cast<uint32_t>(step + 10)); };
  CHECK(Silent(steps));
}

// A kernel that ran with three values, in a graph that is embedded in a launched one; or whose
// parameters are set in the exec of its own graph before each launch.
std::vector<Finding> Embedded(bool embed) {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId s = t.Stream();
  std::vector<Scalar> scalars;
  t.SetStack(t.Stack({{"Step", "step.cu", 1}, {"main", "main.cu", 7}}));
  for (uint64_t value = 1; value <= 3; ++value) {
    t.Work(s, "Forward");
    t.Work(s, "Update");
    scalars.push_back({t.trace().works.back().seq, 0, 0, value});
  }
  const GraphId inner = t.BeginCapture(s, "inner");
  t.Kernel(s, "Forward");
  const NodeId node = t.Kernel(s, "Update");
  scalars.push_back({t.trace()[node].seq, 0, 0, 1});
  t.EndCapture(s);
  GraphId launched = inner;
  t.SetStack({});
  if (embed) {
    launched = t.BeginCapture(s, "outer");
    t.ChildGraph(s, inner);
    scalars.push_back({t.trace().nodes.back().seq, 0, 0, 1});
    t.EndCapture(s);
    t.Destroy(inner);
  }
  const ExecId exec = t.Instantiate(launched);
  for (uint64_t value = 1; value <= 3; ++value) {
    if (!embed) {
      t.Change(node, exec, NodeChangeKind::kParams);
      scalars.push_back({t.trace().node_changes.back().seq, 0, 0, value});
    }
    t.Launch(exec, s);
  }
  Ran trace = t.Build();
  trace.scalars = std::move(scalars);
  return Run("frozen-argument", WithSites(std::move(trace)));
}

TEST_CASE("frozen-argument sees kernels of embedded graphs, and parameters set in the exec") {
  const std::vector<Finding> findings = Embedded(true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message.starts_with("graph 1 'outer' always passes 1 as argument 0"));
  CHECK(Embedded(false).empty());
}

TEST_CASE("frozen values are silent without variation, stacks, or launches outside") {
  CHECK(Silent({}));
  CHECK(Silent({.pass = [](Scalars& to, int) { to.Pass(2, 5); }}));
  Steps no_stacks = kRate, none = kRate;
  no_stacks.stacks = false;
  none.outside = 1;
  CHECK(Silent(no_stacks));
  CHECK(Silent(none));
}

TEST_CASE("frozen values are silent where most kernels had other sizes: a step of another size") {
  CHECK(Silent({.pass_all = [](Scalars& to, int step) {
    to.Pass(1, step < 0 ? 512 : static_cast<uint32_t>(step));
  }}));
}

}  // namespace
}  // namespace graphkit
