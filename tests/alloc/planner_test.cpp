#include "libgraphkit/alloc/plan/planner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/canonical_search.h"
#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/io/files/plan_files.h"
#include "tests/alloc/lifetime_variants.h"

namespace graphkit {
namespace {

LifetimeProblem Random(uint64_t seed, size_t blocks, int64_t times, Bytes largest) {
  std::mt19937_64 random(seed);
  LifetimeProblem problem;
  for (size_t i = 0; i < blocks; ++i) {
    const auto lower = static_cast<int64_t>(random() % static_cast<uint64_t>(times));
    const auto length = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(times / 2 + 1));
    problem.blocks.push_back({.size = 1 + random() % largest});
    problem.lifetimes.push_back({lower, lower + length});
  }
  return problem;
}

// The least peak, found by pushing the blocks down in every order.
Bytes LeastPeak(const LifetimeProblem& problem) {
  std::vector<uint32_t> order(problem.blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  Bytes least = ~Bytes{0};
  do {
    std::vector<Bytes> tops(order.size());
    Bytes peak = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      Bytes offset = 0;
      for (size_t j = 0; j < i; ++j) {
        if (Overlaps(problem.lifetimes[order[i]], problem.lifetimes[order[j]])) {
          offset = std::max(offset, tops[j]);
        }
      }
      offset = RoundUp(offset, problem.blocks[order[i]].alignment);
      tops[i] = offset + problem.blocks[order[i]].size;
      peak = std::max(peak, tops[i]);
    }
    least = std::min(least, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST_CASE("blocks that don't meet share memory") {
  const LifetimeProblem problem{.blocks = {{.size = 4}, {.size = 4}, {.size = 2}},
                                .lifetimes = {{0, 3}, {3, 6}, {1, 5}}};
  CHECK(PlanLifetimes(problem) ==
        Plan{.offsets = {0, 0, 4}, .arenas = {{0, 6, 6}}, .peak = 6, .lower_bound = 6});
}

TEST_CASE("nothing to place is a plan of no bytes") {
  CHECK(PlanLifetimes({}) == Plan{});
  const LifetimeProblem empty{.blocks = {{.size = 0}, {.size = 7}}, .lifetimes = {{0, 3}, {2, 2}}};
  CHECK(PlanLifetimes(empty).peak == 0);
  CHECK(ValidatePlan(empty, PlanLifetimes(empty)).empty());
}

TEST_CASE("arenas don't share, and their peaks add up") {
  const LifetimeProblem problem{
      .blocks = {{.size = 4}, {.size = 3, .arena = 1}, {.size = 5, .arena = 1}},
      .lifetimes = {{0, 2}, {2, 4}, {4, 6}}};
  const Plan plan = PlanLifetimes(problem);
  CHECK(plan.arenas == std::vector<ArenaPlan>{{0, 4, 4}, {1, 5, 5}});
  CHECK(plan.peak == 9);
}

TEST_CASE("alignment and fixed offsets are kept") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    LifetimeProblem problem = Random(seed, 60, 30, 5000);
    for (PlanBlock& block : problem.blocks) block.alignment = Bytes{1} << (random() % 9);
    problem.blocks[7].fixed = 12288;
    const Plan plan = PlanLifetimes(problem, {.effort = 300'000});
    CHECK(plan.offsets[7] == 12288);
    CHECK(ValidatePlan(problem, plan).empty());
  }
}

TEST_CASE("small problems are solved to the optimum") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const LifetimeProblem problem = Random(seed, 7, 9, 12);
    const Plan plan = PlanLifetimes(problem);
    CHECK(ValidatePlan(problem, plan).empty());
    CHECK(plan.peak == LeastPeak(problem));
    CHECK(plan.lower_bound <= plan.peak);
  }
}

// Pairs of blocks that conflict and overlap, and blocks that end above the capacity.
int Wrong(const LifetimeProblem& problem, const std::vector<Bytes>& offsets, Bytes capacity) {
  int wrong = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Bytes top = offsets[i] + problem.blocks[i].size;
    wrong += top > capacity || offsets[i] % problem.blocks[i].alignment != 0 ? 1 : 0;
    for (size_t j = 0; j < i; ++j) {
      const bool conflict = Overlaps(problem.lifetimes[i], problem.lifetimes[j]);
      const bool overlap = offsets[i] < offsets[j] + problem.blocks[j].size && offsets[j] < top;
      wrong += conflict && overlap ? 1 : 0;
    }
  }
  return wrong;
}

// The lifetimes are sections.
LifetimeProblem ProblemOf(const LifetimeArena& component) {
  LifetimeProblem problem;
  for (const ArenaBlock& block : component.blocks) {
    problem.blocks.push_back({.size = block.size, .alignment = block.alignment});
    problem.lifetimes.push_back({block.life.lower, block.life.upper});
  }
  return problem;
}

TEST_CASE("exact search finds a plan of the least peak, and proves that there is no smaller one") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    LifetimeProblem problem = Random(seed, 7, 9, 12);
    for (PlanBlock& block : problem.blocks) block.alignment = seed % 2 == 0 ? 1 : 2;
    for (const LifetimeArena& component : SplitIntoComponents(SplitIntoArenas(problem)[0])) {
      const LifetimeProblem own = ProblemOf(component);
      std::vector<RankLifetime> lifetimes;
      for (const ArenaBlock& block : component.blocks) lifetimes.push_back(block.life);
      const ConflictLists conflicts(lifetimes, 1000);
      CanonicalSearch search(component, conflicts);
      const Bytes least = LeastPeak(own);
      for (const SearchOrder order : {SearchOrder::kWidthAreaLoad, SearchOrder::kLoadAreaWidth,
                                      SearchOrder::kLoadWidthArea}) {
        const SearchAttempt fits{.capacity = least,
                                 .order = order,
                                 .seed = seed % 5,
                                 .tried = 1 + static_cast<uint32_t>(seed % 8)};
        REQUIRE(search.Run(fits) == SearchOutcome::kFound);
        CHECK(Wrong(own, search.offsets(), least) == 0);
        CHECK(search.Run({.capacity = least - 1,
                          .order = order,
                          .seed = seed % 5,
                          .tried = 1 + static_cast<uint32_t>(seed % 8)}) ==
              SearchOutcome::kInfeasible);
      }
    }
  }
}

