#include "libgraphkit/alloc/plan/capture_planner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/guided_ejection.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

constexpr Bytes kKiB = 1024;

// Every pair, looked at one by one.
void CheckSafe(const BlockOrder& order, std::span<const BlockId> blocks, const CapturePlan& plan) {
  Bytes peak = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Bytes size = RoundedSize(order.trace()[blocks[i]]);
    if (size > 0) peak = std::max(peak, plan.offsets[i] + size);
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      const Bytes other = RoundedSize(order.trace()[blocks[j]]);
      const bool overlap =
          plan.offsets[i] < plan.offsets[j] + other && plan.offsets[j] < plan.offsets[i] + size;
      if (size == 0 || other == 0 || !overlap) continue;
      CAPTURE(i);
      CAPTURE(j);
      REQUIRE_FALSE(order.Conflict(blocks[i], blocks[j]));
    }
  }
  CHECK(plan.peak == peak);
  CHECK(plan.peak >= plan.lower_bound);
}

TEST_CASE("exits and conflicts are what a look at every pair says, listed or found in the trees") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomTrace(seed, {.max_streams = 4, .max_steps = 40, .memory = true});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    for (const std::vector<BlockId>& blocks : facts.blocks()) {
      const Lanes lanes(order, blocks);
      PlacedConflicts trees(lanes);
      const ConflictLists lists(lanes, trees, 1'000'000);
      REQUIRE(lists.complete());
      trees.Clear();
      for (uint32_t x = 0; x < lanes.size(); ++x) {
        std::vector<uint32_t> found;
        trees.Find(x, &found);
        trees.Add(x);
        std::vector<uint32_t> earlier;
        std::vector<uint32_t> all;
        for (uint32_t y = 0; y < lanes.size(); ++y) {
          if (x == y || !order.Conflict(lanes.block(x), lanes.block(y))) continue;
          all.push_back(y);
          if (y < x) earlier.push_back(y);
        }
        std::ranges::sort(found);
        std::vector<uint32_t> listed(lists.Of(x).begin(), lists.Of(x).end());
        std::ranges::sort(listed);
        REQUIRE(found == earlier);
        REQUIRE(listed == all);
      }
    }
  }
}

// Both fill x on a; b reads it; y is as large.
struct Capture {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  StreamId b = t.Stream("b");
  GraphId graph = t.BeginCapture(a);
  BlockId x = t.Alloc(a, 64 * kKiB);

  CapturePlan Plan(bool join) {
    t.Kernel(a, "fill", {Writes(x)});
    t.Order(a, b);
    t.Kernel(b, "read", {Reads(x)});
    t.RecordStream(x, b);
    t.Free(x);
    if (join) t.Order(b, a);
    const BlockId y = t.Alloc(a, 64 * kKiB);
    t.Kernel(a, "fill", {Writes(y)});
    t.Free(y);
    if (!join) t.Order(b, a);
    t.EndCapture(a);
    const Ran trace = t.Build();
    const Facts facts(trace);
    return PlanCapture(facts.Blocks(MarkerRule::kLastUse), std::vector{x, y});
  }
};

TEST_CASE("blocks that a join orders lie in one place, and the plan is proved optimal") {
  CHECK(Capture().Plan(true) ==
        CapturePlan{.offsets = {0, 0}, .peak = 64 * kKiB, .lower_bound = 64 * kKiB});
}

TEST_CASE("blocks that nothing orders lie apart") {
  CHECK(Capture().Plan(false) ==
        CapturePlan{.offsets = {0, 64 * kKiB}, .peak = 128 * kKiB, .lower_bound = 128 * kKiB});
}

TEST_CASE("a fixed block stays where it is, and others keep off it") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 4 * kKiB);
  const BlockId y = t.Alloc(a, 4 * kKiB);
  t.Kernel(a, "both", {Writes(x), Writes(y)});
  t.EndCapture(a);
  const Ran trace = t.Build();
  const Facts facts(trace);
  const FixedBlock fixed{y, 2 * kKiB};
  const CapturePlan plan =
      PlanCapture(facts.Blocks(MarkerRule::kLastUse), std::vector{x, y}, {}, std::span(&fixed, 1));
  CHECK(plan.offsets == std::vector<Bytes>{6 * kKiB, 2 * kKiB});
}

TEST_CASE("every offset is a multiple of the alignment") {
  const Ran trace = Synthesize({.ops = 400, .streams = 3, .alloc = 0.4, .seed = 3});
  const Facts facts(trace);
  const CapturePlan plan = PlanCapture(facts.Blocks(MarkerRule::kLastUse), facts.blocks()[0],
                                       {.alignment = Bytes{2} << 20});
  for (const Bytes offset : plan.offsets) CHECK(offset % (Bytes{2} << 20) == 0);
}

TEST_CASE("on one stream the exact search is used, and its plan is optimal") {
  const Ran trace = Synthesize({.ops = 300,
                                .streams = 1,
                                .alloc = 0.5,
                                .free = 0.4,
                                .sizes = *ParseSizeDistribution("log:512B-1MiB"),
                                .seed = 5});
  const Facts facts(trace);
  const CapturePlan plan = PlanCapture(facts.Blocks(MarkerRule::kLastUse), facts.blocks()[0]);
  CHECK(plan.peak == plan.lower_bound);
}

