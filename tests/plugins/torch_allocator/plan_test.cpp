// GRAPHKIT_PLAN: blocks lie as planned, and where the program departs from the plan it is served
// all the same.
#include "plugins/torch_allocator/plan_guide.h"

#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

constexpr PoolKey kPlannedPool{1, 0};

// a and b beside each other, then c where both were.
PlannedGraphs ThreeBlocks() {
  return {{{{.size = 3 * kMiB, .blocks = {{0, kMiB}, {kMiB, 2 * kMiB}, {0, 3 * kMiB}}}}}};
}

struct Planned {
  explicit Planned(PlannedGraphs plan, const Settings& settings = {})
      : made(MakeAllocator(settings, std::move(plan))), allocator(Start(&made)), streams(2) {}
  uintptr_t Malloc(Bytes size, size_t stream = 0) {
    void* block = allocator.Malloc(size, streams.id(stream));
    REQUIRE(block != nullptr);
    Touch(block, streams[stream]);
    return reinterpret_cast<uintptr_t>(block);
  }
  void Free(uintptr_t block) { REQUIRE(allocator.Free(reinterpret_cast<void*>(block))); }

  Made made;
  DeviceAllocator& allocator;
  Streams streams;
};

struct PlanCounts {
  uint64_t planned, departures, refusals, unused;
  bool operator==(const PlanCounts&) const = default;
};
PlanCounts CountsOf(DeviceAllocator& allocator) {
  const graphkit_allocator_figures f = allocator.figures();
  return {f.planned, f.plan_departures, f.plan_refusals, f.plan_unused};
}

TEST_CASE("a program that does what the plan knows gets the plan's places") {
  Planned run(ThreeBlocks());
  Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
  const uintptr_t a = run.Malloc(kMiB);
  const uintptr_t b = run.Malloc(2 * kMiB - 100);  // sizes are compared rounded
  CHECK(b == a + kMiB);
  run.Free(a);
  run.Free(b);
  CHECK(run.Malloc(3 * kMiB) == a);
  recording.Stop();
  CHECK(CountsOf(run.allocator) == PlanCounts{3, 0, 0, 0});
  CHECK(run.allocator.figures().reserved == 3 * kMiB);
}

TEST_CASE("a block that the plan doesn't have is placed without it, the next ones with it") {
  Planned run(ThreeBlocks());
  Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
  const uintptr_t a = run.Malloc(kMiB);
  const uintptr_t other = run.Malloc(700 * 1024);
  CHECK((other + 700 * 1024 <= a || other >= a + 3 * kMiB));
  CHECK(run.Malloc(2 * kMiB) == a + kMiB);
  recording.Stop();
  CHECK(CountsOf(run.allocator) == PlanCounts{2, 1, 0, 1});
}

TEST_CASE("a block that the program doesn't ask for is passed over") {
  Planned run(ThreeBlocks());
  Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
  const uintptr_t b = run.Malloc(2 * kMiB);
  run.Free(b);
  CHECK(run.Malloc(3 * kMiB) == b - kMiB);
  recording.Stop();
  CHECK(CountsOf(run.allocator) == PlanCounts{2, 0, 0, 1});
}

TEST_CASE("a planned place isn't used while somebody lies there") {
  Planned run(ThreeBlocks());
  Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
  const uintptr_t a = run.Malloc(kMiB);
  const uintptr_t b = run.Malloc(2 * kMiB);
  run.Free(a);
  const uintptr_t c = run.Malloc(3 * kMiB);
  CHECK((c + 3 * kMiB <= a || c >= b + 2 * kMiB));
  recording.Stop();
  CHECK(CountsOf(run.allocator) == PlanCounts{2, 0, 1, 0});
}

TEST_CASE("a planned place isn't used where the streams don't prove that it is free") {
  for (const bool trust : {false, true}) {
    CAPTURE(trust);
    Planned run(ThreeBlocks(), {.trust_plan = trust});
    Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
    const uintptr_t a = run.Malloc(kMiB);
    const uintptr_t b = run.Malloc(2 * kMiB);
    Join(run.streams[1], run.streams[0]);
    run.allocator.RecordStream(reinterpret_cast<void*>(b), run.streams.id(1));
    Touch(reinterpret_cast<void*>(b), run.streams[1]);
    run.Free(a);
    run.Free(b);
    const uintptr_t c = run.Malloc(3 * kMiB);
    CHECK((c == a) == trust);  // as with GRAPHKIT_ASSUME=arguments
    Join(run.streams[0], run.streams[1]);
    recording.Stop();
    CHECK(CountsOf(run.allocator) == (trust ? PlanCounts{3, 0, 0, 0} : PlanCounts{2, 0, 1, 0}));
  }
}

TEST_CASE("the n-th capture follows the plan's n-th graph; later ones do without") {
  PlannedGraphs two = ThreeBlocks();
  two.graphs.push_back({{.size = 2 * kMiB, .blocks = {{kMiB, kMiB}}}});
  Planned run(two);
  std::vector<uintptr_t> first;
  for (int capture = 0; capture < 3; ++capture) {
    Recording recording(&run.allocator, kPlannedPool, run.streams[0]);
    first.push_back(run.Malloc(kMiB));
    recording.Stop();
  }
  CHECK(CountsOf(run.allocator) == PlanCounts{2, 1, 0, 2});
}

TEST_CASE("graphs of a sequence share their arena") {
  PlannedGraphs sequence{{{{.size = 2 * kMiB, .blocks = {{0, kMiB}, {0, 2 * kMiB}}}}}, true};
  Planned run(sequence);
  Recording one(&run.allocator, kPlannedPool, run.streams[0]);
  const uintptr_t a = run.Malloc(kMiB);
  run.Free(a);
  one.Stop();
  Recording two(&run.allocator, kPlannedPool, run.streams[0]);
  CHECK(run.Malloc(2 * kMiB) == a);
  two.Stop();
  CHECK(CountsOf(run.allocator) == PlanCounts{2, 0, 0, 0});
}

TEST_CASE("a plan is split into what each capture's pools ask for, in order") {
  PlannedMemory plan;
  plan.of_trace = true;
  plan.arenas = {{GraphId(4u), PoolId(0u), 2, 3 * 512, 512},
                 {GraphId(2u), PoolId(1u), 1, 512, 512}};
  plan.placements = {{10, 1, 0, 100}, {11, 0, 512, 1024}, {12, 0, 0, 512}};
  CHECK(SplitPlan(plan) ==
        PlannedGraphs{{{{512, {{0, 512}}}}, {{3 * 512, {{512, 1024}, {0, 512}}}}}, false});
}

}  // namespace
}  // namespace graphkit::torch
