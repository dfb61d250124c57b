#include "libgraphkit/alloc/plan/plan_sequence.h"

#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/generate/build_trace.h"
#include "libgraphkit/io/trace/trace_file.h"
#include "libgraphkit/random.h"
#include "libgraphkit/replay/replay_trace.h"
#include "libgraphkit/replay/validate.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// Graphs that read one another's outputs, each with some scratch.
struct Made {
  Trace trace;
  std::vector<GraphId> graphs;
};

Made RandomGraphs(uint64_t seed) {
  Random random(seed);
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  Made made;
  std::vector<BlockId> outputs;
  const uint64_t count = 2 + random.Below(4);
  for (uint64_t g = 0; g < count; ++g) {
    made.graphs.push_back(t.BeginCapture(s));
    std::vector<BlockId> own;
    for (uint64_t i = 0; i < 2 + random.Below(5); ++i) {
      const BlockId block = t.Alloc(s, 512 * (1 + random.Below(64)));
      if (!outputs.empty() && random.Below(2) == 0) {
        t.Kernel(s, "take", {Writes(block), Reads(outputs[random.Below(outputs.size())])});
      } else {
        t.Kernel(s, "make", {Writes(block)});
      }
      own.push_back(block);
    }
    for (const BlockId block : own) {
      if (random.Below(3) == 0) {
        outputs.push_back(block);
      } else {
        t.Kernel(s, "last", {Reads(block)});
        t.Free(block);
      }
    }
    t.EndCapture(s);
  }
  made.trace = t.Build();
  return made;
}

std::vector<GraphId> RandomSteps(uint64_t seed, const std::vector<GraphId>& graphs) {
  Random random(seed ^ 77);
  std::vector<GraphId> steps = graphs;
  for (uint64_t i = 0; i < random.Below(4); ++i)
    steps.push_back(graphs[random.Below(graphs.size())]);
  for (size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[random.Below(i)]);
  return steps;
}

// Every pair of blocks of different graphs that share bytes, launch by launch: the slow way.
bool SafePairByPair(const Facts& facts, const PlannedMemory& plan) {
  const auto takes = [&](GraphId graph, BlockId block) {
    for (const GraphInput& input : facts.inputs[graph.index()]) {
      if (input.block == block) return true;
    }
    return false;
  };
  const size_t n = plan.sequence.size();
  for (const Placement& x : plan.placements) {
    const BlockId output(x.block);
    if (facts.lives[output].freed) continue;
    bool kept = true;
    for (const GraphId step : plan.sequence) kept = kept && !takes(step, output);
    for (const Placement& y : plan.placements) {
      const GraphId root = facts.lives[BlockId(y.block)].root;
      const bool share =
          x.arena == y.arena && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
      if (!share || root == facts.lives[output].root) continue;
      for (size_t i = 0; i < n; ++i) {
        if (plan.sequence[i] != facts.lives[output].root) continue;
        bool written = false;
        for (size_t j = i + 1; j < i + n && plan.sequence[j % n] != plan.sequence[i]; ++j) {
          written = written || plan.sequence[j % n] == root;
          if (written && (kept || takes(plan.sequence[j % n], output))) return false;
        }
      }
    }
  }
  return true;
}

TEST_CASE("graphs of a sequence share memory, and what one leaves for another stays") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Made made = RandomGraphs(seed);
    const Facts facts = FindFacts(made.trace);
    const PlannedMemory plan =
        PlanSequence(facts, RandomSteps(seed, made.graphs), MarkerRule::kLastUse);
    REQUIRE(plan.peak >= plan.lower_bound);
    REQUIRE(SafePairByPair(facts, plan));
    REQUIRE(ValidateSequence(facts, plan).empty());
    REQUIRE(VerifyPlan(facts, plan, MarkerRule::kLastUse).empty());
    REQUIRE(PlanFits(facts, plan).has_value());
    const PolicyReplay replay = ReplayPlan(facts, plan, {.verify = true});
    REQUIRE(replay.verified);
    REQUIRE(replay.figures.peak_extent == plan.peak);
    REQUIRE(plan.peak <= PlanTrace(facts, MarkerRule::kLastUse).peak);
  }
}

TEST_CASE("the validator finds what a look at every pair finds, in plans with a moved block") {
  int unsafe = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Made made = RandomGraphs(seed);
    const Facts facts = FindFacts(made.trace);
    PlannedMemory plan = PlanSequence(facts, RandomSteps(seed, made.graphs), MarkerRule::kLastUse);
    Random random(seed);
    Placement& moved = plan.placements[random.Below(plan.placements.size())];
    moved.offset = 512 * random.Below(64);
    const bool safe = SafePairByPair(facts, plan);
    unsafe += safe ? 0 : 1;
    REQUIRE(ValidateSequence(facts, plan).empty() == safe);
  }
  CHECK(unsafe > 50);
}

TEST_CASE("an output that the next graph takes makes room for the one after") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  const GraphId a = t.BeginCapture(s);
  const BlockId out = t.Alloc(s, 4 * kMiB);
  t.Kernel(s, "make", {Writes(out)});
  t.EndCapture(s);
  const GraphId b = t.BeginCapture(s);
  const BlockId answer = t.Alloc(s, kMiB);
  t.Kernel(s, "take", {Reads(out), Writes(answer)});
  t.EndCapture(s);
  const GraphId c = t.BeginCapture(s);
  const BlockId scratch = t.Alloc(s, 4 * kMiB);
  t.Kernel(s, "other", {Writes(scratch)});
  t.Free(scratch);
  t.EndCapture(s);
  const Trace trace = t.Build();
  const Facts facts = FindFacts(trace);
  CHECK(PlanSequence(facts, {{a, b, c}}, MarkerRule::kLastUse).peak == 5 * kMiB);
  CHECK(PlanSequence(facts, {{a, c, b}}, MarkerRule::kLastUse).peak == 9 * kMiB);
  PlannedMemory wrong = PlanSequence(facts, {{a, b, c}}, MarkerRule::kLastUse);
  wrong.sequence = {a, c, b};
  CHECK(ValidateSequence(facts, wrong) == std::vector<DestroyedOutput>{{out, scratch, b}});
}

TEST_CASE("the inference server's graphs share one pool in the order of their launches") {
  const Result<Trace> trace =
      ReadTrace(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/inference_server.json");
  REQUIRE(trace.has_value());
  const Facts facts = FindFacts(*trace);
  const Result<std::vector<GraphId>> steps = RecordedSequence(facts);
  REQUIRE_MESSAGE(steps.has_value(), Describe(steps.error()));
  const PlannedMemory shared = PlanSequence(facts, *steps, MarkerRule::kLastUse);
  // 32 MiB while the largest runs, and the logits of the other three (7 MiB).
  CHECK(shared.peak == 39 * kMiB);
  CHECK(shared.lower_bound == 39 * kMiB);
  CHECK(PlanTrace(facts, MarkerRule::kLastUse).peak == 60 * kMiB);
}

}  // namespace
}  // namespace graphkit
