// Properties of every component that places the blocks of a trace: every policy, every allocator
// model, and a user's allocator. Properties that each one has alone are tested beside it.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"
#include "tests/tools/replay/host_executor.h"
#include "tools/graphkit/replay/user_allocator.h"

namespace graphkit {
namespace {

struct Subject {
  std::string name;
  // True if its placement is safe on captures that record every use, without programmatic edges and
  // rewinds.
  bool safe = false;
  std::function<PolicyReplay(const Facts&, const ReplayOptions&)> replay;
};

PolicyReplay ByExample(const Facts& facts, const ReplayOptions& options) {
  static const Result<UserAllocator> allocator = UserAllocator::Load(GRAPHKIT_EXAMPLE_ALLOCATOR);
  REQUIRE(allocator.has_value());
  const Result<std::vector<Bytes>> offsets = PlaceByAllocator(facts, allocator->table());
  REQUIRE(offsets.has_value());
  return ReplayOffsets(facts, *offsets, options, allocator->table().name);
}

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (const PolicyInfo& policy : Policies()) {
    subjects.push_back({policy.name, true, [kind = policy.kind](const auto& facts, const auto& o) {
                          return ReplayTrace(facts, kind, o);
                        }});
  }
  for (const ModelInfo& model : Models()) {
    const bool safe = model.kind == ModelKind::kCaching;
    subjects.push_back({model.name, safe, [kind = model.kind](const auto& facts, const auto& o) {
                          return ReplayModel(facts, kind, o);
                        }});
  }
  subjects.push_back({"example", true, ByExample});
  return subjects;
}

void ForEachSubject(const std::function<void(const Subject&)>& check) {
  for (const Subject& subject : Subjects()) {
    CAPTURE(subject.name);
    check(subject);
  }
}

Ran Sample(uint64_t seed, uint32_t streams) {
  constexpr SynthShape kShapes[] = {SynthShape::kRandom, SynthShape::kTraining,
                                    SynthShape::kPipeline};
  return Synthesize({.shape = kShapes[seed % 3],
                     .ops = 200,
                     .streams = streams,
                     .join = 0.3,
                     .alloc = 0.4,
                     .free = 0.3,
                     .sizes = *ParseSizeDistribution("log:512B-32MiB"),
                     .graphs = 1 + static_cast<uint32_t>(seed % 2),
                     .seed = seed});
}

// Six captures, each in the hands of every subject.
void ForEachSample(uint32_t streams,
                   const std::function<void(const Facts&, const Subject&)>& check) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Ran trace = Sample(seed, streams);
    const Facts facts(trace);
    CAPTURE(seed);
    ForEachSubject([&](const Subject& subject) { check(facts, subject); });
  }
}

PolicyReplay Untimed(PolicyReplay replay) {
  replay.figures.seconds = 0;
  for (GraphReplay& graph : replay.graphs) graph.figures.seconds = 0;
  return replay;
}

// Until the free was requested; a block that isn't freed in its graph lives on.
bool AliveTogether(const Facts& facts, BlockId x, BlockId y) {
  const auto end = [&](BlockId block) {
    return facts.lives()[block].freed ? facts.trace[block].free_requested : kNever;
  };
  return facts.trace[x].allocated < end(y) && facts.trace[y].allocated < end(x);
}

TEST_CASE("every block is placed once, in its pool, aligned and with all its bytes") {
  ForEachSample(3, [](const Facts& facts, const Subject& subject) {
    const PolicyReplay replay = subject.replay(facts, {});
    for (const GraphReplay& graph : replay.graphs) {
      const std::vector<PoolBlocks> pools = BlocksByPool(facts, graph.graph);
      REQUIRE(graph.pools.size() == pools.size());
      for (size_t i = 0; i < pools.size(); ++i) {
        REQUIRE(graph.pools[i].pool == pools[i].pool);
        REQUIRE(graph.pools[i].arena.size() == pools[i].blocks.size());
        for (size_t j = 0; j < pools[i].blocks.size(); ++j) {
          const PlacedBlock& placed = graph.pools[i].arena[j];
          REQUIRE(placed.block == pools[i].blocks[j]);
          REQUIRE(placed.offset % 256 == 0);
          REQUIRE(placed.size == RoundedSize(facts.trace[placed.block]));
        }
      }
    }
  });
}

TEST_CASE("blocks that are allocated at the same time never overlap") {
  ForEachSample(3, [](const Facts& facts, const Subject& subject) {
    if (subject.name == "optimal") return;  // goes by the order of the graph alone
    const PolicyReplay replay = subject.replay(facts, {});
    for (const GraphReplay& graph : replay.graphs) {
      for (const ReplayedPool& pool : graph.pools) {
        for (const auto* blocks : {&pool.arena, &pool.segments}) {
          for (const PlacedBlock& x : *blocks) {
            for (const PlacedBlock& y : *blocks) {
              const bool overlap =
                  x.block < y.block && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
              REQUIRE_FALSE((overlap && AliveTogether(facts, x.block, y.block)));
            }
          }
        }
      }
    }
  });
}

