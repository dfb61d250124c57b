#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "tests/alloc/snapshot_recorder.h"

namespace graphkit {
namespace {

TorchSnapshot Read(const std::string& name) {
  const std::string path = std::string(GRAPHKIT_TESTDATA) + "/torch-snapshots/" + name + ".pickle";
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(ReadFile(path)->text);
  REQUIRE_MESSAGE(snapshot.has_value(), Describe(snapshot.error()));
  return std::move(*snapshot);
}

PredictionScore Score(const TorchSnapshot& snapshot) {
  Result<PredictionScore> score = PredictRecorded(snapshot, 0);
  REQUIRE_MESSAGE(score.has_value(), Describe(score.error()));
  return std::move(*score);
}

TEST_CASE("every address that a real GPU's allocator gave is predicted") {
  const auto perfect = [](uint64_t addresses) {
    return PredictionScore{.addresses = addresses, .addresses_hit = addresses, .misses = {}};
  };
  CHECK(Score(Read("transformer_forward")) == perfect(4138));
  CHECK(Score(Read("transformer_step")) == perfect(6488));
  CHECK(Score(Read("transformer_inference")) == perfect(2162));
  CHECK(Score(Read("transformer_small")) == perfect(1721));
}

TEST_CASE("every address that PyTorch itself gave in random programs is predicted") {
  uint64_t addresses = 0;
  const std::filesystem::path folder(std::string(GRAPHKIT_TESTDATA) + "/torch-allocator");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".zst") continue;
    CAPTURE(entry.path().string());
    Result<TorchSnapshot> snapshot = ParseTorchSnapshot(ReadFile(entry.path().string())->text);
    REQUIRE_MESSAGE(snapshot.has_value(), Describe(snapshot.error()));
    const PredictionScore score = Score(*snapshot);
    CHECK(score.misses == std::vector<PredictionMiss>{});
    CHECK(score.not_judged.in_no_segment == 0);
    CHECK(score.not_judged.start_unknown == 0);
    CHECK(score.not_judged.pool_unknown == 0);
    addresses += score.addresses;
  }
  CHECK(addresses > 10'000);
}

TEST_CASE("one altered address is one miss, at its event") {
  for (const char* name : {"transformer_forward", "transformer_small"}) {
    const TorchSnapshot snapshot = Read(name);
    const unsigned seed = 5;
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
      TorchSnapshot altered = snapshot;
      uint32_t event = 0;
      do {
        event = static_cast<uint32_t>(random() % altered.events.size());
      } while (altered.events[event].action != TorchAction::kAlloc);
      CAPTURE(name);
      CAPTURE(event);
      CAPTURE(round);
      const Address real = altered.events[event].address;
      const Address wrong = round % 3 == 0 ? real + 512 : round % 3 == 1 ? real - (2 << 20) : 4096;
      altered.events[event].address = wrong;
      const PredictionScore score = Score(altered);
      REQUIRE(score.misses.size() == 1);
      CHECK(score.misses[0].event == event);
      CHECK(score.misses[0].recorded == wrong);
    }
  }
}

// Without a segment of the end; of an expandable one without all its pages.
void LoseSegment(TorchSnapshot* s, size_t index) {
  const TorchSegment lost = s->segments[index];
  std::erase_if(s->segments, [&](const TorchSegment& other) {
    return lost.expandable ? other.expandable && other.stream == lost.stream &&
                                 other.pool == lost.pool && other.small == lost.small
                           : other.address == lost.address;
  });
}

uint64_t AllocationsIn(const TorchSnapshot& s) {
  return static_cast<uint64_t>(
      std::ranges::count(s.events, TorchAction::kAlloc, &TorchEvent::action));
}

TEST_CASE("what lies in no segment is left out, and the rest is predicted") {
  TorchSnapshot s = Read("transformer_small");
  const auto in_small = [&](const TorchEvent& event) {
    return std::ranges::any_of(s.segments, [&](const TorchSegment& segment) {
      return segment.small && event.address - segment.address < segment.total_size;
    });
  };
  const auto lost = static_cast<uint64_t>(std::ranges::count_if(s.events, in_small));
  std::erase_if(s.segments, [](const TorchSegment& segment) { return segment.small; });
  const PredictionScore score = Score(s);
  CHECK(score.misses == std::vector<PredictionMiss>{});
  CHECK(score.addresses < AllocationsIn(s));
  CHECK(score.not_judged == NotJudged{.in_no_segment = lost, .why_unknown = {}});
}