TEST_CASE("random plans are valid, whatever the effort") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const LifetimeProblem problem = Random(seed, 300, 200, 100'000);
    const Plan quick = PlanLifetimes(problem, {.effort = 0});
    const Plan slow = PlanLifetimes(problem, {.effort = 5'000'000});
    CHECK(ValidatePlan(problem, quick).empty());
    CHECK(ValidatePlan(problem, slow).empty());
    CHECK(slow.peak <= quick.peak);
    CHECK(slow.lower_bound <= slow.peak);
  }
}

TEST_CASE("the same problem gives the same plan") {
  const LifetimeProblem problem = Random(3, 200, 60, 1000);
  CHECK(PlanLifetimes(problem, {.effort = 2'000'000}) ==
        PlanLifetimes(problem, {.effort = 2'000'000}));
}

TEST_CASE("progress is told, and a stop is heard") {
  const LifetimeProblem problem = Random(11, 200, 60, 1000);
  std::atomic<bool> stop = false;
  int told = 0;
  const Plan plan = PlanLifetimes(problem, {.stop = &stop, .progress = [&](const PlanProgress& p) {
                                              CHECK(p.lower_bound <= p.peak);
                                              if (++told == 3) stop = true;
                                            }});
  CHECK(told >= 1);
  CHECK(told <= 4);
  CHECK(ValidatePlan(problem, plan).empty());
}

LifetimeProblem Read(const std::string& name) {
  Result<LifetimeTable> table = ReadLifetimeCsv(std::string(GRAPHKIT_TESTDATA) + "/" + name);
  REQUIRE_MESSAGE(table.has_value(), Describe(table.error()));
  return std::move(table->problem);
}

