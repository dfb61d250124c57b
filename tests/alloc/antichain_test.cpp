// The bound of a plan, found by two other methods than the library's flow along lanes: by a flow on
// the whole order, pair by pair, and on small orders by trying every set of conflicting blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "tests/analysis/random_trace.h"
#include "tests/generate/synth.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// Blocks with their sizes, and which of them are before which.
struct SmallOrder {
  std::vector<BlockId> blocks;
  std::vector<Bytes> sizes;
  std::vector<std::vector<bool>> before;

  bool Conflict(size_t x, size_t y) const { return !before[x][y] && !before[y][x]; }
};

SmallOrder OrderOf(const BlockOrder& order, const PlannedMemory& plan, uint32_t arena) {
  SmallOrder small;
  for (const Placement& placed : plan.placements) {
    if (placed.arena != arena) continue;
    small.blocks.emplace_back(placed.block);
    small.sizes.push_back(placed.size);
  }
  for (const BlockId x : small.blocks) {
    std::vector<bool>& row = small.before.emplace_back();
    for (const BlockId y : small.blocks) row.push_back(order.Before(x, y));
  }
  return small;
}

// Each block hands its bytes on to blocks after it, and takes no more than its size. What can't be
// handed on is the heaviest antichain (the weighted form of Dilworth's theorem).
class ClosureFlow {
 public:
  explicit ClosureFlow(const SmallOrder& order)
      : order_(order),
        left_(order.sizes),
        room_(order.sizes),
        given_(order.sizes.size(), std::vector<Bytes>(order.sizes.size())) {}

  Bytes Antichain() {
    Bytes sum = 0;
    for (size_t x = 0; x < left_.size(); ++x) {
      sum += order_.sizes[x];
      while (left_[x] > 0) {
        seen_.assign(left_.size(), false);
        const Bytes bytes = Give(x, left_[x]);
        if (bytes == 0) break;
        left_[x] -= bytes;
        sum -= bytes;
      }
    }
    return sum;
  }

 private:
  // Hands on so many bytes of x: to what has room, or gives something of its own back.
  Bytes Give(size_t x, Bytes bytes) {
    for (size_t y = 0; y < room_.size(); ++y) {
      if (!order_.before[x][y] || seen_[y]) continue;
      seen_[y] = true;
      if (room_[y] > 0) return Move(x, y, std::min(bytes, room_[y]), &room_[y]);
      for (size_t other = 0; other < room_.size(); ++other) {
        if (given_[other][y] == 0 || other == x) continue;
        const Bytes moved = Give(other, std::min(bytes, given_[other][y]));
        if (moved > 0) return Move(x, y, moved, &given_[other][y]);
      }
    }
    return 0;
  }
  Bytes Move(size_t x, size_t y, Bytes bytes, Bytes* from) {
    *from -= bytes;
    given_[x][y] += bytes;
    return bytes;
  }

  const SmallOrder& order_;
  std::vector<Bytes> left_, room_;
  std::vector<std::vector<Bytes>> given_;  // by giver and taker
  std::vector<bool> seen_;
};

// Of all sets of conflicting blocks that go on from `chosen` with blocks from `next` on.
Bytes HeaviestByTrying(const SmallOrder& order, std::vector<size_t>* chosen, size_t next) {
  Bytes heaviest = 0;
  for (const size_t x : *chosen) heaviest += order.sizes[x];
  for (size_t x = next; x < order.sizes.size(); ++x) {
    const auto conflicts = [&](size_t other) { return order.Conflict(x, other); };
    if (!std::ranges::all_of(*chosen, conflicts)) continue;
    chosen->push_back(x);
    heaviest = std::max(heaviest, HeaviestByTrying(order, chosen, x + 1));
    chosen->pop_back();
  }
  return heaviest;
}

void CheckHeaviest(const SmallOrder& order, const PlannedArena& arena) {
  Bytes sum = 0;
  std::vector<size_t> members;
  for (const BlockId block : arena.heaviest) {
    const auto at = std::ranges::find(order.blocks, block);
    REQUIRE(at != order.blocks.end());
    members.push_back(static_cast<size_t>(at - order.blocks.begin()));
    sum += order.sizes[members.back()];
  }
  CHECK(sum == arena.lower_bound);
  for (const size_t x : members) {
    for (const size_t y : members) CHECK((x == y || order.Conflict(x, y)));
  }
}

TEST_CASE("the heaviest antichain of random orders by trying all, and by a flow on the closure") {
  const uint64_t first = RandomSeed();
  size_t tried = 0, large = 0;
  for (int round = 0; round < RandomRounds(4'000); ++round) {
    const uint64_t seed = first + static_cast<uint64_t>(round);
    CAPTURE(seed);
    const bool small = round % 8 != 0;
    const Ran trace = small ? RandomTrace(seed, {.max_steps = 24,
                                                 .nested = round % 2 == 0,
                                                 .memory = true,
                                                 .pools = true,
                                                 .allocator_steps = 0.4})
                            : Synthesize({.ops = 120,
                                          .streams = 2 + static_cast<uint32_t>(seed % 7),
                                          .alloc = 0.5,
                                          .free = 0.4,
                                          .seed = seed});
    const Facts facts(trace);
    const MarkerRule rule = round % 3 == 0 ? MarkerRule::kAtFree : MarkerRule::kLastUse;
    const PlannedMemory plan = PlanTrace(facts, rule, {.search = {.effort = 0}});
    for (uint32_t arena = 0; arena < plan.arenas.size(); ++arena) {
      const SmallOrder order = OrderOf(facts.Blocks(rule), plan, arena);
      CheckHeaviest(order, plan.arenas[arena]);
      CHECK(ClosureFlow(order).Antichain() == plan.arenas[arena].lower_bound);
      if (order.blocks.size() > 16) {
        ++large;
        continue;
      }
      std::vector<size_t> chosen;
      CHECK(HeaviestByTrying(order, &chosen, 0) == plan.arenas[arena].lower_bound);
      ++tried;
    }
  }
  CHECK(tried > 1'000);
  CHECK(large > 100);
}

}  // namespace
}  // namespace graphkit
