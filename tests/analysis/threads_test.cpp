// The facts of a trace that is large enough are found on two threads, and the checks are run on
// two; several analyses of one trace may run at once. Run under ThreadSanitizer as well
// (tools/test.sh --all).
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/generate/synth.h"

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
    const Trace trace = Synthesize(Options(shape));
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
  const Trace trace = Synthesize(Options(SynthShape::kRandom));
  const FactOptions options{.bound_time_limit = std::chrono::minutes(1)};
  auto other = std::async(std::launch::async, [&] { return FindFacts(trace, options); });
  const Facts facts = FindFacts(trace, options);
  const Facts same = other.get();
  CHECK(facts.usage == same.usage);
  CHECK(facts.shapes == same.shapes);
  CHECK(facts.reuse == same.reuse);
  CHECK(facts.bounds == same.bounds);
  CHECK(facts.races.size() == same.races.size());
}

}  // namespace
}  // namespace graphkit
