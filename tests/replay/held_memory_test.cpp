#include "libgraphkit/replay/policy_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Bytes kHeldMiB = Bytes{1} << 20;

// Graphs captured one after the other into two pools, whose blocks live for a while or for ever.
Ran RandomCaptures(std::mt19937_64& random) {
  const auto pick = [&](uint64_t end) { return random() % end; };
  TraceBuilder t;
  const StreamId streams[] = {t.Stream(), t.Stream()};
  const PoolId pools[] = {t.Pool(PoolKind::kPrivate), t.Pool(PoolKind::kPrivate)};
  std::vector<BlockId> living;
  const auto free_some = [&](uint64_t some) {
    for (uint64_t i = 0; i < some && !living.empty(); ++i) {
      const size_t place = pick(living.size());
      t.Free(living[place]);
      living.erase(living.begin() + static_cast<ptrdiff_t>(place));
    }
  };
  for (uint64_t graph = 0; graph < 2 + pick(6); ++graph) {
    const StreamId stream = streams[pick(2)];
    const GraphId captured = t.BeginCapture(stream);
    for (uint64_t i = 0; i < 1 + pick(12); ++i) {
      if (pick(3) == 0) free_some(1);
      t.SetPool(pools[pick(2)]);
      living.push_back(
          t.Alloc(stream, pick(4) == 0 ? kHeldMiB * (1 + pick(12)) : 512 * (1 + pick(8))));
      t.Kernel(stream, "k", {Writes(living.back())});
    }
    t.EndCapture(stream);
    const ExecId exec = t.Instantiate(captured);
    free_some(pick(8));
    if (pick(4) == 0) t.Destroy(exec);
  }
  return t.Build();
}

TEST_CASE("graphs that share pools are replayed in what the ones before them left") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  CAPTURE(seed);
  uint64_t shared = 0;
  for (int round = 0; round < RandomRounds(150); ++round) {
    CAPTURE(round);
    const Ran trace = RandomCaptures(random);
    const Facts facts(trace);
    for (const PolicyInfo& policy : Policies()) {
      CAPTURE(std::string(policy.name));
      const ReplayOptions options{
          .verify = true, .config = {}, .planner = {.search = {.effort = 20'000}}};
      const PolicyReplay replay = ReplayTrace(facts, policy.kind, options);
      REQUIRE(replay.verified);
      REQUIRE(replay.figures.lower_bound <= replay.figures.peak_extent);
      if (!policy.offline) REQUIRE(replay.figures.peak_allocated <= replay.figures.peak_extent);
      Bytes sum = 0;
      for (const GraphReplay& graph : replay.graphs) sum += graph.figures.peak_reserved;
      shared += replay.figures.peak_reserved < sum;
      if (policy.offline) continue;
      ReplayOptions scan = options;
      scan.scan = true;
      PolicyFigures slow = ReplayTrace(facts, policy.kind, scan).figures;
      slow.seconds = replay.figures.seconds;
      REQUIRE(slow == replay.figures);
    }
  }
  CHECK(shared > 100);
}

TEST_CASE("models of allocators find what the graphs before left in their pools") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  CAPTURE(seed);
  uint64_t shared = 0;
  for (int round = 0; round < RandomRounds(150); ++round) {
    CAPTURE(round);
    const Ran trace = RandomCaptures(random);
    const Facts facts(trace);
    const PolicyFigures defer = ReplayTrace(facts, PolicyKind::kDefer).figures;
    for (const ModelInfo& model : Models()) {
      CAPTURE(std::string(model.name));
      const PolicyReplay replay = ReplayModel(facts, model.kind, {.verify = true});
      REQUIRE(replay.verified);
      REQUIRE(replay.figures.lower_bound <= replay.figures.peak_extent);
      REQUIRE(replay.figures.peak_allocated == defer.peak_allocated);
      REQUIRE(replay.figures.peak_extent <= replay.figures.peak_reserved);
      Bytes sum = 0;
      for (const GraphReplay& graph : replay.graphs) sum += graph.figures.peak_reserved;
      shared += replay.figures.peak_reserved < sum;
      if (model.kind != ModelKind::kCaching) continue;
      REQUIRE(replay.figures.peak_reserved == defer.peak_reserved);
    }
  }
  CHECK(shared > 100);
}

TEST_CASE("what a graph finds in a pool is what no living block takes") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  t.BeginCapture(s);
  t.SetPool(pool);
  const BlockId a = t.Alloc(s, 2 * kHeldMiB), b = t.Alloc(s, 3 * kHeldMiB);
  t.EndCapture(s);
  t.Free(a);
  const Ran trace = t.Build();
  const CachingConfig config;
  HeldPools held(trace, config);
  held.AddSegment(pool, {0, 20 * kHeldMiB, s});
  held.Add(pool, {{a, 0, 2 * kHeldMiB}, {b, 2 * kHeldMiB, 3 * kHeldMiB}});
  held.Begin(trace.records, trace.records);
  CHECK(held.living() == 3 * kHeldMiB);
  CHECK(held.reserved() == 20 * kHeldMiB);
  CHECK(held.Of(pool) ==
        HeldMemory{{{0, 2 * kHeldMiB, s}, {5 * kHeldMiB, 15 * kHeldMiB, s}}, 20 * kHeldMiB});
}

