#include "tests/alloc/plan_family.h"

#include <doctest/doctest.h>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/planner.h"

namespace graphkit {
namespace {

TEST_CASE("a cut takes every byte of its rectangle") {
  for (uint64_t seed = 1; seed <= kFamilySize; ++seed) {
    const FamilyProblem made = MakeFamilyProblem(seed);
    CAPTURE(seed);
    CHECK(made.problem.blocks.size() >= 20);
    if (made.shape != "cut in two" && made.shape != "cut around") continue;
    Bytes area = 0;
    for (size_t i = 0; i < made.problem.blocks.size(); ++i) {
      area += made.problem.blocks[i].size * static_cast<Bytes>(made.problem.lifetimes[i].size());
    }
    CHECK(area == made.capacity << 20);
  }
}

// A sample of the half that the planner is worked on with. Effort is counted, not time.
TEST_CASE("problems of the family fit into their capacity with little effort") {
  constexpr uint64_t kEffort = 100'000'000;
  for (uint64_t seed = 1; seed <= 119; seed += 2) {
    const FamilyProblem made = MakeFamilyProblem(seed);
    CAPTURE(seed);
    CAPTURE(made.shape);
    const Plan plan = PlanLifetimes(made.problem, {.effort = kEffort, .capacity = made.capacity});
    CHECK(ValidatePlan(made.problem, plan).empty());
    CHECK(plan.peak <= made.capacity);
  }
}

}  // namespace
}  // namespace graphkit
