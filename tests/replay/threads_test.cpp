// Results for a trace don't depend on the number of threads: the report, plans and replays of the
// golden traces, of random ones and of many graphs. Run under ThreadSanitizer as well
// (tools/test.sh --all).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"
#include "tests/generate/synth.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

// All that is made of one trace.
struct Made {
  std::vector<Report> reports;  // by completion and by full-edge order
  std::vector<PlannedMemory> plans;
  std::vector<UnsafePair> unsafe;
  std::vector<PolicyReplay> replays;
  bool operator==(const Made&) const = default;
};

// Seconds are measured.
void ForgetTimes(PolicyReplay* replay) {
  replay->figures.seconds = 0;
  for (GraphReplay& graph : replay->graphs) graph.figures.seconds = 0;
}

Made MakeAll(const Ran& trace) {
  const std::chrono::milliseconds long_enough = std::chrono::minutes(10);
  Made made;
  for (const EdgeRule edges : {EdgeRule::kCompletion, EdgeRule::kAllFull}) {
    const AnalyzeOptions options{.edges = edges, .bound_time_limit = long_enough};
    const Facts facts = FindReportFacts(trace, options);
    Report report = *Analyze(facts, options);
    AddPlans(facts, &report);
    made.reports.push_back(std::move(report));
  }
  const Facts facts(trace);
  std::vector<PolicyKind> policies;
  for (const PolicyInfo& info : Policies()) policies.push_back(info.kind);
  const CapturePlannerOptions little{.search = {.effort = 2'000'000}};
  ReplayOptions options{.verify = true, .config = {}, .planner = little, .capacity = 64 << 20};
  options.timeline = true;
  made.replays = ReplayTrace(facts, policies, options);
  for (const ModelInfo& model : Models()) {
    made.replays.push_back(ReplayModel(facts, model.kind, options));
  }
  for (PolicyReplay& replay : made.replays) ForgetTimes(&replay);
  for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
    CapturePlannerOptions to_fit = little;
    to_fit.search.capacity = 1 << 20;
    made.plans.push_back(PlanTrace(facts, rule, to_fit));
    made.plans.push_back(PlanTrace(facts, rule, little));
    // By the stricter rule, so that there are pairs to be found.
    const std::vector<UnsafePair> unsafe =
        VerifyPlan(facts, made.plans.back(), MarkerRule::kAtFree);
    made.unsafe.insert(made.unsafe.end(), unsafe.begin(), unsafe.end());
  }
  return made;
}

Made MakeAllOn(size_t threads, const Ran& trace) {
  setenv("GRAPHKIT_THREADS", std::to_string(threads).c_str(), 1);
  Made made = MakeAll(trace);
  unsetenv("GRAPHKIT_THREADS");
  return made;
}

void CheckThreads(const Ran& trace) {
  const Made one = MakeAllOn(1, trace);
  for (const size_t threads : {2u, 3u, 8u}) {
    CAPTURE(threads);
    const Made several = MakeAllOn(threads, trace);
    CHECK(several.reports == one.reports);
    CHECK(several.plans == one.plans);
    CHECK(several.unsafe == one.unsafe);
    REQUIRE(several.replays.size() == one.replays.size());
    for (size_t i = 0; i < one.replays.size(); ++i) {
      CAPTURE(i);
      CHECK(several.replays[i] == one.replays[i]);
    }
  }
}

TEST_CASE("the golden traces come out the same on any number of threads") {
  size_t looked_at = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(GRAPHKIT_TESTDATA) / "traces" / "soft")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().filename().string());
    const Result<Ran> trace = ReadRan(entry.path().string());
    REQUIRE(trace);
    CheckThreads(*trace);
    ++looked_at;
  }
  CHECK(looked_at > 5);
}

TEST_CASE("random traces come out the same on any number of threads") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    CheckThreads(RandomTrace(seed, {.max_steps = 60, .memory = true, .pools = true}));
  }
}

TEST_CASE("many graphs come out the same on any number of threads") {
  for (const SynthShape shape : {SynthShape::kTraining, SynthShape::kRandom}) {
    SynthOptions options;
    options.shape = shape;
    options.ops = 3'000;
    options.streams = 4;
    options.graphs = 40;
    options.alloc = 0.4;
    options.free = 0.3;
    options.programmatic = 0.05;
    const Ran trace = Synthesize(options);
    REQUIRE(trace.graphs.size() == 40);
    CheckThreads(trace);
  }
}

TEST_CASE("what is done is counted: graphs, and the policies of a replay") {
  SynthOptions options;
  options.shape = SynthShape::kTraining;
  options.ops = 300;
  options.graphs = 5;
  const Ran trace = Synthesize(options);
  std::atomic<size_t> analyzed = 0, planned = 0, replayed = 0;
  FindReportFacts(trace, {}, &analyzed).bounds();
  CHECK(analyzed == 5);
  const Facts facts(trace);
  PlanTrace(facts, MarkerRule::kLastUse, {.search = {.effort = 0}}, &planned);
  CHECK(planned == 5);
  ReplayOptions counted;
  counted.done = &replayed;
  ReplayTrace(facts, std::vector{PolicyKind::kReuse, PolicyKind::kDefer}, counted);
  CHECK(replayed == 10);
}

}  // namespace
}  // namespace graphkit
