// Plans of graphkit and of its peers (plan_peers.h), of tables of lifetimes and of synthetic
// captures, in one run. The counter peak_over_bound is the plan over the lower bound; every plan is
// checked. Against minimalloc's program: plan_race.py.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/alloc/lifetime_variants.h"
#include "tests/bench/plan_peers.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

struct Problem {
  const char* name;
  const char* table = nullptr;  // in testdata; otherwise a capture
  SynthShape shape = SynthShape::kRandom;
  uint64_t ops = 0;
  uint32_t streams = 8;
  double join = 0.3;
  bool small = true;  // enough for hill climbing, which places everything 500 times
};

constexpr std::array<Problem, 12> kProblems = {{
    {.name = "minimalloc A", .table = "minimalloc/A.1048576.csv"},
    {.name = "minimalloc C", .table = "minimalloc/C.1048576.csv"},
    {.name = "minimalloc E", .table = "minimalloc/E.1048576.csv"},
    {.name = "minimalloc G", .table = "minimalloc/G.1048576.csv"},
    {.name = "minimalloc I", .table = "minimalloc/I.1048576.csv"},
    {.name = "minimalloc K", .table = "minimalloc/K.1048576.csv"},
    {.name = "idealloc resnet50", .table = "idealloc/somas_tensors_resnet50.csv"},
    {.name = "idealloc S_1", .table = "idealloc/iopddl_S_1.csv", .small = false},
    {.name = "random, 8 streams", .shape = SynthShape::kRandom, .ops = 20'000, .small = false},
    {.name = "random, 4 streams, join 0.02",
     .ops = 20'000,
     .streams = 4,
     .join = 0.02,
     .small = false},
    {.name = "training, 8 streams", .shape = SynthShape::kTraining, .ops = 20'000, .small = false},
    {.name = "pipeline, 8 stages", .shape = SynthShape::kPipeline, .ops = 20'000, .small = false},
}};

struct Loaded {
  std::unique_ptr<Ran> trace;
  std::unique_ptr<Facts> facts;
  PeerProblem peer;
  Bytes bound = 0;
};

void LoadCapture(const Problem& problem, Loaded* loaded) {
  loaded->trace =
      std::make_unique<Ran>(Synthesize({.shape = problem.shape,
                                        .ops = problem.ops,
                                        .streams = problem.streams,
                                        .join = problem.join,
                                        .alloc = 0.5,
                                        .free = 0.4,
                                        .sizes = *ParseSizeDistribution("log:512B-32MiB")}));
  loaded->facts = std::make_unique<Facts>(*loaded->trace);
  const BlockOrder order = loaded->facts->Blocks(MarkerRule::kLastUse);
  const std::vector<BlockId>& blocks = loaded->facts->blocks()[0];
  const Lanes lanes(order, blocks);
  const PlacedConflicts exits(lanes);
  const ConflictLists lists(lanes, exits, 100'000'000);
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    // Lifetimes in capture order: they overlap where blocks conflict, and elsewhere.
    loaded->peer.problem.blocks.push_back({.size = lanes.weight(item), .alignment = 512});
    loaded->peer.problem.lifetimes.push_back({item, EndInCaptureOrder(lanes, exits, item)});
    const auto others = lists.Of(item);
    loaded->peer.conflicts.emplace_back(others.begin(), others.end());
  }
  loaded->bound = FindLowerBound(order, blocks).bytes;
}

const Loaded& Load(const Problem& problem) {
  static const Problem* last = nullptr;
  static Loaded loaded;
  if (last == &problem) return loaded;
  last = &problem;
  loaded = {};
  if (problem.table != nullptr) {
    loaded.peer.problem =
        ReadLifetimeCsv(std::string(GRAPHKIT_TESTDATA "/") + problem.table)->problem;
    loaded.bound = PlanLifetimes(loaded.peer.problem, {.effort = 0}).lower_bound;
  } else {
    LoadCapture(problem, &loaded);
  }
  loaded.peer.overlaps = OverlapsOf(loaded.peer.problem);
  if (problem.table != nullptr) loaded.peer.conflicts = loaded.peer.overlaps;
  return loaded;
}

bool Safe(const PeerProblem& peer, const Offsets& offsets) {
  for (uint32_t block = 0; block < offsets.size(); ++block) {
    if (offsets[block] == kNotPlaced) return false;
    for (const Taken& taken : TakenBy(peer, peer.conflicts[block], offsets)) {
      const Bytes own = offsets[block];
      if (taken.begin < own + peer.problem.blocks[block].size && own < taken.end) return false;
    }
  }
  return true;
}

struct Planner {
  const char* name;
  Offsets (*plan)(const PeerProblem&);  // null: graphkit's own
};

constexpr std::array<Planner, 8> kPlanners = {{
    {"graphkit", nullptr},
    {"TFLite by size", TfliteBySize},
    {"TFLite by breadth", TfliteByBreadth},
    {"XLA", XlaBestFit},
    {"TVM by size", TvmBySize},
    {"TVM by conflicts", TvmByConflicts},
    {"TVM hill climb", TvmHillClimb},
    {"SOMAS", Somas},
}};

Offsets PlanWith(const Planner& planner, const Problem& problem, const Loaded& loaded) {
  if (planner.plan != nullptr) return planner.plan(loaded.peer);
  if (problem.table != nullptr) return PlanLifetimes(loaded.peer.problem).offsets;
  const BlockOrder order = loaded.facts->Blocks(MarkerRule::kLastUse);
  return PlanCapture(order, loaded.facts->blocks()[0]).offsets;
}

void BM_Plan(benchmark::State& state) {
  const Problem& problem = kProblems[static_cast<size_t>(state.range(0))];
  const Planner& planner = kPlanners[static_cast<size_t>(state.range(1))];
  state.SetLabel(std::string(problem.name) + ": " + planner.name);
  if (!problem.small && planner.plan == TvmHillClimb) return state.SkipWithError("too large");
  const Loaded& loaded = Load(problem);
  Offsets offsets;
  for (auto _ : state) offsets = PlanWith(planner, problem, loaded);
  if (!Safe(loaded.peer, offsets)) return state.SkipWithError("the plan is unsafe");
  state.counters["peak_over_bound"] =
      static_cast<double>(PeakOf(loaded.peer, offsets)) / static_cast<double>(loaded.bound);
}
BENCHMARK(BM_Plan)
    ->ArgsProduct({benchmark::CreateDenseRange(0, kProblems.size() - 1, 1),
                   benchmark::CreateDenseRange(0, kPlanners.size() - 1, 1)})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Others of minimalloc's family: a table, how it is reworded (5: a neighbour), a seed.
void BM_PlanFamily(benchmark::State& state) {
  const Problem& problem = kProblems[static_cast<size_t>(state.range(0))];
  const LifetimeProblem original =
      ReadLifetimeCsv(std::string(GRAPHKIT_TESTDATA "/") + problem.table)->problem;
  const auto seed = static_cast<uint64_t>(state.range(2));
  const LifetimeProblem other =
      state.range(1) < kRewordings
          ? Reworded(original, static_cast<Rewording>(state.range(1)), seed)
          : Neighbour(original, seed);
  state.SetLabel(problem.name);
  Plan plan;
  for (auto _ : state) plan = PlanLifetimes(other);
  if (!ValidatePlan(other, plan).empty()) return state.SkipWithError("the plan is wrong");
  state.counters["peak_over_bound"] =
      static_cast<double>(plan.peak) / static_cast<double>(plan.lower_bound);
}
BENCHMARK(BM_PlanFamily)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 5, 1),
                   benchmark::CreateDenseRange(0, kRewordings, 1),
                   {1, 2, 3}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Synthetic captures: shape, operations, streams, join in thousandths, seed.
void BM_PlanSweep(benchmark::State& state) {
  const Ran trace = Synthesize({.shape = static_cast<SynthShape>(state.range(0)),
                                .ops = static_cast<uint64_t>(state.range(1)),
                                .streams = static_cast<uint32_t>(state.range(2)),
                                .join = static_cast<double>(state.range(3)) / 1000,
                                .alloc = 0.5,
                                .free = 0.4,
                                .sizes = *ParseSizeDistribution("log:512B-32MiB"),
                                .seed = static_cast<uint64_t>(state.range(4))});
  const Facts facts(trace);
  PlannedMemory plan;
  for (auto _ : state) plan = PlanTrace(facts, MarkerRule::kLastUse);
  if (!VerifyPlan(facts, plan, MarkerRule::kLastUse).empty()) {
    return state.SkipWithError("the plan is unsafe");
  }
  state.counters["blocks"] = static_cast<double>(plan.placements.size());
  state.counters["peak_over_bound"] =
      static_cast<double>(plan.peak) / static_cast<double>(plan.lower_bound);
}
BENCHMARK(BM_PlanSweep)
    ->ArgsProduct({{0}, {20'000, 100'000}, {4, 8, 16}, {20, 100, 300}, {1, 2, 3}})
    ->ArgsProduct({{0}, {20'000}, {32, 64}, {100, 300}, {1, 2}})
    ->ArgsProduct({{1}, {20'000, 200'000}, {4, 8, 16}, {0}, {1, 2}})
    ->ArgsProduct({{2}, {20'000, 50'000, 200'000}, {4, 8, 16}, {0}, {1, 2, 3, 4, 5, 6}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graphkit
