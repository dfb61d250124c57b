#include "libgraphkit/alloc/recorded/recorded_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "tests/alloc/snapshot_recorder.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

CachingConfig Conf(std::string_view text) {
  const Result<CachingConfig> config = WithAllocConf({}, text);
  REQUIRE_MESSAGE(config.has_value(), Describe(config.error()));
  return *config;
}

TEST_CASE("settings are spelled as in PYTORCH_ALLOC_CONF") {
  CHECK(Conf("expandable_segments") == CachingConfig{.expandable_segments = true});
  CHECK(Conf("expandable_segments:False") == CachingConfig{});
  CHECK(Conf("max_split_size_mb:128,garbage_collection_threshold:0.8") ==
        CachingConfig{.max_split_size = 128 * kMiB, .garbage_collection_threshold = 0.8});
  CHECK(Conf("large_segment_size_mb:40").large_segment == 40 * kMiB);
  CHECK(Conf("roundup_power2_divisions:4").roundup_power2_divisions ==
        std::array<uint32_t, 16>{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(Conf("roundup_power2_divisions:[256:1,512:2,1024:4,>:8],expandable_segments:1") ==
        CachingConfig{.roundup_power2_divisions = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8},
                      .expandable_segments = true});
}

TEST_CASE("a setting that isn't known, or has no value that PyTorch takes, is an error") {
  CHECK(Describe(WithAllocConf({}, "expandable_segment:True").error()) ==
        "no setting 'expandable_segment' that the model knows; did you mean expandable_segments?");
  for (const char* wrong :
       {"", "expandable_segments:maybe", "max_split_size_mb:19",
        "max_split_size_mb:", "garbage_collection_threshold:1", "garbage_collection_threshold:nan",
        "roundup_power2_divisions:3", "roundup_power2_divisions:[256]",
        "roundup_power2_divisions:[300:2]", "roundup_power2_divisions:[]",
        "roundup_power2_divisions:[65536:1]", "expandable_segments:True,"}) {
    CAPTURE(wrong);
    const bool comma = std::string_view(wrong).ends_with(',');
    CHECK(WithAllocConf({}, wrong).has_value() == comma);
  }
}

// Blocks of 24 MiB are freed but for every second one, and then larger ones are asked for: with
// segments of their own size the free ones are of no use, in expandable ones they are neighbours.
TorchSnapshot Fragmented() {
  Recorder recorder({}, 1024 * kMiB, 1);
  std::vector<BlockHandle> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(*recorder.Malloc(24 * kMiB, 0, 0));
  for (int i = 0; i < 8; ++i) {
    if (i % 4 < 2) recorder.Free(blocks[static_cast<size_t>(i)]);
  }
  recorder.Malloc(48 * kMiB, 0, 0);
  recorder.Malloc(48 * kMiB, 0, 0);
  return recorder.Take(1000);
}

TEST_CASE("expandable segments use what segments of their own size leave free") {
  const std::vector<std::string> settings = {"expandable_segments:True"};
  const Result<WhatIf> found = ReplayWhatIf(Fragmented(), 0, settings);
  REQUIRE_MESSAGE(found.has_value(), Describe(found.error()));
  const AllocatorOutcome recorded{.peak_reserved = 288 * kMiB,
                                  .reserved_at_end = 288 * kMiB,
                                  .peak_in_use = 192 * kMiB,
                                  .segments = 10,
                                  .failures = 0};
  CHECK(found->recorded == recorded);
  REQUIRE(found->rows.size() == 2);
  CHECK(found->rows[0] == WhatIfRow{"", recorded});
  CHECK(found->rows[1].outcome.peak_reserved < 220 * kMiB);
  CHECK(found->rows[1].outcome.peak_in_use == 192 * kMiB);
}

TEST_CASE("a failure for lack of memory says how much there is, and may not happen otherwise") {
  Recorder recorder({}, 216 * kMiB, 1);
  std::vector<BlockHandle> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(*recorder.Malloc(25 * kMiB, 0, 0));
  recorder.Malloc(32 * kMiB, 0, 0);
  const TorchSnapshot snapshot = recorder.Take(1000);
  const std::vector<std::string> settings = {"max_split_size_mb:64"};
  const Result<WhatIf> found = ReplayWhatIf(snapshot, 0, settings);
  REQUIRE(found.has_value());
  CHECK(found->recorded.failures == 1);
  CHECK(found->capacity == 208 * kMiB);
  CHECK(found->rows[0].outcome.failures == 1);
  const Result<WhatIf> more = ReplayWhatIf(snapshot, 0, settings, 1024 * kMiB);
  CHECK(more->rows[0].outcome.failures == 0);
}

TEST_CASE("collecting garbage needs to know how much memory there is") {
  const std::vector<std::string> settings = {"garbage_collection_threshold:0.5"};
  const Result<WhatIf> unknown = ReplayWhatIf(Fragmented(), 0, settings);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().hint == "give it with --capacity 80GiB");
  CHECK(ReplayWhatIf(Fragmented(), 0, settings, 1024 * kMiB).has_value());
}

// The whole of a run that was recorded from its beginning: under its own settings the model
// reserves what was recorded.
TEST_CASE("under the recorded settings whole random runs reserve what they did") {
  for (const bool expandable : {false, true}) {
    for (int round = 0; round < RandomRounds(20); ++round) {
      const uint64_t seed = RandomSeed() + static_cast<uint64_t>(round);
      CAPTURE(seed);
      CAPTURE(expandable);
      std::mt19937_64 random(seed);
      Recorder recorder({.expandable_segments = expandable}, Bytes{1} << 40, 1);
      std::vector<BlockHandle> alive;
      for (int i = 0; i < 300; ++i) {
        if (alive.empty() || random() % 2 == 0) {
          const Bytes size = random() % 3 == 0 ? random() % (40 * kMiB) : random() % kMiB;
          alive.push_back(*recorder.Malloc(size + 1, random() % 2, 0));
        } else {
          const size_t at = random() % alive.size();
          recorder.Free(alive[at]);
          alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (i % 100 == 99) recorder.EmptyCache();
      }
      const Result<WhatIf> found = ReplayWhatIf(recorder.Take(100'000), 0, {});
      REQUIRE(found.has_value());
      const AllocatorOutcome& model = found->rows[0].outcome;
      CHECK(model.peak_reserved == found->recorded.peak_reserved);
      CHECK(model.reserved_at_end == found->recorded.reserved_at_end);
      CHECK(model.segments == found->recorded.segments);
    }
  }
}

}  // namespace
}  // namespace graphkit