TEST_CASE("plans of random traces are safe by both rules, and none is below the bound") {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomTrace(seed, {.max_streams = 4, .max_steps = 30, .memory = true});
    const Facts facts(trace);
    for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
      for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
        const BlockOrder order = facts.Blocks(rule);
        const std::vector<BlockId>& blocks = facts.blocks()[graph];
        CapturePlannerOptions options;
        options.search.effort = 1'000'000;
        CheckSafe(order, blocks, PlanCapture(order, blocks, options));
      }
    }
  }
}

TEST_CASE("blocks of one size are planned at the bound") {
  constexpr SynthShape kShapes[] = {SynthShape::kRandom, SynthShape::kTraining,
                                    SynthShape::kPipeline};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Ran trace = Synthesize({.shape = kShapes[seed % 3],
                                  .ops = 600,
                                  .streams = 2 + static_cast<uint32_t>(seed % 7),
                                  .alloc = 0.4,
                                  .free = 0.4,
                                  .seed = seed});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    CAPTURE(seed);
    const CapturePlan plan = PlanCapture(order, facts.blocks()[0]);
    REQUIRE(plan.peak == plan.lower_bound);
  }
}

TEST_CASE("as many chains as blocks that all conflict, and every one in order") {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Ran trace = RandomTrace(seed, {.max_steps = 60, .nested = seed % 3 == 0, .memory = true});
    trace.blocks.ChangeAll([](Block& block) { block.size = 512; });
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    CAPTURE(seed);
    for (const std::vector<BlockId>& blocks : facts.blocks()) {
      const Lanes lanes(order, blocks);
      if (lanes.size() == 0 || lanes.left_out() != 0) continue;
      const ChainCover cover = CoverByChains(lanes, PlacedConflicts(lanes));
      for (uint32_t x = 0; x < lanes.size(); ++x) {
        for (uint32_t y = x + 1; y < lanes.size(); ++y) {
          if (cover.chain[x] != cover.chain[y]) continue;
          REQUIRE_FALSE(order.Conflict(lanes.block(x), lanes.block(y)));
        }
      }
      REQUIRE(cover.chains * Bytes{512} == FindLowerBound(order, blocks).bytes);
    }
  }
}

TEST_CASE("plans of synthetic captures are safe, and close to the bound") {
  for (const SynthShape shape :
       {SynthShape::kRandom, SynthShape::kTraining, SynthShape::kPipeline}) {
    const Ran trace = Synthesize({.shape = shape,
                                  .ops = 1500,
                                  .streams = 4,
                                  .join = 0.3,
                                  .alloc = 0.3,
                                  .free = 0.3,
                                  .sizes = *ParseSizeDistribution("log:512B-8MiB"),
                                  .seed = 11});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    const CapturePlan plan = PlanCapture(order, facts.blocks()[0]);
    CheckSafe(order, facts.blocks()[0], plan);
    CHECK(plan.peak * 100 <= plan.lower_bound * 105);
  }
}

// Two pairs, each in order, of which neither first one is before the other's second one, can't lie
// on one line.
bool OnOneLine(const BlockOrder& order, std::span<const BlockId> blocks) {
  std::vector<std::pair<BlockId, BlockId>> pairs;
  for (const BlockId x : blocks) {
    for (const BlockId y : blocks) {
      if (x != y && order.Before(x, y)) pairs.emplace_back(x, y);
    }
  }
  return std::ranges::none_of(pairs, [&](const auto& one) {
    return std::ranges::any_of(pairs, [&](const auto& other) {
      const auto before = [&](BlockId x, BlockId y) { return x != y && order.Before(x, y); };
      return !before(one.first, other.second) && !before(other.first, one.second);
    });
  });
}

TEST_CASE("lifetimes on one line overlap where blocks conflict, and are found if there are any") {
  size_t found = 0;
  size_t none = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        seed % 2 == 0
            ? RandomTrace(seed, {.max_streams = 4, .max_steps = 40, .memory = true})
            : Synthesize(
                  {.ops = 100, .streams = 4, .join = 0.1, .alloc = 0.5, .free = 0.4, .seed = seed});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    for (const std::vector<BlockId>& blocks : facts.blocks()) {
      const Lanes lanes(order, blocks);
      if (lanes.size() < 2 || lanes.left_out() > 0) continue;
      const std::vector<Lifetime> lifetimes = LifetimesOnOneLine(lanes, PlacedConflicts(lanes));
      REQUIRE(lifetimes.empty() == !OnOneLine(order, blocks));
      ++(lifetimes.empty() ? none : found);
      for (size_t x = 0; x < lifetimes.size(); ++x) {
        for (size_t y = 0; y < x; ++y) {
          REQUIRE(Overlaps(lifetimes[x], lifetimes[y]) == order.Conflict(blocks[x], blocks[y]));
        }
      }
    }
  }
  CHECK(found > 100);
  CHECK(none > 100);
}

