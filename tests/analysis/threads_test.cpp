// The facts of a trace that is large enough are found on two threads, and the checks are run on
// two; several analyses of one trace may run at once. Run under ThreadSanitizer as well
// (tools/test.sh --all).
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/facts.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

SynthOptions Options(SynthShape shape) {
  SynthOptions options;
  options.shape = shape;
  options.ops = 12'000;
  options.streams = 4;
  options.alloc = 0.4;
  options.free = 0.3;
  options.programmatic = 0.05;
  return options;
}

TEST_CASE("analyses of one trace at the same time say the same") {
  for (const SynthShape shape : {SynthShape::kRandom, SynthShape::kTraining}) {
    const Ran trace = Synthesize(Options(shape));
    REQUIRE(trace.nodes.size() + trace.blocks.size() > 10'000);
    // Where the time for bounds ends, what is found depends on the machine.
    const AnalyzeOptions options{.bound_time_limit = std::chrono::minutes(1)};
    std::vector<std::future<Result<Report>>> others;
    for (int i = 0; i < 2; ++i) {
      others.push_back(std::async(std::launch::async, [&] { return Analyze(trace, options); }));
    }
    const Result<Report> report = Analyze(trace, options);
    REQUIRE(report);
    for (auto& other : others) {
      const Result<Report> same = other.get();
      REQUIRE(same);
      CHECK(*same == *report);
    }
  }
}

TEST_CASE("facts found at the same time are the same") {
  const Ran trace = Synthesize(Options(SynthShape::kRandom));
  const FactOptions options{.bound_time_limit = std::chrono::minutes(1)};
  const Facts facts(trace, options), same(trace, options), shared(trace, options);
  const auto make = [](const Facts& of) {
    const std::vector<std::function<void()>> asked = {
        [&] { of.reuse(); }, [&] { of.bounds(); }, [&] { of.stale_inputs(); },
        [&] { of.races(); }, [&] { of.usage(); },  [&] { of.overwrites(); }};
    RunTasks(of.trace, asked);
  };
  auto other = std::async(std::launch::async, [&] {
    make(same);
    make(shared);
  });
  make(facts);
  make(shared);
  other.get();
  for (const Facts* made : {&same, &shared}) {
    CHECK(facts.usage() == made->usage());
    CHECK(facts.shapes() == made->shapes());
    CHECK(facts.reuse() == made->reuse());
    CHECK(facts.bounds() == made->bounds());
    CHECK(facts.races() == made->races());
    CHECK(facts.overwrites() == made->overwrites());
  }
}

TEST_CASE("a fact is made once, when it is asked for") {
  std::atomic<size_t> bounds = 0;
  const Ran trace = Synthesize(Options(SynthShape::kRandom));
  const Facts facts(trace, {.bound_time_limit = std::chrono::minutes(1), .graphs_done = &bounds});
  CHECK(facts.blocks().size() == trace.graphs.size());
  CHECK(bounds == 0);
  CHECK(&facts.bounds() == &facts.bounds());
  facts.pool_bounds();
  CHECK(bounds == trace.graphs.size());
}

}  // namespace
}  // namespace graphkit
