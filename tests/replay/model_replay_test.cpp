#include <doctest/doctest.h>

#include "libgraphkit/replay/replay_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// Synthetic captures record every use on another stream, and free on the block's own.
TEST_CASE("models that know record_stream are safe, those that go by streams alone need not be") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Ran trace = Synthesize({.ops = 400,
                                  .streams = 3,
                                  .join = 0.3,
                                  .alloc = 0.4,
                                  .free = 0.3,
                                  .sizes = *ParseSizeDistribution("log:512B-32MiB"),
                                  .seed = seed});
    const Facts facts(trace);
    CAPTURE(seed);
    const PolicyReplay caching = ReplayModel(facts, ModelKind::kCaching, {.verify = true});
    CHECK(caching.given == "caching");
    CHECK(caching.verified);
    CHECK(caching.figures.peak_reserved ==
          ReplayTrace(facts, PolicyKind::kDefer).figures.peak_reserved);
    CHECK_FALSE(ReplayModel(facts, ModelKind::kAsyncPool, {.verify = true}).verified);
  }
}

TEST_CASE("on one stream every model is safe, and none needs less than the bound") {
  const Ran trace = Synthesize({.shape = SynthShape::kRandom,
                                .ops = 1000,
                                .streams = 1,
                                .alloc = 0.4,
                                .free = 0.3,
                                .sizes = *ParseSizeDistribution("log:512B-32MiB")});
  const Facts facts(trace);
  for (const ModelInfo& info : Models()) {
    CAPTURE(info.name);
    const PolicyReplay replay = ReplayModel(facts, info.kind, {.verify = true});
    CHECK(replay.verified);
    CHECK(replay.figures.peak_reserved >= replay.figures.peak_allocated);
    CHECK(replay.figures.peak_extent >= replay.figures.lower_bound);
  }
}

}  // namespace
}  // namespace graphkit
