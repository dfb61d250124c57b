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