TEST_CASE("a block on one of an earlier graph that stays is found") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.BeginCapture(s);
  const BlockId kept = t.Alloc(s, 1024), freed = t.Alloc(s, 1024);
  t.EndCapture(s);
  t.Free(freed);
  t.BeginCapture(s);
  const BlockId later = t.Alloc(s, 2048);
  t.EndCapture(s);
  const Ran trace = t.Build();
  const std::vector<PlacedBlock> first = {{kept, 0, 1024}, {freed, 1024, 1024}};
  for (const Bytes offset : {Bytes{0}, Bytes{512}, Bytes{1024}}) {
    const std::vector<PlacedBlock> second = {{later, offset, 2048}};
    const std::span<const PlacedBlock> graphs[] = {first, second};
    const std::vector<UnsafePair> expected = {{kept, later}};
    CHECK(ValidateSharers(Facts(trace).Blocks(MarkerRule::kLastUse), graphs) ==
          (offset < 1024 ? expected : std::vector<UnsafePair>()));
  }
}

enum class WhileFreed : uint8_t { kUsed, kUsedBeside, kUnknown, kFreedLate };

// Of an earlier graph's block that is freed while a later graph is captured: what lies on it there.
std::vector<UnsafePair> TakenWhileFreed(WhileFreed what, MarkerRule rule) {
  TraceBuilder t;
  const StreamId s = t.Stream(), beside = t.Stream();
  t.BeginCapture(s);
  const BlockId output = t.Alloc(s, 1024);
  t.Kernel(s, "produce", {Writes(output)});
  t.EndCapture(s);
  t.BeginCapture(s);
  const BlockId own = t.Alloc(s, 1024);
  t.Order(s, beside);
  if (what == WhileFreed::kUnknown) t.Capture(s, NodeKind::kUnknown);
  t.Kernel(what == WhileFreed::kUsedBeside ? beside : s, "consume", {Reads(output), Writes(own)});
  if (what != WhileFreed::kFreedLate) t.Free(output);
  const BlockId later = t.Alloc(s, 1024);
  t.Kernel(s, "k", {Writes(later)});
  if (what == WhileFreed::kFreedLate) t.Free(output);
  t.Order(beside, s);
  t.EndCapture(s);
  const Ran trace = t.Build();
  const std::vector<PlacedBlock> first = {{output, 0, 1024}};
  const std::vector<PlacedBlock> second = {{own, 1024, 1024}, {later, 0, 1024}};
  const std::span<const PlacedBlock> graphs[] = {first, second};
  return ValidateSharers(Facts(trace).Blocks(rule), graphs);
}