TEST_CASE("segments whose start contradicts the file are left out, and the rest is predicted") {
  TorchSnapshot s = Read("transformer_small");
  for (TorchBlock& block : s.blocks) {
    if (block.state == TorchBlockState::kActive) block.size *= 3;
  }
  const PredictionScore score = Score(s);
  CHECK(score.misses == std::vector<PredictionMiss>{});
  CHECK(score.addresses > 0);
  CHECK(score.not_judged.start_unknown > 0);
  CHECK(score.not_judged.events() == score.not_judged.start_unknown);
  CHECK(score.not_judged.why_unknown.ends_with("overlaps another one"));
}

TEST_CASE("a device that the snapshot doesn't have is an error") {
  CHECK_FALSE(RewindSnapshot(Read("transformer_small"), 3).has_value());
}

TEST_CASE("a run with several streams, pools and segments is predicted from wherever it is cut") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    for (const size_t keep : {100000u, 1500u, 300u}) {
      CAPTURE(seed);
      CAPTURE(keep);
      const PredictionScore score = Score(RandomRun(seed, keep));
      CHECK(score.misses == std::vector<PredictionMiss>{});
      CHECK(score.addresses_hit == score.addresses);
      if (keep > 1000) CHECK(score.segments_hit > 10);
    }
  }
}

// All that is judged is predicted; returns how many allocations were.
uint64_t JudgedRightly(const TorchSnapshot& snapshot) {
  const PredictionScore score = Score(snapshot);
  CHECK(score.misses == std::vector<PredictionMiss>{});
  CHECK(score.addresses_hit == score.addresses);
  CHECK(score.segments_hit == score.segments);
  const NotJudged& left = score.not_judged;
  CHECK(score.addresses + left.events() >= AllocationsIn(snapshot));
  return score.addresses;
}

TEST_CASE("what a file doesn't say of the rules is found from what was recorded") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  const CachingConfig oldest{.ties = CachingConfig::Ties::kOldestSegment};
  const CachingConfig garbage{.memory_limit = 300 * kMiB, .garbage_collection_threshold = 0.5};
  CachingConfig both = garbage;
  both.ties = oldest.ties;
  both.max_split_size = 21 * kMiB;
  const CachingConfig pages{
      .expandable_segments = true, .memory_limit = 400 * kMiB, .garbage_collection_threshold = 0.5};
  for (const CachingConfig& config : {oldest, garbage, both, pages}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      CAPTURE(seed);
      CAPTURE(config.expandable_segments);
      CAPTURE(config.garbage_collection_threshold);
      const TorchSnapshot s = RandomRun(seed, 100000, config);
      CHECK(JudgedRightly(s) == AllocationsIn(s));
    }
  }
}

TEST_CASE("which of the segments of the start is the oldest is left open") {
  uint64_t open = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const TorchSnapshot s = RandomRun(seed, 700, {.ties = CachingConfig::Ties::kOldestSegment});
    const PredictionScore score = Score(s);
    CHECK(score.misses == std::vector<PredictionMiss>{});
    CHECK(score.not_judged.events() == score.not_judged.age_unknown);
    CHECK(score.addresses + score.not_judged.age_unknown == AllocationsIn(s));
    open += score.not_judged.age_unknown;
  }
  CHECK(open > 0);
}

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

TEST_CASE("a run that ends with empty_cache is predicted to its end") {
  for (const bool expandable : {false, true}) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      CAPTURE(seed);
      CAPTURE(expandable);
      const TorchSnapshot s =
          RandomRun(seed, 1000, {.expandable_segments = expandable}, RunEnd::kCacheEmptied);
      const TorchAction last = s.events.back().action;
      REQUIRE((last == TorchAction::kSegmentFree || last == TorchAction::kSegmentUnmap));
      CHECK(JudgedRightly(s) == AllocationsIn(s));
    }
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

