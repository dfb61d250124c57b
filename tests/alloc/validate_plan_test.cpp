#include "libgraphkit/alloc/judge/validate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/alloc/plan/planner.h"

namespace graphkit {
namespace {

using Kind = PlanViolation::Kind;

// True if any two blocks that conflict share bytes: every pair is looked at.
bool AnyOverlap(const LifetimeProblem& problem, const Plan& plan) {
  for (size_t a = 0; a < problem.blocks.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (problem.blocks[a].arena != problem.blocks[b].arena) continue;
      const Interval<Bytes> bytes_a{plan.offsets[a], plan.offsets[a] + problem.blocks[a].size};
      const Interval<Bytes> bytes_b{plan.offsets[b], plan.offsets[b] + problem.blocks[b].size};
      if (Overlaps(problem.lifetimes[a], problem.lifetimes[b]) && Overlaps(bytes_a, bytes_b))
        return true;
    }
  }
  return false;
}

const LifetimeProblem kTwo{.blocks = {{.size = 4}, {.size = 4}}, .lifetimes = {{0, 3}, {2, 6}}};

TEST_CASE("a good plan has nothing wrong") {
  CHECK(ValidatePlan(kTwo, {.offsets = {0, 4}, .arenas = {{0, 8, 8}}, .peak = 8, .lower_bound = 8})
            .empty());
}

TEST_CASE("an overlap names both blocks and the place") {
  const Plan plan{.offsets = {0, 3}, .arenas = {{0, 7, 8}}, .peak = 7, .lower_bound = 8};
  const std::vector<PlanViolation> found = ValidatePlan(kTwo, plan);
  CHECK(found == std::vector<PlanViolation>{{Kind::kOverlap, 1, 0}});
  CHECK(DescribeViolation(found[0], plan) == "block 1 overlaps block 0 at offset 3");
}

TEST_CASE("a block inside another one, and one around another, overlap") {
  const LifetimeProblem problem{.blocks = {{.size = 9}, {.size = 2}},
                                .lifetimes = {{0, 3}, {2, 6}}};
  const Plan inside{.offsets = {0, 4}, .arenas = {{0, 9, 9}}, .peak = 9, .lower_bound = 9};
  CHECK(ValidatePlan(problem, inside) == std::vector<PlanViolation>{{Kind::kOverlap, 1, 0}});
  const LifetimeProblem around{.blocks = {{.size = 2}, {.size = 9}}, .lifetimes = {{0, 3}, {2, 6}}};
  const Plan plan{.offsets = {4, 0}, .arenas = {{0, 9, 9}}, .peak = 9, .lower_bound = 9};
  CHECK(ValidatePlan(around, plan) == std::vector<PlanViolation>{{Kind::kOverlap, 1, 0}});
}

TEST_CASE("a death comes before a birth at the same time") {
  const LifetimeProblem problem{.blocks = {{.size = 4}, {.size = 4}},
                                .lifetimes = {{3, 6}, {0, 3}}};
  CHECK(
      ValidatePlan(problem, {.offsets = {0, 0}, .arenas = {{0, 4, 4}}, .peak = 4, .lower_bound = 4})
          .empty());
}

TEST_CASE("alignment, fixed offsets, peaks and the number of blocks are checked") {
  LifetimeProblem problem{.blocks = {{.size = 4, .alignment = 8}, {.size = 4, .fixed = 16}},
                          .lifetimes = {{0, 1}, {0, 1}}};
  const Plan plan{.offsets = {4, 8}, .arenas = {{0, 99, 20}}, .peak = 98, .lower_bound = 20};
  CHECK(ValidatePlan(problem, plan) == std::vector<PlanViolation>{{Kind::kMisaligned, 0, 0},
                                                                  {Kind::kMoved, 1, 0},
                                                                  {Kind::kWrongPeak, 0, 0},
                                                                  {Kind::kWrongPeak, 0, 0}});
  CHECK(ValidatePlan(problem, {}) == std::vector<PlanViolation>{{Kind::kMissing, 0, 0}});
}

TEST_CASE("shifting any block is found exactly when it makes two blocks overlap") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    LifetimeProblem problem;
    for (int i = 0; i < 120; ++i) {
      const auto lower = static_cast<int64_t>(random() % 80);
      problem.blocks.push_back(
          {.size = 1 + random() % 900, .arena = static_cast<uint32_t>(random() % 2)});
      problem.lifetimes.push_back({lower, lower + 1 + static_cast<int64_t>(random() % 30)});
    }
    const Plan plan = PlanLifetimes(problem, {.effort = 0});
    REQUIRE(ValidatePlan(problem, plan).empty());
    REQUIRE_FALSE(AnyOverlap(problem, plan));
    for (int round = 0; round < 100; ++round) {
      Plan shifted = plan;
      Bytes& offset = shifted.offsets[random() % shifted.offsets.size()];
      offset = round % 2 ? offset + 1 + random() % 400
                         : offset - std::min<Bytes>(offset, 1 + random() % 400);
      const std::vector<PlanViolation> found = ValidatePlan(problem, shifted);
      const bool overlap = std::ranges::any_of(
          found, [](const PlanViolation& v) { return v.kind == Kind::kOverlap; });
      REQUIRE(overlap == AnyOverlap(problem, shifted));
    }
  }
}

}  // namespace
}  // namespace graphkit