TEST_CASE("a block that is freed while a later graph is captured is left to it after its uses") {
  const std::vector<UnsafePair> safe;
  const UnsafePair pair{BlockId(0u), BlockId(2u)};
  CHECK(TakenWhileFreed(WhileFreed::kUsed, MarkerRule::kLastUse) == safe);
  CHECK(TakenWhileFreed(WhileFreed::kUsed, MarkerRule::kAtFree) == std::vector{pair});
  CHECK(TakenWhileFreed(WhileFreed::kUsedBeside, MarkerRule::kLastUse) ==
        std::vector{UnsafePair{BlockId(0u), BlockId(2u), NodeId(1u)}});
  CHECK(TakenWhileFreed(WhileFreed::kUnknown, MarkerRule::kLastUse) == std::vector{pair});
  CHECK(TakenWhileFreed(WhileFreed::kFreedLate, MarkerRule::kLastUse) == std::vector{pair});
}

// Graphs A, B and C of one pool. A's scratch is taken by B; its output is kept for good, or freed
// before C was captured.
PolicyFigures ThreeGraphs(PolicyKind policy, bool frees) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(PoolKind::kPrivate));
  BlockId output;
  for (int graph = 0; graph < 3; ++graph) {
    if (graph == 2 && frees) t.Free(output);
    t.BeginCapture(s);
    const BlockId scratch = t.Alloc(s, 12 * kHeldMiB);
    t.Kernel(s, "k", {Writes(scratch)});
    if (graph < 2) t.Free(scratch);
    if (graph == 0) {
      output = t.Alloc(s, 16 * kHeldMiB);
      t.Kernel(s, "k", {Writes(output)});
    }
    t.EndCapture(s);
  }
  const Ran trace = t.Build();
  return ReplayTrace(Facts(trace), policy, {.verify = true}).figures;
}

TEST_CASE("memory of one graph goes to the next, but what is kept doesn't") {
  for (const PolicyInfo& policy : Policies()) {
    for (const bool frees : {false, true}) {
      CAPTURE(std::string(policy.name));
      const PolicyFigures figures = ThreeGraphs(policy.kind, frees);
      // C's 12 MiB go where A's output of 16 MiB lay, or where A's and B's scratch did.
      CHECK(figures.peak_reserved == 28 * kHeldMiB);
      CHECK(figures.peak_extent == 28 * kHeldMiB);
      CHECK(figures.peak_allocated == 28 * kHeldMiB);
      CHECK(figures.lower_bound == 28 * kHeldMiB);
    }
  }
}

TEST_CASE("graphs that were destroyed before others were captured don't count beside them") {
  for (const bool destroyed : {false, true}) {
    TraceBuilder t;
    const StreamId s = t.Stream();
    for (int graph = 0; graph < 2; ++graph) {
      t.SetPool(t.Pool(PoolKind::kPrivate));
      const GraphId captured = t.BeginCapture(s);
      const BlockId block = t.Alloc(s, 12 * kHeldMiB);
      t.Kernel(s, "k", {Writes(block)});
      t.Free(block);
      t.EndCapture(s);
      const ExecId exec = t.Instantiate(captured);
      if (destroyed) t.Destroy(exec);
    }
    const Ran trace = t.Build();
    const Facts facts(trace);
    const Bytes expected = (destroyed ? 12 : 24) * kHeldMiB;
    CHECK(ReplayTrace(facts, PolicyKind::kReuse).figures.peak_reserved == expected);
    CHECK(ReplayTrace(facts, PolicyKind::kReuse, {.capacity = 23 * kHeldMiB})
              .graphs[1]
              .out_of_memory.has_value() == !destroyed);
  }
}

}  // namespace
}  // namespace graphkit
