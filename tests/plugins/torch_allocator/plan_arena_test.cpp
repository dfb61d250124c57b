#include "plugins/torch_allocator/live_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Address kBase = 0x10000;

std::function<bool(BlockId)> All() {
  return [](BlockId) { return true; };
}
std::function<bool(BlockId)> None() {
  return [](BlockId) { return false; };
}
// Keeps the blocks that were asked about.
std::function<bool(BlockId)> Note(std::vector<BlockId>* asked) {
  return [asked](BlockId last) {
    asked->push_back(last);
    return true;
  };
}

// The drawing of live_pool.h.
TEST_CASE("a block is put where two lay if both may be followed") {
  const BlockId a(0u), b(1u), c(2u);
  for (const BlockId kept : {a, b}) {
    PlanArena arena(kBase, 8);
    REQUIRE(arena.Take(0, 4, a, None()));
    REQUIRE(arena.Take(4, 4, b, None()));
    CHECK_FALSE(arena.Take(2, 4, c, [&](BlockId last) { return last != kept; }));
    CHECK(arena.Take(2, 4, c, All()));
    std::vector<BlockId> asked;
    CHECK(arena.Take(0, 8, BlockId(3u), Note(&asked)));
    CHECK(asked == std::vector{a, c, b});
  }
}

TEST_CASE("what doesn't fit into the arena is refused, and no block is asked about") {
  PlanArena arena(kBase, 8);
  CHECK(arena.address() == kBase);
  CHECK(arena.size() == 8);
  REQUIRE(arena.Take(0, 8, BlockId(0u), None()));
  std::vector<BlockId> asked;
  CHECK_FALSE(arena.Take(4, 5, BlockId(1u), Note(&asked)));
  CHECK_FALSE(arena.Take(9, 1, BlockId(1u), Note(&asked)));
  CHECK_FALSE(arena.Take(4, ~Bytes{0}, BlockId(1u), Note(&asked)));
  CHECK(asked.empty());
  CHECK(arena.Take(7, 1, BlockId(1u), Note(&asked)));
}

TEST_CASE("neighbours aren't asked about") {
  PlanArena arena(kBase, 12);
  REQUIRE(arena.Take(0, 4, BlockId(0u), None()));
  REQUIRE(arena.Take(8, 4, BlockId(1u), None()));
  CHECK(arena.Take(4, 4, BlockId(2u), None()));
}

// The blocks that lay last in some bytes, of all bytes one by one.
std::vector<BlockId> LastIn(const std::vector<BlockId>& bytes, size_t from, size_t to) {
  std::vector<BlockId> last;
  for (size_t i = from; i < to; ++i) {
    if (bytes[i].valid() && std::ranges::find(last, bytes[i]) == last.end()) {
      last.push_back(bytes[i]);
    }
  }
  return last;
}

TEST_CASE("at random places the blocks that lay there last are asked about, and all must be over") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(300); ++round) {
    CAPTURE(round);
    constexpr size_t kSize = 24;
    PlanArena arena(kBase, kSize);
    std::vector<BlockId> bytes(kSize);
    for (uint32_t block = 0; block < 40; ++block) {
      const size_t from = random() % kSize, size = 1 + random() % (kSize - from);
      const uint64_t over = random() | random();  // the blocks that may be followed
      const auto may_follow = [&](BlockId last) { return (over >> last.value % 64 & 1) != 0; };
      const bool expected = std::ranges::all_of(LastIn(bytes, from, from + size), may_follow);
      CAPTURE(block);
      REQUIRE(arena.Take(from, size, BlockId(block), may_follow) == expected);
      if (expected) std::fill_n(bytes.begin() + static_cast<int>(from), size, BlockId(block));
    }
  }
}

}  // namespace
}  // namespace graphkit
