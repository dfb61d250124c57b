#include "plugins/torch_allocator/live_pool.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plugins/torch_allocator/live_graph.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr size_t kA = 0, kB = 1;

// A pool and one capture with two streams.
struct Case {
  BumpDriver driver;
  LivePool pool{{}, &driver};
  LiveGraph graph{2};

  BlockId Malloc(size_t stream, Bytes size = 4 * kMiB) {
    const std::optional<BlockId> block = pool.Malloc(size, graph.Asker(stream));
    REQUIRE(block);
    return *block;
  }
  std::optional<BlockId> MallocAt(PlanArena* arena, Bytes offset, bool trusted = false) {
    return pool.MallocAt(arena, offset, 1024, graph.Asker(kA), trusted);
  }
  // Freed, when the streams have used it so far.
  void Free(BlockId block, const std::vector<size_t>& streams) {
    std::vector<NodeId> markers;
    for (const size_t stream : streams) {
      REQUIRE(graph.order().AddMarkers(graph.frontier(stream), 0, &markers));
    }
    pool.Free(block, graph.id(), markers);
  }
  Address at(BlockId block) const { return pool.address(block); }
};

// The drawing of live_pool.h.
TEST_CASE("a block goes to any stream once all its streams' work is before it") {
  Case c;
  const BlockId x = c.Malloc(kA);
  c.graph.Launch(kA);
  c.graph.Wait(kB, kA);
  c.graph.Launch(kB);
  c.Free(x, {kA, kB});
  const BlockId early = c.Malloc(kA);
  CHECK(c.at(early) != c.at(x));
  CHECK_FALSE(c.pool.completed(x));
  c.graph.Wait(kA, kB);
  CHECK(c.at(c.Malloc(kA)) == c.at(x));
  CHECK(c.pool.completed(x));
  CHECK(c.pool.TakeCompleted() == std::vector{x});
  CHECK(c.pool.TakeCompleted().empty());
  CHECK(c.pool.figures() == LivePoolFigures{.reserved = 20 * kMiB,
                                            .used = 8 * kMiB,
                                            .peak_used = 8 * kMiB,
                                            .mallocs = 3,
                                            .found = 1,
                                            .deferred = 0,
                                            .deferred_bytes = 0});
}

// Each round stream B may take the hole that A has left, and A gets nothing of B's back.
TEST_CASE(
    "a stream's small blocks lie where its own lay, not in every hole of another's large ones") {
  Case c;
  constexpr Bytes kRounds = 6;
  for (Bytes round = 0; round < kRounds; ++round) {
    const BlockId kept = c.Malloc(kA, kMiB);
    const BlockId hole = c.Malloc(kA, kMiB);
    c.graph.Launch(kA);
    c.Free(hole, {kA});
    c.graph.Wait(kB, kA);
    const BlockId small = c.Malloc(kB, 512);
    c.graph.Launch(kB);
    c.Free(small, {kB});
    c.Free(kept, {kA, kB});
  }
  CHECK(c.pool.figures().reserved == (kRounds + 2) * kMiB);  // the hole, and the one with B's block
}

TEST_CASE("what a stream may take is found when it moves on, without a malloc") {
  Case c;
  const BlockId x = c.Malloc(kA);
  c.graph.Launch(kB);
  c.Free(x, {kB});
  c.pool.Progress(c.graph.Asker(kA));
  CHECK_FALSE(c.pool.completed(x));
  c.graph.Wait(kA, kB);
  c.pool.Progress(c.graph.Asker(kA));
  CHECK(c.pool.completed(x));
}