TEST_CASE("the blocks of a section all conflict, and each block has one") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        Synthesize({.ops = 300, .streams = 4, .alloc = 0.5, .free = 0.4, .seed = seed});
    const Facts facts(trace);
    const Lanes lanes(facts.Blocks(MarkerRule::kLastUse), facts.blocks()[0]);
    const ConflictLists lists(lanes, PlacedConflicts(lanes), 1'000'000);
    LifetimeArena arena;
    for (uint32_t x = 0; x < lanes.size(); ++x) {
      arena.blocks.push_back({.block = x, .size = lanes.weight(x)});
    }
    FindSections(lists, &arena);
    std::vector<Bytes> loads(arena.loads.size());
    for (uint32_t x = 0; x < lanes.size(); ++x) {
      REQUIRE(!arena.sections[x].empty());
      for (const uint32_t section : arena.sections[x]) loads[section] += lanes.weight(x);
      for (uint32_t y = 0; y < x; ++y) {
        std::vector<uint32_t> both;
        std::ranges::set_intersection(arena.sections[x], arena.sections[y],
                                      std::back_inserter(both));
        REQUIRE((both.empty() || std::ranges::count(lists.Of(x), y) == 1));
      }
    }
    REQUIRE(loads == arena.loads);
  }
}

void CheckApart(const Lanes& lanes, const ConflictLists& lists, std::span<const Bytes> offsets) {
  for (uint32_t x = 0; x < lanes.size(); ++x) {
    for (const uint32_t y : lists.Of(x)) {
      REQUIRE((offsets[x] + lanes.weight(x) <= offsets[y] ||
               offsets[y] + lanes.weight(y) <= offsets[x] || lanes.weight(x) == 0 ||
               lanes.weight(y) == 0));
    }
  }
}

TEST_CASE("ejection ends with a safe plan of the peak that it says, whatever it aims at") {
  int reached = 0;
  int missed = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        Synthesize({.shape = seed % 2 == 0 ? SynthShape::kRandom : SynthShape::kPipeline,
                    .ops = 600,
                    .streams = 4,
                    .join = 0.1,
                    .alloc = 0.5,
                    .free = 0.4,
                    .sizes = *ParseSizeDistribution("log:512B-32MiB"),
                    .seed = seed});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    const Lanes lanes(order, facts.blocks()[0]);
    std::vector<Bytes> fixed(lanes.size(), PlanBlock::kAnywhere);
    fixed[7] = 4096;
    std::vector<PlanBlock> items;
    for (uint32_t item = 0; item < lanes.size(); ++item) {
      items.push_back({.size = lanes.weight(item), .alignment = 512, .fixed = fixed[item]});
    }
    PlacedConflicts conflicts(lanes);
    const ConflictLists lists(lanes, conflicts, 1'000'000);
    GreedyPlan plan = PlaceLargestFirst(lanes, fixed, 512, lists, &conflicts);
    GuidedEjection ejection(lists, items, 0.5, seed);
    for (const Bytes percent : {90u, 80u, 60u, 1u}) {
      const Bytes target = plan.peak * percent / 100;
      const Bytes peak = ejection.Lower(
          target, 100'000, [] { return true; }, &plan.offsets);
      ++(peak <= target ? reached : missed);
      CheckApart(lanes, lists, plan.offsets);
      REQUIRE(plan.offsets[7] == 4096);
      Bytes highest = 0;
      for (uint32_t item = 0; item < lanes.size(); ++item) {
        if (items[item].size == 0) continue;
        highest = std::max(highest, plan.offsets[item] + items[item].size);
      }
      REQUIRE(peak == highest);
    }
  }
  CHECK(reached > 0);
  CHECK(missed > 0);
}

TEST_CASE("what a plan shares is told range by range, each with a proof that holds") {
  const Ran trace = Synthesize({.ops = 600,
                                .streams = 3,
                                .join = 0.3,
                                .alloc = 0.5,
                                .free = 0.4,
                                .sizes = *ParseSizeDistribution("log:512B-8MiB"),
                                .seed = 2});
  const Facts facts(trace);
  const PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  REQUIRE_FALSE(plan.shared.empty());
  for (const SharedBytes& shared : plan.shared) {
    CHECK(order.Before(shared.earlier, shared.later));
    CHECK(shared.ends.count > 0);
    for (uint32_t i = 0; i < shared.ends.count; ++i) {
      for (uint32_t j = 0; j < shared.starts.count; ++j) {
        CHECK(facts.order().Before(plan.proof_nodes[shared.ends.first + i],
                                   plan.proof_nodes[shared.starts.first + j]));
      }
    }
  }
  // All that isn't fresh was somebody's: what is shared and what is fresh make up all blocks.
  Bytes shared = 0;
  Bytes total = 0;
  for (const SharedBytes& one : plan.shared) shared += one.size;
  for (const Placement& one : plan.placements) total += one.size;
  Bytes fresh = 0;
  for (const PlannedArena& arena : plan.arenas) fresh += arena.peak;
  CHECK(total - shared <= fresh);
}

}  // namespace
}  // namespace graphkit
