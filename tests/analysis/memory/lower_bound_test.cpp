#include "libgraphkit/analysis/memory/lower_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "libgraphkit/analysis/memory/lanes.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/order/build_order.h"
#include "tests/analysis/pieces.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

struct Facts {
  explicit Facts(Ran made) : trace(std::move(made)), order(BuildOrder(trace)) {
    lives = FindLifetimes(trace, &order);
  }
  BlockOrder blocks(MarkerRule rule = MarkerRule::kLastUse) const {
    return {trace, order, lives, rule};
  }
  std::vector<BlockId> Of(GraphId root) const {
    std::vector<BlockId> found;
    for (size_t i = 0; i < lives.blocks.size(); ++i) {
      if (lives.blocks[i].root == root) found.emplace_back(i);
    }
    return found;
  }

  Ran trace;
  graphkit::Order order;
  Lifetimes lives;
};

Bytes Rounded(const Ran& trace, BlockId block) {
  return RoundUp(trace[block].size, kBlockGranularity);
}

// The heaviest set of pairwise conflicting blocks among `left`, one bit a block, with or without
// the first.
Bytes Heaviest(const std::vector<uint32_t>& conflicts, const std::vector<Bytes>& weights,
               uint32_t left) {
  if (left == 0) return 0;
  const auto first = static_cast<size_t>(std::countr_zero(left));
  left &= left - 1;
  const uint32_t beside = left & conflicts[first];
  const Bytes with = weights[first] + Heaviest(conflicts, weights, beside);
  return beside == left ? with : std::max(with, Heaviest(conflicts, weights, left));
}

Bytes Heaviest(const BlockOrder& order, const std::vector<BlockId>& blocks) {
  std::vector<uint32_t> conflicts(blocks.size());
  std::vector<Bytes> weights;
  for (size_t x = 0; x < blocks.size(); ++x) {
    weights.push_back(Rounded(order.trace(), blocks[x]));
    for (size_t y = 0; y < blocks.size(); ++y) {
      if (x != y && order.Conflict(blocks[x], blocks[y])) conflicts[x] |= 1u << y;
    }
  }
  return Heaviest(conflicts, weights, (1u << blocks.size()) - 1);
}

void CheckCertificate(const BlockOrder& order, const LowerBound& bound) {
  Bytes sum = 0;
  bool conflict = true;
  for (const BlockId x : bound.blocks) {
    sum += Rounded(order.trace(), x);
    for (const BlockId y : bound.blocks) conflict = conflict && (x == y || order.Conflict(x, y));
  }
  REQUIRE(conflict);
  REQUIRE(sum == bound.bytes);
}

//     a:  x ── k ── free x   z ── k ── free z        x and z may share; y lives beside both
//     b:  y ────── k ────────────────────── free y
TEST_CASE("blocks of two streams that nothing orders add up") {
  auto [t, a, b] = TwoStreams();
  const GraphId graph = t.BeginCapture(a);
  t.Order(a, b);
  AllocUsed(t, a, 1024, "k");
  const BlockId y = AllocUsed(t, b, 4096, "k");
  const BlockId z = AllocUsed(t, a, 2000, "k");
  t.EndCapture(a);
  const Facts facts(t.Build());
  CHECK(FindLowerBound(facts.blocks(), facts.Of(graph)) ==
        LowerBound{.bytes = 4096 + 2048, .exact = true, .blocks = {y, z}});
}

// All that is before a birth is before all that follow it in its lane, and nothing else is.
size_t WrongInLanes(const BlockOrder& order, const Lanes& lanes) {
  size_t wrong = 0;
  for (uint32_t x = 0; x < lanes.size(); ++x) {
    for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
      bool before = false;
      for (const uint32_t birth : lanes.births(lane)) {
        const bool expected = order.Before(lanes.block(x), lanes.block(birth));
        wrong += lanes.Before(x, birth) != expected || (before && !expected && x != birth);
        before = expected;
      }
    }
  }
  return wrong;
}

TEST_CASE("births of many streams share lanes only where the same is before them") {
  size_t shared = 0;
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Facts facts(RandomTrace(seed, {.max_streams = 60,
                                         .max_steps = 300,
                                         .partial_edges = seed % 3 == 0,
                                         .rewinds = seed % 3 == 0,
                                         .nested = seed % 4 == 0,
                                         .memory = true,
                                         .allocator_steps = 0.4,
                                         .memory_nodes = 0}));
    for (size_t g = 0; g < facts.trace.graphs.size(); ++g) {
      const std::vector<BlockId> blocks = facts.Of(GraphId(g));
      const BlockOrder order = facts.blocks();
      const Lanes lanes(order, blocks);
      CAPTURE(seed);
      REQUIRE(WrongInLanes(order, lanes) == 0);
      std::set<StreamId> streams;
      for (const BlockId block : blocks) streams.insert(facts.trace[block].stream);
      if (lanes.lanes() > 16 && lanes.lanes() < streams.size()) ++shared;
      CheckCertificate(order, FindLowerBound(order, blocks));
    }
  }
  CHECK(shared > 20);
}