TEST_CASE("of a run with lost segments, whatever is left is predicted") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const size_t keep : {100000u, 1700u, 400u}) {
      CAPTURE(seed);
      CAPTURE(keep);
      TorchSnapshot s = RandomRun(seed, keep);
      std::mt19937_64 random(seed);
      for (int lost = 0; lost < 3; ++lost) LoseSegment(&s, random() % s.segments.size());
      JudgedRightly(s);
    }
  }
}

// A block whose end is lost with its segment may be taken for one of the same size whose allocation
// came before the first event: then that one's memory is free too late.
TEST_CASE("of a run with lost expandable segments, nearly all that is left is predicted") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const size_t keep : {100000u, 1700u, 400u}) {
      CAPTURE(seed);
      CAPTURE(keep);
      TorchSnapshot s = RandomRun(seed, keep, {.expandable_segments = true});
      std::mt19937_64 random(seed);
      for (int lost = 0; lost < 3; ++lost) LoseSegment(&s, random() % s.segments.size());
      const PredictionScore score = Score(s);
      CHECK(score.misses.size() <= 2);
      // Of a whole history the beginning is known: nothing was there.
      CHECK((score.not_judged.events() > 0) == (keep < 100000));
    }
  }
}

TEST_CASE("events that don't name their pools are judged by the segments that they lie in") {
  uint64_t judged = 0;
  uint64_t all = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const size_t keep : {100000u, 1500u}) {
      CAPTURE(seed);
      CAPTURE(keep);
      TorchSnapshot s = RandomRun(seed, keep);
      for (TorchEvent& event : s.events) event.pool = TorchEvent::kNoPool;
      judged += JudgedRightly(s);
      all += AllocationsIn(s);
    }
  }
  CHECK(judged == all);
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

TEST_CASE("each device is judged for itself") {
  TorchSnapshot both = RandomRun(1, 800);
  const TorchSnapshot other = RandomRun(2, 900);
  const auto first_block = static_cast<uint32_t>(both.blocks.size());
  both.devices.push_back({both.devices[0].count, other.devices[0].count});
  both.events.insert(both.events.end(), other.events.begin(), other.events.end());
  both.blocks.insert(both.blocks.end(), other.blocks.begin(), other.blocks.end());
  for (TorchSegment segment : other.segments) {
    segment.device = 1;
    segment.blocks.first += first_block;
    both.segments.push_back(segment);
  }
  std::erase_if(both.segments, [](const TorchSegment& s) { return s.device == 0 && s.small; });
  const Result<PredictionScore> broken = PredictRecorded(both, 0);
  const Result<PredictionScore> whole = PredictRecorded(both, 1);
  REQUIRE((broken.has_value() && whole.has_value()));
  CHECK(broken->perfect());
  CHECK(broken->not_judged.events() > 0);
  CHECK(*whole == Score(other));
}

TEST_CASE("with expandable segments it is predicted as well, with the pages that come and go") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    for (const size_t keep : {100000u, 1500u, 300u}) {
      CAPTURE(seed);
      CAPTURE(keep);
      const PredictionScore score = Score(RandomRun(seed, keep, {.expandable_segments = true}));
      CHECK(score.misses == std::vector<PredictionMiss>{});
      CHECK(score.addresses_hit == score.addresses);
      if (keep > 1000) CHECK(score.segments_hit > 10);
    }
  }
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

TEST_CASE("a segment of another size than recorded is a miss") {
  TorchSnapshot s = RandomRun(1, 100000);
  for (TorchEvent& event : s.events) {
    if (event.action != TorchAction::kSegmentAlloc || event.size < (Bytes{21} << 20)) continue;
    event.size += Bytes{2} << 20;
    break;
  }
  const Result<RecordedRun> run = RewindSnapshot(s, 0);
  REQUIRE(run.has_value());
  const PredictionScore score = ComparePrediction(*run, ReplayRecorded(*run));
  CHECK_FALSE(score.perfect());
  CHECK(score.segments_hit < score.segments);
}

}  // namespace
}  // namespace graphkit