TEST_CASE("on captures that record every use the safe ones are verified and executed clean") {
  ForEachSample(4, [](const Facts& facts, const Subject& subject) {
    const PolicyReplay replay = subject.replay(facts, {.verify = true});
    if (!subject.safe) return;
    REQUIRE(replay.verified);
    REQUIRE(ExecutesClean(facts, replay, 5));
    REQUIRE(replay.figures.peak_extent >= replay.figures.lower_bound);
  });
}

TEST_CASE("on one stream all are safe and nothing is ever deferred") {
  for (uint64_t seed = 3; seed <= 12; seed += 3) {
    const Ran trace = Sample(seed, 1);
    const Facts facts(trace);
    CAPTURE(seed);
    ForEachSubject([&](const Subject& subject) {
      const PolicyReplay replay = subject.replay(facts, {.verify = true});
      REQUIRE(replay.verified);
      REQUIRE(replay.figures.peak_active == replay.figures.peak_allocated);
      REQUIRE(replay.figures.never_reclaimed == 0);
    });
  }
}

TEST_CASE("figures hold one another, and what is allocated is the same for all") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Ran trace = Sample(seed, 3);
    const Facts facts(trace);
    const Bytes allocated = ReplayTrace(facts, PolicyKind::kDefer).figures.peak_allocated;
    CAPTURE(seed);
    ForEachSubject([&](const Subject& subject) {
      const PolicyFigures figures = subject.replay(facts, {}).figures;
      REQUIRE(figures.peak_allocated == allocated);
      REQUIRE(figures.peak_allocated <= figures.peak_active);
      if (subject.name != "optimal") REQUIRE(figures.peak_reserved >= allocated);
      REQUIRE(figures.never_reclaimed <= figures.peak_active + figures.deferred_byte_operations);
    });
  }
}

TEST_CASE("the same trace gives the same replay, and the timeline changes nothing") {
  const Ran trace = Sample(1, 3);
  const Facts facts(trace);
  ForEachSubject([&](const Subject& subject) {
    const PolicyReplay first = Untimed(subject.replay(facts, {.verify = true}));
    REQUIRE(first == Untimed(subject.replay(facts, {.verify = true})));
    PolicyReplay timed = Untimed(subject.replay(facts, {.verify = true, .timeline = true}));
    for (GraphReplay& graph : timed.graphs) {
      REQUIRE_FALSE(graph.timeline.empty());
      graph.timeline.clear();
    }
    REQUIRE(first == timed);
  });
}

TEST_CASE("blocks without bytes, without touches, and graphs without blocks are taken") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  t.BeginCapture(s);
  t.Free(t.Alloc(s, 0));
  t.Alloc(s, 512);
  t.Kernel(s, "idle");
  t.EndCapture(s);
  t.BeginCapture(s);
  t.Kernel(s, "alone");
  t.EndCapture(s);
  const Ran trace = t.Build();
  const Facts facts(trace);
  ForEachSubject([&](const Subject& subject) {
    const PolicyReplay replay = subject.replay(facts, {.verify = true});
    CHECK(replay.verified);
    CHECK(replay.graphs.size() == 1);
    CHECK(replay.figures.peak_allocated == 512);
  });
}

TEST_CASE("whoever overlaps what conflicts on a random trace is told so") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 50, .nested = seed % 3 == 0, .memory = true});
    const Facts facts(trace);
    CAPTURE(seed);
    ForEachSubject([&](const Subject& subject) {
      const PolicyReplay replay = subject.replay(facts, {.verify = true});
      for (const GraphReplay& graph : replay.graphs) {
        const MarkerRule rule =
            replay.given.empty() ? InfoOf(replay.policy).rule : MarkerRule::kLastUse;
        const BlockOrder order = facts.Blocks(rule);
        bool conflict = false;
        for (const ReplayedPool& pool : graph.pools) {
          for (const auto* blocks : {&pool.arena, &pool.segments}) {
            for (const PlacedBlock& x : *blocks) {
              for (const PlacedBlock& y : *blocks) {
                const bool overlap = x.block < y.block && x.offset < y.offset + y.size &&
                                     y.offset < x.offset + x.size;
                conflict = conflict || (overlap && order.Conflict(x.block, y.block));
              }
            }
          }
        }
        REQUIRE(graph.unsafe.empty() == !conflict);
      }
    });
  }
}

}  // namespace
}  // namespace graphkit