TEST_CASE("what is still held back when a capture ends is anybody's afterwards") {
  Case c;
  const BlockId x = c.Malloc(kA);
  const BlockId y = c.Malloc(kA);
  c.graph.Launch(kB);
  c.Free(x, {kB});
  c.pool.FreeAtEnd(y, c.graph.id());
  c.graph.Wait(kA, kB);
  CHECK(c.at(c.Malloc(kA)) == c.at(x));
  CHECK(c.at(c.Malloc(kA)) != c.at(y));  // it waits for the end, whatever is joined
  c.pool.EndCapture(c.graph.id());
  CHECK(c.pool.figures().found == 1);
  CHECK(c.pool.figures().deferred == 1);
  CHECK(c.pool.figures().deferred_bytes == 4 * kMiB);
  LiveGraph next(1, EdgeRule::kCompletion, 2);
  const std::optional<BlockId> z = c.pool.Malloc(4 * kMiB, next.Asker(0));
  CHECK(c.at(*z) == c.at(y));
}

TEST_CASE("a block that is freed outside of captures is anybody's at once") {
  Case c;
  const BlockId x = c.Malloc(kA);
  const BlockId y = c.Malloc(kA);
  c.pool.FreeNow(x);
  CHECK(c.pool.completed(x));
  CHECK(c.at(c.Malloc(kB)) == c.at(x));
  c.pool.Free(y, 7, {});  // no such capture has begun
  CHECK(c.at(c.Malloc(kB)) == c.at(y));
}

TEST_CASE("a capture isn't given what another one has freed and not ended") {
  Case c;
  const BlockId x = c.Malloc(kA);
  c.graph.Launch(kA);
  c.Free(x, {kA});
  LiveGraph other(1, EdgeRule::kCompletion, 2);
  CHECK(c.at(*c.pool.Malloc(4 * kMiB, other.Asker(0))) != c.at(x));
  c.pool.EndCapture(c.graph.id());
  CHECK(c.at(*c.pool.Malloc(4 * kMiB, other.Asker(0))) == c.at(x));
}

TEST_CASE("a stream that was set back is given nothing more of its capture") {
  Case c;
  c.graph.Launch(kA);
  const LiveGraph::Frontier before = c.graph.frontier(kA);
  const BlockId x = c.Malloc(kA);
  c.graph.Launch(kA);
  c.pool.Progress(c.graph.Asker(kA));
  c.Free(x, {kA});
  c.graph.frontier(kA) = before;
  CHECK(c.at(c.Malloc(kA)) != c.at(x));
  c.graph.Launch(kA);
  CHECK(c.at(c.Malloc(kA)) != c.at(x));
  c.graph.Launch(kB);
  c.graph.Wait(kB, kA);
  CHECK_FALSE(c.pool.completed(x));
}

TEST_CASE("streams beyond the fifteenth get memory, but nothing that was freed in their capture") {
  BumpDriver driver;
  LivePool pool({}, &driver);
  LiveGraph graph(17);
  for (size_t stream = 0; stream < graph.streams(); ++stream) pool.Progress(graph.Asker(stream));
  const auto block_of = [&](size_t stream) { return *pool.Malloc(4 * kMiB, graph.Asker(stream)); };
  const BlockId x = block_of(0);
  pool.Free(x, graph.id(), {});
  CHECK(pool.address(block_of(15)) != pool.address(x));
  CHECK(pool.address(block_of(16)) != pool.address(x));
  CHECK(pool.address(block_of(14)) == pool.address(x));
}

TEST_CASE("of the stretches that a stream may have it gets the smallest, the lowest of equals") {
  Case c;
  std::vector<BlockId> blocks;
  for (const Bytes size : {4u, 2u, 2u, 2u, 2u, 3u}) blocks.push_back(c.Malloc(kA, size * kMiB));
  for (const size_t freed : {0u, 2u, 4u}) c.pool.FreeNow(blocks[freed]);
  CHECK(c.at(c.Malloc(kA, 2 * kMiB)) == c.at(blocks[2]));
  CHECK(c.at(c.Malloc(kA, 2 * kMiB)) == c.at(blocks[4]));
  CHECK(c.at(c.Malloc(kA, 2 * kMiB)) == c.at(blocks[0]));
}

