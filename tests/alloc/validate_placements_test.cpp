#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/random.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"

namespace graphkit {
namespace {

// Every pair, looked at.
bool Safe(const BlockOrder& order, const std::vector<PlacedBlock>& blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      const PlacedBlock &a = blocks[i], &b = blocks[j];
      const bool share = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
      if (share && a.size > 0 && b.size > 0 && order.Conflict(a.block, b.block)) return false;
    }
  }
  return true;
}

TEST_CASE("the sweep finds a fault exactly where a look at every pair does, under random shifts") {
  size_t faults = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 60, .nested = seed % 2 == 0, .memory = true});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    Random random(seed);
    for (const GraphReplay& graph : ReplayTrace(facts, PolicyKind::kReuse).graphs) {
      for (const ReplayedPool& pool : graph.pools) {
        CAPTURE(seed);
        REQUIRE(Safe(order, pool.arena));
        REQUIRE(ValidatePlacements(order, pool.arena).empty());
        if (pool.arena.empty()) continue;
        std::vector<PlacedBlock> moved = pool.arena;
        PlacedBlock& one = moved[random.Below(moved.size())];
        one.offset = random.Below(4) * 512;
        const std::vector<UnsafePair> unsafe = ValidatePlacements(order, moved);
        REQUIRE(unsafe.empty() == Safe(order, moved));
        for (const UnsafePair& pair : unsafe) REQUIRE(order.Conflict(pair.earlier, pair.later));
        faults += unsafe.empty() ? 0 : 1;
      }
    }
  }
  CHECK(faults > 100);
}

}  // namespace
}  // namespace graphkit
