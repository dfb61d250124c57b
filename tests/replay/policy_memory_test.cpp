#include "libgraphkit/replay/policy_memory.h"

#include <doctest/doctest.h>

#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// Without what the clock says.
PolicyReplay Untimed(const Facts& facts, PolicyKind policy, bool scan) {
  PolicyReplay replay = ReplayTrace(facts, policy, {.timeline = true, .scan = scan});
  replay.figures.seconds = 0;
  for (GraphReplay& graph : replay.graphs) {
    graph.figures.seconds = 0;
    graph.scanned = false;
  }
  return replay;
}

TEST_CASE("the index finds what scanning finds, on synthetic captures") {
  constexpr SynthShape kShapes[] = {SynthShape::kRandom, SynthShape::kTraining,
                                    SynthShape::kPipeline};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Ran trace = Synthesize({.shape = kShapes[seed % 3],
                                  .ops = 600,
                                  .streams = 2 + static_cast<uint32_t>(seed % 7),
                                  .join = 0.1 + 0.1 * static_cast<double>(seed % 4),
                                  .alloc = 0.6,
                                  .free = seed % 2 == 0 ? 0.3 : 0.5,
                                  .sizes = *ParseSizeDistribution("log:512B-64MiB"),
                                  .seed = seed});
    const Facts facts(trace);
    CAPTURE(seed);
    for (const PolicyInfo& policy : Policies()) {
      if (policy.kind == PolicyKind::kOptimal) continue;
      CAPTURE(policy.name);
      REQUIRE(Untimed(facts, policy.kind, false) == Untimed(facts, policy.kind, true));
    }
  }
}

constexpr PolicyKind kIndexed[] = {PolicyKind::kDefer,   PolicyKind::kPyTorchV1,
                                   PolicyKind::kPyTorch, PolicyKind::kXStream,
                                   PolicyKind::kLastUse, PolicyKind::kReuse};

// Many blocks wait, and many pieces are known to some streams only.
TEST_CASE("the index finds what scanning finds where streams seldom join") {
  constexpr uint32_t kSome[] = {20, 7, 90, 7};  // more than a word has bits
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Ran trace = Synthesize({.ops = 2000,
                                  .streams = kSome[seed % 4],
                                  .join = 0.02 * static_cast<double>(seed),
                                  .alloc = 0.6,
                                  .free = 0.4,
                                  .sizes = *ParseSizeDistribution("log:512B-64MiB"),
                                  .seed = seed});
    const Facts facts(trace);
    CAPTURE(seed);
    for (const PolicyKind policy : kIndexed) {
      CAPTURE(InfoOf(policy).name);
      REQUIRE(Untimed(facts, policy, false) == Untimed(facts, policy, true));
    }
  }
}

// Branches beside each other, each with a stream of its own.
constexpr SynthShape kBranches[] = {SynthShape::kForkJoin, SynthShape::kOneByOne,
                                    SynthShape::kRelay};

TEST_CASE("the index finds what scanning finds on many streams") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const uint32_t streams = 70 + 10 * static_cast<uint32_t>(seed % 5);
    const Ran trace = Synthesize({.shape = kBranches[seed % 3],
                                  .ops = 2 * streams * (1 + seed % 4),
                                  .streams = streams,
                                  .sizes = *ParseSizeDistribution("log:512B-64MiB"),
                                  .seed = seed});
    const Facts facts(trace);
    CAPTURE(seed);
    for (const PolicyKind policy : kIndexed) {
      CAPTURE(InfoOf(policy).name);
      REQUIRE(Untimed(facts, policy, false) == Untimed(facts, policy, true));
    }
  }
}

TEST_CASE("no malloc of a thousand branches looks at every piece of memory") {
  for (const SynthShape shape : kBranches) {
    const Ran trace = Synthesize({.shape = shape, .ops = 8'000, .streams = 1'001});
    const Facts facts(trace);
    for (const PolicyKind policy : kIndexed) {
      for (const GraphReplay& graph : ReplayTrace(facts, policy, {.bound = false}).graphs) {
        CAPTURE(InfoOf(policy).name);
        CHECK_FALSE(graph.scanned);
      }
    }
  }
}

TEST_CASE("the index finds what scanning finds, on random traces") {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Ran trace = RandomTrace(
        seed, {.max_steps = 80, .rewinds = seed % 4 == 0, .nested = seed % 5 == 0, .memory = true});
    const Facts facts(trace);
    CAPTURE(seed);
    for (const PolicyInfo& policy : Policies()) {
      if (policy.kind == PolicyKind::kOptimal) continue;
      CAPTURE(policy.name);
      REQUIRE(Untimed(facts, policy.kind, false) == Untimed(facts, policy.kind, true));
    }
  }
}

}  // namespace
}  // namespace graphkit