TEST_CASE("branches that allocate where they were forked make few lanes, however many they are") {
  for (const SynthShape shape :
       {SynthShape::kForkJoin, SynthShape::kOneByOne, SynthShape::kRelay}) {
    for (const uint64_t rounds : {1u, 4u}) {
      const Facts facts(Synthesize({.shape = shape, .ops = 5'900 * rounds, .streams = 3'000}));
      const Lanes lanes(facts.blocks(), facts.Of(GraphId(uint32_t{0})));
      CAPTURE(static_cast<int>(shape));
      CAPTURE(rounds);
      CHECK(lanes.lanes() <= 20);
    }
  }
}

//     main ─┬─ x ── k ── free ── y ── k ── free ─┬─ and again      y may lie where its branch's
//           └─ the same on 1 000 streams        ─┘                x lay, so each has a lane
TEST_CASE("out of time among many lanes there still is a bound, and it says that it isn't exact") {
  TraceBuilder t;
  const StreamId main = t.Stream();
  std::vector<StreamId> branches;
  for (int i = 0; i < 1'000; ++i) branches.push_back(t.Stream());
  t.BeginCapture(main);
  for (int round = 0; round < 2; ++round) {
    t.Kernel(main);
    for (const StreamId branch : branches) {
      t.Order(main, branch);
      for (int i = 0; i < 2; ++i) AllocUsed(t, branch, 1024);
    }
    for (const StreamId branch : branches) t.Order(branch, main);
  }
  t.Kernel(main);
  t.EndCapture(main);
  const Facts facts(t.Build());
  const BlockOrder order = facts.blocks();
  const std::vector<BlockId> blocks = facts.Of(GraphId(uint32_t{0}));
  const LowerBound late =
      FindLowerBound(order, blocks, {.time_limit = std::chrono::milliseconds(0)});
  CheckCertificate(order, late);
  CHECK_FALSE(late.exact);
  CHECK(late.bytes >= 250 * 1024);
  const LowerBound bound =
      FindLowerBound(order, blocks, {.time_limit = std::chrono::milliseconds(600'000)});
  CHECK(Lanes(order, blocks).left_out() == 0);
  CHECK(bound.exact);
  CHECK(bound.bytes == 1'000 * 1024);
}

TEST_CASE("on small random traces the bound is the heaviest antichain, by any window") {
  for (uint64_t seed = 1; seed <= 100'000; ++seed) {
    const Facts facts(
        RandomTrace(seed, {.max_steps = 20, .nested = seed % 2 == 0, .memory = true}));
    const MarkerRule rule = seed % 4 < 2 ? MarkerRule::kLastUse : MarkerRule::kAtFree;
    for (size_t g = 0; g < facts.trace.graphs.size(); ++g) {
      const std::vector<BlockId> blocks = facts.Of(GraphId(g));
      if (blocks.empty() || blocks.size() > 14) continue;
      const BlockOrder order = facts.blocks(rule);
      const LowerBound bound = FindLowerBound(order, blocks, {.window = 1 + seed % 5});
      CAPTURE(seed);
      CAPTURE(g);
      CheckCertificate(order, bound);
      REQUIRE(bound.exact);
      REQUIRE(bound.bytes == Heaviest(order, blocks));
      if (rule == MarkerRule::kAtFree) {
        REQUIRE(bound.bytes >= MemoryTimeline(facts.trace, facts.lives).usage()[g].peak_live);
      }
    }
  }
}

TEST_CASE("windows give what one flow over everything gives") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Facts facts(RandomTrace(seed, {.max_streams = 6,
                                         .max_steps = 1500,
                                         .partial_edges = seed % 3 == 0,
                                         .rewinds = seed % 5 == 0,
                                         .nested = false,
                                         .memory = true}));
    const std::vector<BlockId> blocks = facts.Of(GraphId(0u));
    const BlockOrder order = facts.blocks();
    const LowerBound global = FindLowerBound(order, blocks, {.window = blocks.size() + 1});
    const LowerBound windowed = FindLowerBound(order, blocks, {.window = 8});
    CAPTURE(seed);
    CAPTURE(blocks.size());
    CheckCertificate(order, windowed);
    REQUIRE(windowed.bytes == global.bytes);
  }
}

TEST_CASE("past its time limit the bound is valid and says that it may not be the best") {
  const Facts facts(RandomTrace(7, {.max_steps = 4000, .nested = false, .memory = true}));
  const BlockOrder order = facts.blocks();
  const auto blocks = facts.Of(GraphId(0u));
  const LowerBound hasty =
      FindLowerBound(order, blocks, {.time_limit = std::chrono::milliseconds(-1), .window = 4});
  CheckCertificate(order, hasty);
  CHECK(hasty.bytes > 0);
  CHECK(hasty.bytes <= FindLowerBound(order, blocks).bytes);
}

}  // namespace
}  // namespace graphkit
