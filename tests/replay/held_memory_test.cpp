#include "libgraphkit/replay/held_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/analysis/facts.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// Graphs captured one after the other into two pools, whose blocks live for a while or for ever.
Trace RandomCaptures(std::mt19937_64& random) {
  const auto pick = [&](uint64_t end) { return random() % end; };
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const PoolId pools[] = {t.Pool(PoolKind::kPrivate), t.Pool(PoolKind::kPrivate)};
  struct Room {
    SegmentId segment;
    PoolId pool;
    Bytes used = 0;
  };
  std::vector<Room> rooms;
  std::vector<BlockId> living;
  for (uint64_t graph = 0; graph < 1 + pick(8); ++graph) {
    t.BeginCapture(stream);
    for (uint64_t i = 0; i < pick(12); ++i) {
      if (pick(3) == 0 && !living.empty()) {
        const size_t place = pick(living.size());
        t.Free(living[place]);
        living.erase(living.begin() + static_cast<ptrdiff_t>(place));
        continue;
      }
      const PoolId pool = pools[pick(2)];
      t.SetPool(pool);
      auto room = std::ranges::find_if(
          rooms, [&](const Room& r) { return r.pool == pool && r.used + 8192 <= 65536; });
      if (room == rooms.end()) {
        room = rooms.insert(rooms.end(), {t.Segment(pool, 65536, stream), pool});
      }
      const Bytes size = 512 * (1 + pick(8));
      const Address begin = t.trace()[room->segment].address + room->used;
      living.push_back(t.AllocAt(stream, size, begin, room->segment));
      t.Kernel(stream, "k", {Writes(living.back())});
      room->used += 8192;
    }
    t.EndCapture(stream);
    if (pick(4) == 0 && !rooms.empty()) {
      t.FreeSegment(rooms.back().segment);
      rooms.pop_back();
    }
  }
  return t.Build();
}

// Every segment and every block is looked at for each graph: where each segment lies, and how many
// bytes are free in all.
struct SlowHeld {
  std::vector<std::pair<SegmentId, Bytes>> begins;
  Bytes free = 0;
};
SlowHeld SlowBefore(const Trace& trace, GraphId graph, PoolId pool) {
  SlowHeld held;
  Bytes end = 0;
  const auto capture = std::ranges::find(trace.captures, graph, &Capture::graph);
  for (size_t s = 0; s < trace.segments.size(); ++s) {
    const Segment& segment = trace.segments[s];
    const bool there = segment.allocated < capture->begin && segment.freed > capture->begin;
    if (segment.pool != pool || !there) continue;
    held.begins.emplace_back(s, end);
    end += RoundUp(segment.size, kSegmentAlignment);
    held.free += segment.size;
    for (const Block& block : trace.blocks) {
      if (block.segment != SegmentId(s) || block.pool != pool) continue;
      const bool lives = block.allocated < capture->begin && block.free_completed > capture->begin;
      if (lives) held.free -= RoundedSize(block);
    }
  }
  return held;
}

TEST_CASE("a pool holds before each capture what a look at all of the trace finds") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  CAPTURE(seed);
  size_t held_some = 0;
  for (int round = 0; round < RandomRounds(300); ++round) {
    CAPTURE(round);
    const Trace trace = RandomCaptures(random);
    const Facts facts(trace);
    const PoolHistory history(trace, facts.blocks());
    for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
      for (const BlockId block : facts.blocks()[graph]) {
        const PoolId pool = trace[block].pool;
        // Every rest is a hole of its own: nothing is too small to be split off.
        const HeldMemory found =
            history.Before(GraphId(graph), pool, {.small_size = 0, .small_segment = 1 << 30});
        const SlowHeld expected = SlowBefore(trace, GraphId(graph), pool);
        REQUIRE(found.begins == expected.begins);
        Bytes free = 0;
        for (const MemoryHole& hole : found.holes) free += hole.size;
        REQUIRE(free == expected.free);
        held_some += !found.begins.empty();
      }
    }
  }
  CHECK(held_some > 100);
}

TEST_CASE("what is looked at doesn't grow with graphs times blocks") {
  const auto looks = [](size_t graphs) {
    TraceBuilder t;
    const StreamId stream = t.Stream();
    const PoolId pool = t.Pool(PoolKind::kPrivate);
    t.SetPool(pool);
    const SegmentId segment = t.Segment(pool, 1 << 20, stream);
    const Address begin = t.trace()[segment].address;
    for (size_t graph = 0; graph < graphs; ++graph) {
      t.BeginCapture(stream);
      const BlockId block = t.AllocAt(stream, 4096, begin, segment);
      t.Kernel(stream, "k", {Writes(block)});
      t.Free(block);
      t.EndCapture(stream);
    }
    const Trace trace = t.Build();
    return PoolHistory(trace, Facts(trace).blocks()).looks();
  };
  CHECK(looks(1000) <= 10 * looks(100) + 10);
  CHECK(looks(100) <= 10 * looks(10) + 10);
}

}  // namespace
}  // namespace graphkit
