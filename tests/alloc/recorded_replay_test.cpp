#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "tests/alloc/recorded_score.h"
#include "tests/alloc/snapshot_recorder.h"

namespace graphkit {
namespace {

TorchSnapshot Read(const std::string& name) {
  const std::string path = std::string(GRAPHKIT_TESTDATA) + "/torch-snapshots/" + name + ".pickle";
  Result<TorchSnapshot> snapshot = ParseTorchSnapshot(ReadFile(path)->text);
  REQUIRE_MESSAGE(snapshot.has_value(), Describe(snapshot.error()));
  return std::move(*snapshot);
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

// Of b the file has only the 4 MiB that were asked for; 960 KiB behind it weren't split off. So 20
// MiB are free there, as many as in the other segment, and x takes the lower ones.
//
//     44 MiB  |  a  | b  ···|    free    |      20 MiB  |    free    |
//                           [  x  ]
TEST_CASE("what is allocated behind a block of the start shows how long that was") {
  constexpr Bytes kMiB = Bytes{1} << 20, kHole = 4 * kMiB + 960 * 1024;
  Recorder recorder({}, 1 << 30, 1);
  const auto alloc = [&](Bytes size) { return recorder.Malloc(size, 0, 0).value(); };
  const BlockHandle other = alloc(20 * kMiB);
  recorder.Free(alloc(44 * kMiB));
  const BlockHandle a = alloc(24 * kMiB - kHole);
  const BlockHandle hole = alloc(kHole);
  const BlockHandle last = alloc(20 * kMiB);
  recorder.Free(hole);
  const BlockHandle b = alloc(4 * kMiB);
  recorder.Free(last);
  recorder.Free(other);
  const BlockHandle x = alloc(8 * kMiB);  // the history begins
  CHECK(recorder.AddressOf(x) == recorder.AddressOf(a) + 24 * kMiB);
  recorder.Free(b);
  recorder.Free(a);
  alloc(8 * kMiB);
  const PredictionScore score = Score(recorder.Take(6));
  CHECK(score.misses == std::vector<PredictionMiss>{});
  CHECK(score.not_judged == NotJudged{.size_unknown = 1, .why_unknown = {}});
  CHECK(score.addresses_hit == 1);
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
