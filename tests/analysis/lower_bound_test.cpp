#include "libgraphkit/analysis/lower_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/model/build_trace.h"
#include "tests/analysis/random_trace.h"

namespace graphkit {
namespace {

struct Facts {
  explicit Facts(Trace made) : trace(std::move(made)), order(BuildOrder(trace)) {
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

  Trace trace;
  graphkit::Order order;
  Lifetimes lives;
};

Bytes Rounded(const Trace& trace, BlockId block) {
  return RoundUp(trace[block].size, kBlockGranularity);
}

// The heaviest antichain among few blocks, by trying all sets.
Bytes Heaviest(const BlockOrder& order, const std::vector<BlockId>& blocks) {
  std::vector<uint32_t> conflicts(blocks.size());
  for (size_t x = 0; x < blocks.size(); ++x) {
    for (size_t y = 0; y < blocks.size(); ++y) {
      if (x != y && order.Conflict(blocks[x], blocks[y])) conflicts[x] |= 1u << y;
    }
  }
  Bytes best = 0;
  for (uint32_t set = 0; set < 1u << blocks.size(); ++set) {
    Bytes weight = 0;
    bool pairwise = true;
    for (size_t x = 0; x < blocks.size() && pairwise; ++x) {
      if ((set >> x & 1) == 0) continue;
      weight += Rounded(order.trace(), blocks[x]);
      pairwise = (set & ~conflicts[x] & ~(1u << x)) == 0;
    }
    if (pairwise) best = std::max(best, weight);
  }
  return best;
}

void CheckCertificate(const BlockOrder& order, const LowerBound& bound) {
  Bytes sum = 0;
  for (const BlockId x : bound.blocks) {
    sum += Rounded(order.trace(), x);
    for (const BlockId y : bound.blocks) REQUIRE((x == y || order.Conflict(x, y)));
  }
  REQUIRE(sum == bound.bytes);
}

//     a:  x ── k ── free x   z ── k ── free z        x and z may share; y lives beside both
//     b:  y ────── k ────────────────────── free y
TEST_CASE("blocks of two streams that nothing orders add up") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  const GraphId graph = t.BeginCapture(a);
  t.Order(a, b);
  const BlockId x = t.Alloc(a, 1024);
  t.Kernel(a, "k", {Writes(x)});
  t.Free(x);
  const BlockId y = t.Alloc(b, 4096);
  t.Kernel(b, "k", {Writes(y)});
  t.Free(y);
  const BlockId z = t.Alloc(a, 2000);
  t.Kernel(a, "k", {Writes(z)});
  t.Free(z);
  t.EndCapture(a);
  const Facts facts(t.Build());
  CHECK(FindLowerBound(facts.blocks(), facts.Of(graph)) ==
        LowerBound{.bytes = 4096 + 2048, .exact = true, .blocks = {y, z}});
}

TEST_CASE("on small random traces the bound is the heaviest antichain, by any window") {
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    const Facts facts(
        RandomTrace(seed, {.max_steps = 30, .nested = seed % 2 == 0, .memory = true}));
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
