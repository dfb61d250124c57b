// The rules by which an allocator's addresses are predicted, each worked out by hand.
#include <doctest/doctest.h>

#include "libgraphkit/alloc/recorded/recorded_run.h"
#include "tests/alloc/recorded_score.h"
#include "tests/alloc/snapshot_recorder.h"

namespace graphkit {
namespace {

// Two free segments, of which the first was free for longer when recording began: it is collected.
TEST_CASE("which of the segments of the start are collected as garbage is left open") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  Recorder recorder({.memory_limit = 150 * kMiB, .garbage_collection_threshold = 0.5},
                    Bytes{900} << 20, 1);
  const auto first = recorder.Malloc(28 * kMiB, 1, 0);
  const auto second = recorder.Malloc(24 * kMiB, 1, 0);
  REQUIRE((first && second && recorder.Malloc(30 * kMiB, 1, 0) && recorder.Malloc(2 * kMiB, 2, 0)));
  recorder.Free(*first);
  for (int search = 0; search < 4; ++search) REQUIRE(recorder.Malloc(2 * kMiB, 2, 0));
  recorder.Free(*second);
  REQUIRE(recorder.Malloc(40 * kMiB, 2, 0));
  const TorchSnapshot s = recorder.Take(3);
  REQUIRE(s.events.front().action == TorchAction::kSegmentFree);
  CHECK(Score(s) == PredictionScore{.addresses = 1,
                                    .addresses_hit = 1,
                                    .segments = 1,
                                    .segments_hit = 1,
                                    .misses = {},
                                    .not_judged = {.age_unknown = 1, .why_unknown = {}}});
}

TEST_CASE("a pool whose blocks are never split is told by what it does") {
  for (const size_t keep : {1000u, 7u}) {
    CAPTURE(keep);
    Recorder recorder({}, Bytes{900} << 20, 3, {.no_split = true});
    const auto first = recorder.Malloc(25'000, 1, 1);
    const auto second = recorder.Malloc(Bytes{3} << 20, 1, 2);
    REQUIRE((first && second && recorder.Malloc(512, 1, 0)));
    recorder.Free(*first);
    recorder.Free(*second);
    REQUIRE(recorder.Malloc(800'000, 1, 1));         // takes the first one's segment, all of it
    REQUIRE(recorder.Malloc(100, 1, 1));             // gets another one
    REQUIRE(recorder.Malloc(Bytes{5} << 20, 1, 2));  // takes the second one's
    const TorchSnapshot s = recorder.Take(keep);
    CHECK(JudgedRightly(s) == AllocationsIn(s));
  }
}

// Recording begins when a block of 5 MiB has taken three free pages of 20 MiB, or one.
TEST_CASE("a block that is never split may have more pages than it needs when recording begins") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  for (const Bytes taken : {60 * kMiB, 20 * kMiB}) {
    CAPTURE(taken);
    Recorder recorder({.expandable_segments = true}, 900 * kMiB, 2, {.no_split = true});
    const auto first = recorder.Malloc(taken, 1, 1);
    const auto rest = recorder.Malloc(60 * kMiB - taken, 1, 1);
    REQUIRE((first && (rest || taken == 60 * kMiB)));
    recorder.Free(*first);
    const auto large = recorder.Malloc(5 * kMiB, 1, 1);
    if (taken < 60 * kMiB) recorder.Free(*rest);
    const auto next = recorder.Malloc(7 * kMiB, 1, 1);
    REQUIRE((large && next && recorder.AddressOf(*next) == recorder.AddressOf(*large) + taken));
    recorder.Free(*large);
    REQUIRE(recorder.Malloc(18 * kMiB, 1, 1));
    recorder.Free(*next);
    REQUIRE(recorder.Malloc(40 * kMiB, 1, 1));
    const TorchSnapshot s = recorder.Take(taken == 60 * kMiB ? 9 : 8);
    REQUIRE(AllocationsIn(s) == 3);
    CHECK(JudgedRightly(s) == AllocationsIn(s));
  }
}

// torch.cuda.graph empties the cache, then the capture gets its first segment, on its own stream.
TEST_CASE("what was freed before a capture's first allocation is empty_cache's") {
  for (const Bytes size : {Bytes{1000}, Bytes{6} << 20}) {
    Recorder recorder({}, Bytes{900} << 20, 2);
    const auto warm = recorder.Malloc(Bytes{8} << 20, 1, 0);
    const auto kept = recorder.Malloc(512, 1, 0);
    REQUIRE((warm && kept));
    recorder.RequestFree(*warm);
    recorder.CompleteFree(*warm);
    recorder.EmptyCache();
    REQUIRE(recorder.Malloc(size, 2, 1).has_value());
    const TorchSnapshot s = recorder.Take(1000);
    CHECK(JudgedRightly(s) == 3);
  }
}

TEST_CASE("where a pool's checkpoint is restored, its blocks are placed as it says") {
  Recorder recorder({}, Bytes{900} << 20, 2);
  const auto a = recorder.Malloc(512, 1, 1);
  const auto b = recorder.Malloc(512, 1, 1);
  REQUIRE((a && b));
  const Address begin = recorder.AddressOf(*a);
  recorder.Free(*a);
  recorder.Free(*b);
  const BlockHandle first = recorder.Restore(begin, 512, 1, 1);
  recorder.Restore(begin + 512, 1024, 1, 1);
  const BlockHandle rest = recorder.Restore(begin + 1536, (Bytes{2} << 20) - 1536, 1, 1);
  recorder.Free(rest);
  recorder.Free(first);
  REQUIRE(recorder.Malloc(1000, 1, 1).has_value());  // behind the one that is live
  REQUIRE(recorder.Malloc(300, 1, 1).has_value());   // before it
  const PredictionScore score = Score(recorder.Take(1000));
  CHECK(score == PredictionScore{.addresses = 6,
                                 .addresses_hit = 6,
                                 .segments = 1,
                                 .segments_hit = 1,
                                 .misses = {},
                                 .not_judged = {.restored = 1, .why_unknown = {}}});
}

// The first of two equal segments is restored as an ordinary allocation would be placed.
TEST_CASE("where a pool's checkpoint is restored, segments of one block are as it says as well") {
  constexpr Bytes kSize = Bytes{20} << 20;
  Recorder recorder({}, Bytes{900} << 20, 2);
  const auto a = recorder.Malloc(kSize, 1, 1);
  const auto b = recorder.Malloc(kSize, 1, 1);
  REQUIRE((a && b));
  const Address first = recorder.AddressOf(*a);
  const Address second = recorder.AddressOf(*b);
  recorder.Free(*a);
  recorder.Free(*b);
  recorder.Free(recorder.Restore(first, kSize, 1, 1));
  recorder.Free(recorder.Restore(second, kSize, 1, 1));
  CHECK(Score(recorder.Take(1000)) ==
        PredictionScore{.addresses = 3,
                        .addresses_hit = 3,
                        .segments = 2,
                        .segments_hit = 2,
                        .misses = {},
                        .not_judged = {.restored = 1, .why_unknown = {}}});
}

TEST_CASE("where a checkpoint has fewer pages than there are, what is restored ends with its own") {
  constexpr Bytes kKiB = 1024;
  Recorder recorder({.expandable_segments = true}, Bytes{900} << 20, 2);
  const auto a = recorder.Malloc(1024 * kKiB, 1, 1);
  const auto b = recorder.Malloc(1024 * kKiB, 1, 1);
  const auto c = recorder.Malloc(1024 * kKiB, 1, 1);
  REQUIRE((a && b && c));
  const Address begin = recorder.AddressOf(*a);
  for (const auto& block : {a, b, c}) recorder.Free(*block);
  recorder.Restore(begin, 512 * kKiB, 1, 1);
  recorder.Free(recorder.Restore(begin + 512 * kKiB, 1536 * kKiB, 1, 1));
  REQUIRE(recorder.Malloc(300, 1, 1).has_value());
  CHECK(Score(recorder.Take(1000)) ==
        PredictionScore{.addresses = 5,
                        .addresses_hit = 5,
                        .segments = 2,
                        .segments_hit = 2,
                        .misses = {},
                        .not_judged = {.restored = 1, .why_unknown = {}}});
}

TEST_CASE("the segments of a pool whose graph is gone are given back") {
  Recorder recorder({}, Bytes{900} << 20, 3);
  const auto block = recorder.Malloc(Bytes{8} << 20, 1, 2);
  REQUIRE((block && recorder.Malloc(512, 1, 1)));
  recorder.RequestFree(*block);
  recorder.CompleteFree(*block);
  recorder.ReleasePool(2);
  const TorchSnapshot s = recorder.Take(1000);
  REQUIRE(s.events.back().action == TorchAction::kSegmentFree);
  CHECK(JudgedRightly(s) == 2);
}

// The first small block of a stream is the default pool's, the second a pool's that is gone at the
// end: no segment shows that there was one, but what was placed.
TEST_CASE("events that don't name their pools may be of a pool that is gone at the end") {
  Recorder recorder({}, Bytes{900} << 20, 2);
  const auto kept = recorder.Malloc(8, 1, 0);
  const auto captured = recorder.Malloc(1000, 1, 1);
  REQUIRE((kept && captured));
  recorder.Free(*captured);
  recorder.ReleasePool(1);
  REQUIRE(recorder.Malloc(512, 1, 0).has_value());
  TorchSnapshot s = recorder.Take(1000);
  for (TorchEvent& event : s.events) event.pool = TorchEvent::kNoPool;
  s.pools = {{0, 0}};
  CHECK(JudgedRightly(s) == 3);
}

// The pages at 0x7f… are the default pool's until they are unmapped; then its address space is
// given back, and a private pool's comes to lie there. That pool keeps its pages when the cache is
// emptied.
TEST_CASE("pages that don't name their pool may lie where another pool's lie later") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  constexpr Address kFirst = 0x7f0000000000;
  constexpr Address kLarge = 0x7e0000000000;
  TorchSnapshot s;
  const auto event = [&](TorchAction action, Address address, Bytes size) {
    s.events.push_back(
        {.action = action, .pool = TorchEvent::kNoPool, .address = address, .size = size});
  };
  const auto use = [&](Address address, Bytes size, Bytes pages) {
    event(TorchAction::kSegmentMap, address, pages);
    event(TorchAction::kAlloc, address, size);
    event(TorchAction::kFreeRequested, address, size);
    event(TorchAction::kFreeCompleted, address, size);
  };
  use(kFirst, 1000, 2 * kMiB);
  event(TorchAction::kSegmentUnmap, kFirst, 2 * kMiB);
  use(kFirst, 2000, 2 * kMiB);
  use(kLarge, 5 * kMiB, 20 * kMiB);
  event(TorchAction::kSegmentUnmap, kLarge, 20 * kMiB);
  s.settings.expandable_segments = true;
  s.pools = {{0, 0}, {0, 1}};
  s.devices = {{0, static_cast<uint32_t>(s.events.size())}};
  s.segments = {{.address = kFirst,
                 .total_size = 2 * kMiB,
                 .pool = 1,
                 .small = true,
                 .expandable = true,
                 .blocks = {0, 1}}};
  s.blocks = {{kFirst, 2 * kMiB, 0, TorchBlockState::kInactive, {}}};
  CHECK(Score(s) ==
        PredictionScore{
            .addresses = 3, .addresses_hit = 3, .segments = 5, .segments_hit = 5, .misses = {}});
}

// An expandable segment in pages of 20 MiB, 40 MiB of which are there at the start:
//
//     MiB      0                30     38 40          62     80
//     start    | live           | free       |
//     8        | live           | 8     |free|
//     24       | live           | 8     | 24           | free |     pages [40, 80) come
//     8 freed  | live           | free  | 24           | free |
//     6        | live           | 6 |fr.| 24           | free |
//     24 freed | live           | 6 | free                    |
//     emptied  | live           | 6 | free   |                      pages [40, 80) go
//     4        | live           | 6 | 4      |
//
// and 1000 bytes in one of small blocks, pages of 2 MiB.
TEST_CASE("a snapshot with expandable segments is predicted as worked out by hand") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  constexpr Address kLarge = 0x7f0000000000;
  constexpr Address kSmall = 0x7e0000000000;
  const auto event = [](TorchAction action, Address address, Bytes size) {
    return TorchEvent{.action = action, .pool = 0, .address = address, .size = size};
  };
  TorchSnapshot s;
  s.settings.expandable_segments = true;
  s.pools = {{0, 0}};
  s.events = {event(TorchAction::kAlloc, kLarge + 30 * kMiB, 8 * kMiB),
              event(TorchAction::kSegmentMap, kLarge + 40 * kMiB, 40 * kMiB),
              event(TorchAction::kAlloc, kLarge + 38 * kMiB, 24 * kMiB),
              event(TorchAction::kFreeRequested, kLarge + 30 * kMiB, 8 * kMiB),
              event(TorchAction::kFreeCompleted, kLarge + 30 * kMiB, 8 * kMiB),
              event(TorchAction::kAlloc, kLarge + 30 * kMiB, 6 * kMiB),
              event(TorchAction::kFreeRequested, kLarge + 38 * kMiB, 24 * kMiB),
              event(TorchAction::kFreeCompleted, kLarge + 38 * kMiB, 24 * kMiB),
              event(TorchAction::kSegmentUnmap, kLarge + 40 * kMiB, 40 * kMiB),
              event(TorchAction::kAlloc, kLarge + 36 * kMiB, 4 * kMiB),
              event(TorchAction::kSegmentMap, kSmall, 2 * kMiB),
              event(TorchAction::kAlloc, kSmall, 1000)};
  s.devices = {{0, static_cast<uint32_t>(s.events.size())}};
  s.segments = {{.address = kSmall,
                 .total_size = 2 * kMiB,
                 .small = true,
                 .expandable = true,
                 .blocks = {0, 2}},
                {.address = kLarge, .total_size = 40 * kMiB, .expandable = true, .blocks = {2, 3}}};
  s.blocks = {{kSmall, 1024, 1000, TorchBlockState::kActive, {}},
              {kSmall + 1024, 2 * kMiB - 1024, 0, TorchBlockState::kInactive, {}},
              {kLarge, 30 * kMiB, 30 * kMiB, TorchBlockState::kActive, {}},
              {kLarge + 30 * kMiB, 6 * kMiB, 6 * kMiB, TorchBlockState::kActive, {}},
              {kLarge + 36 * kMiB, 4 * kMiB, 4 * kMiB, TorchBlockState::kActive, {}}};
  CHECK(Score(s) ==
        PredictionScore{
            .addresses = 5, .addresses_hit = 5, .segments = 3, .segments_hit = 3, .misses = {}});
  s.events[1].address += 20 * kMiB;  // then 20 MiB more would have been there, enough for the 24
  CHECK_FALSE(Score(s).perfect());
}

}  // namespace
}  // namespace graphkit