TEST_CASE("problems without slack are solved exactly") {
  for (const char* name : {"A", "E", "G", "I", "K"}) {
    CAPTURE(name);
    const LifetimeProblem problem = Read(std::string("minimalloc/") + name + ".1048576.csv");
    const Plan plan = PlanLifetimes(problem);
    CHECK(ValidatePlan(problem, plan).empty());
    CHECK(plan.peak == 1048576);
    CHECK(plan.optimal());
  }
  CHECK(PlanLifetimes(Read("minimalloc/C.1048576.csv")).peak == 1039360);
  CHECK(PlanLifetimes(Read("minimalloc/input.12.csv")).peak == 12);
}

TEST_CASE("the search ends when all arenas fit") {
  LifetimeProblem problem = Read("minimalloc/G.1048576.csv");
  const LifetimeProblem other = Read("minimalloc/K.1048576.csv");
  for (size_t i = 0; i < other.blocks.size(); ++i) {
    problem.blocks.push_back(other.blocks[i]);
    problem.blocks.back().arena = 1;
    problem.lifetimes.push_back(other.lifetimes[i]);
  }
  const Bytes greedy = PlanLifetimes(problem, {.effort = 0}).peak;
  const Bytes least = 2 * 1048576;
  REQUIRE(greedy > least + 500'000);
  uint64_t before = 0;
  for (const Bytes capacity : {greedy, (greedy + least) / 2, least}) {
    CAPTURE(capacity);
    uint64_t effort = 0;
    const Plan plan = PlanLifetimes(
        problem, {.capacity = capacity,
                  .progress = [&](const PlanProgress& p) { effort = std::max(effort, p.effort); }});
    CHECK(ValidatePlan(problem, plan).empty());
    CHECK(plan.peak <= capacity);
    CHECK((effort == 0) == (capacity == greedy));
    CHECK(effort >= before);
    before = effort;
  }
}

TEST_CASE("what holds for a problem without slack holds for others of its family") {
  constexpr uint64_t kSeed = 3;
  for (const char* name : {"C", "G"}) {
    const LifetimeProblem original = Read(std::string("minimalloc/") + name + ".1048576.csv");
    const Bytes load = PlanLifetimes(original, {.effort = 0}).lower_bound;
    CAPTURE(name);
    CAPTURE(kSeed);
    for (int kind = 0; kind < kRewordings; ++kind) {
      CAPTURE(kind);
      const LifetimeProblem problem = Reworded(original, static_cast<Rewording>(kind), kSeed);
      const Plan plan = PlanLifetimes(problem, {.effort = 20'000'000});
      CHECK(ValidatePlan(problem, plan).empty());
      CHECK(plan.lower_bound % load == 0);
      // How soon it is solved is luck: a little is left to that.
      CHECK(static_cast<double>(plan.peak) <= 1.02 * static_cast<double>(plan.lower_bound));
    }
    const LifetimeProblem neighbour = Neighbour(original, kSeed);
    const Plan plan = PlanLifetimes(neighbour, {.effort = 20'000'000});
    CHECK(ValidatePlan(neighbour, plan).empty());
    CHECK(static_cast<double>(plan.peak) <= 1.03 * static_cast<double>(plan.lower_bound));
  }
}

TEST_CASE("large problems come close to the largest load") {
  const LifetimeProblem somas = Read("idealloc/somas_tensors_resnet50.csv");
  const Plan small = PlanLifetimes(somas);
  CHECK(ValidatePlan(somas, small).empty());
  CHECK(static_cast<double>(small.peak) <= 1.003 * static_cast<double>(small.lower_bound));
  const LifetimeProblem s1 = Read("idealloc/iopddl_S_1.csv");
  const Plan large = PlanLifetimes(s1, {.effort = 60'000'000});
  CHECK(ValidatePlan(s1, large).empty());
  CHECK(large.lower_bound == 1498635932);
  CHECK(static_cast<double>(large.peak) <= 1.03 * static_cast<double>(large.lower_bound));
}

}  // namespace
}  // namespace graphkit