// docs/torch-allocator.md: to 512 B; up to 1 MiB in 2 MiB, below 10 MiB in 20, else their own size.
TEST_CASE("segments are those of the caching allocator, and go back together") {
  Case c;
  const auto reserved_by = [&](Bytes size) {
    const Bytes before = c.pool.figures().reserved;
    const BlockId block = c.Malloc(kA, size);
    CHECK(c.pool.size(block) == (size + 511) / 512 * 512);
    return c.pool.figures().reserved - before;
  };
  CHECK(reserved_by(1) == 2 * kMiB);
  CHECK(reserved_by(kMiB - 511) == 0);
  CHECK(reserved_by(kMiB + 1) == 20 * kMiB);
  CHECK(reserved_by(11 * kMiB) == 0);
  CHECK(reserved_by(11 * kMiB) == 12 * kMiB);
  REQUIRE(c.pool.AddArena(kMiB) != nullptr);
  CHECK(c.driver.used() == c.pool.figures().reserved);
  CHECK(c.pool.figures().reserved == 35 * kMiB);
  for (uint32_t block = 0; block < 5; ++block) c.pool.FreeNow(BlockId(block));
  CHECK_FALSE(c.pool.in_use());
  c.pool.Release();
  CHECK(c.driver.used() == 0);
  CHECK(c.pool.figures().reserved == 0);
  CHECK(reserved_by(1) == 2 * kMiB);
}

TEST_CASE("what the driver refuses is refused, and nothing changes") {
  BumpDriver driver(20 * kMiB);
  LivePool pool({}, &driver);
  LiveGraph graph(1);
  REQUIRE(pool.Malloc(4 * kMiB, graph.Asker(0)));
  const LivePoolFigures before = pool.figures();
  CHECK_FALSE(pool.Malloc(18 * kMiB, graph.Asker(0)));
  CHECK(pool.AddArena(1) == nullptr);
  CHECK(pool.figures() == before);
  CHECK(pool.Malloc(16 * kMiB, graph.Asker(0)));
}

TEST_CASE("a plan's place is refused while a block lies there, or isn't known to be over") {
  Case c;
  PlanArena* arena = c.pool.AddArena(4096);
  const std::optional<BlockId> x = c.MallocAt(arena, 1024);
  REQUIRE(x);
  CHECK(c.at(*x) == arena->address() + 1024);
  const LivePoolFigures before = c.pool.figures();
  CHECK_FALSE(c.MallocAt(arena, 1536));
  CHECK_FALSE(c.MallocAt(arena, 1536, true));  // trusted or not, it is in use
  CHECK_FALSE(c.MallocAt(arena, 3584));        // doesn't fit in
  CHECK(c.pool.figures() == before);
  CHECK(c.MallocAt(arena, 2048));

  c.graph.Launch(kB);
  c.Free(*x, {kB});
  CHECK_FALSE(c.MallocAt(arena, 512));
  c.graph.Wait(kA, kB);
  CHECK(c.MallocAt(arena, 512));
  CHECK(c.pool.completed(*x));
  CHECK(c.pool.figures().found == 1);
}

TEST_CASE("a block at a plan's place is over as soon as its own stream may take it") {
  Case c;
  PlanArena* arena = c.pool.AddArena(4096);
  const std::optional<BlockId> x = c.MallocAt(arena, 0);
  REQUIRE(x);
  c.graph.Launch(kA);
  c.Free(*x, {kA});
  CHECK_FALSE(c.pool.completed(*x));
  REQUIRE(c.MallocAt(arena, 1024));
  CHECK(c.pool.completed(*x));
  c.pool.EndCapture(c.graph.id());
  CHECK(c.pool.figures().deferred == 0);
}

TEST_CASE("a trusted plan is believed that what was freed is over, an untrusted one not") {
  Case c;
  PlanArena* arena = c.pool.AddArena(2048);
  c.pool.FreeAtEnd(*c.MallocAt(arena, 0), c.graph.id());
  CHECK_FALSE(c.MallocAt(arena, 0));
  CHECK(c.MallocAt(arena, 0, true));

  c.pool.FreeAtEnd(*c.MallocAt(arena, 1024), c.graph.id());
  c.pool.EndCapture(c.graph.id());
  CHECK(c.MallocAt(arena, 1024));
}

}  // namespace
}  // namespace graphkit
