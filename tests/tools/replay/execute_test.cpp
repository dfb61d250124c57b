#include "tools/graphkit/replay/execute.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/random.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"
#include "tests/tools/replay/host_executor.h"

namespace graphkit {
namespace {

constexpr Bytes kKiB = 1024;

using Pools = std::vector<std::vector<PlacedBlock>>;

GraphExecution Execute(const Facts& facts, const Pools& pools, uint32_t orders = 100,
                       MarkerRule rule = MarkerRule::kLastUse) {
  const Slices slices(facts.trace, facts.roots(), facts.blocks());
  const Program program = MakeProgram(facts, slices.Of(GraphId(0u)), facts.Blocks(rule), pools);
  return Execute(facts, program, HostExecutor(), {.orders = orders});
}

// a: fill x ── fork ── fill y ── read y ── join
// b:             └── read x ───────────────┘
struct Fork {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  StreamId b = t.Stream("b");
  GraphId graph = t.BeginCapture(a);
  BlockId x = t.Alloc(a, 4 * kKiB);
  NodeId fill_x = t.Kernel(a, "fill", {Writes(x)});
  NodeId read_x;
  NodeId fill_y;
  BlockId y;
  Ran trace;

  explicit Fork(bool ordered) {
    t.Order(a, b);
    read_x = t.Kernel(b, "read", {Reads(x)});
    t.Free(x);
    if (ordered) t.Order(b, a);
    y = t.Alloc(a, 4 * kKiB);
    fill_y = t.Kernel(a, "fill", {Writes(y)});
    t.Kernel(a, "read", {Reads(y)});
    t.Free(y);
    if (!ordered) t.Order(b, a);
    t.EndCapture(a);
    trace = t.Build();
  }
  // Both at the same place.
  Pools Shared() const { return {{{x, 0, 4 * kKiB}, {y, 0, 4 * kKiB}}}; }
};

TEST_CASE("a safe placement executes clean, with the checks counted") {
  const Fork fork(true);
  const GraphExecution execution = Execute(Facts(fork.trace), fork.Shared(), 10);
  CHECK(execution.faults.empty());
  CHECK(execution.nodes == 40);
  // A fill looks at what it takes over and, when it ends, at what it wrote; a read looks twice.
  CHECK(execution.checks == 80);
}

TEST_CASE("blocks that share bytes without an order are found, with what is missing") {
  const Fork fork(false);
  const GraphExecution execution = Execute(Facts(fork.trace), fork.Shared());
  REQUIRE_FALSE(execution.faults.empty());
  CHECK(execution.faults[0].pair ==
        UnsafePair{
            .earlier = fork.x, .later = fork.y, .last_use = fork.read_x, .first_use = fork.fill_y});
}

TEST_CASE("what outlives the graph must not be taken over") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const BlockId output = t.Alloc(a, 512);
  const NodeId write = t.Kernel(a, "write", {Writes(output)});
  const BlockId y = t.Alloc(a, 512);
  const NodeId fill = t.Kernel(a, "fill", {Writes(y)});
  t.EndCapture(a);
  const Ran trace = t.Build();
  const GraphExecution execution = Execute(Facts(trace), {{{output, 0, 512}, {y, 0, 512}}}, 1);
  REQUIRE(execution.faults.size() == 1);
  CHECK(execution.faults[0].pair ==
        UnsafePair{.earlier = output, .later = y, .last_use = write, .first_use = fill});
}

// The first kernel starts, triggers, and goes on reading x while the second one fills y.
TEST_CASE("a programmatic edge doesn't keep a kernel off the bytes of the one before it") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 512);
  t.Kernel(a, "fill", {Writes(x)});
  const NodeId read = t.Kernel(a, "read", {Reads(x)});
  t.Free(x);
  const BlockId y = t.Alloc(a, 512);
  const NodeId fill = t.ProgrammaticKernel(a, "fill", {Writes(y)});
  t.EndCapture(a);
  const Ran trace = t.Build();
  const GraphExecution execution = Execute(Facts(trace), {{{x, 0, 512}, {y, 0, 512}}});
  REQUIRE_FALSE(execution.faults.empty());
  CHECK(execution.faults[0].pair ==
        UnsafePair{.earlier = x, .later = y, .last_use = read, .first_use = fill});
}

// FlashAttention 3: the combine kernel waits on some of its ways, so its end comes after split's.
TEST_CASE("what follows a kernel that waits on some ways may take its producer's bytes") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 512), out = t.Alloc(a, 512);
  t.Kernel(a, "split", {Writes(x)});
  const Access writes[] = {Writes(out)};
  t.ProgrammaticKernel(a, t.Function("combine", Ternary::kUnknown, Triggers::kNo), writes);
  t.Free(x);
  const BlockId y = t.Alloc(a, 512);
  t.Kernel(a, "next", {Writes(y)});
  t.EndCapture(a);
  const Ran trace = t.Build();
  const GraphExecution execution =
      Execute(Facts(trace), {{{x, 0, 512}, {y, 0, 512}, {out, 512, 512}}});
  CHECK(execution.faults.empty());
}

TEST_CASE("what the order proves executes clean on random traces") {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomTrace(seed, {.max_steps = 40, .nested = seed % 2 == 0, .memory = true});
    const Facts facts(trace);
    for (const PolicyKind policy : {PolicyKind::kReuse, PolicyKind::kOptimal}) {
      CAPTURE(std::string(InfoOf(policy).name));
      REQUIRE(ExecutesClean(facts, ReplayTrace(facts, policy), 6));
    }
  }
}

TEST_CASE("every policy executes clean where programs keep PyTorch's contract") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const Ran trace = Synthesize(
        {.ops = 200, .streams = 3, .join = 0.3, .alloc = 0.4, .free = 0.3, .seed = seed});
    const Facts facts(trace);
    for (const PolicyInfo& policy : Policies()) {
      CAPTURE(std::string(policy.name));
      CHECK(ExecutesClean(facts, ReplayTrace(facts, policy.kind), 10));
    }
  }
}

// PyTorch's contract is that a block is used on its own and its recorded streams only.
TEST_CASE("a use on a stream that wasn't recorded is found, though the contract proves it safe") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 512);
  t.Kernel(a, "fill", {Writes(x)});
  t.Order(a, b);
  t.Kernel(b, "read", {Reads(x)});
  t.Free(x);
  const BlockId y = t.Alloc(a, 512);
  t.Kernel(a, "fill", {Writes(y)});
  t.Order(b, a);
  t.EndCapture(a);
  const Ran trace = t.Build();
  const Facts facts(trace);
  const PolicyReplay replay = ReplayTrace(facts, PolicyKind::kPyTorch, {.verify = true});
  CHECK(replay.verified);
  CHECK_FALSE(ExecutesClean(facts, replay, 100));
}

// Work, not time: the same for one graph as for thousands.
TEST_CASE("programs are made by going through each node once, however many graphs there are") {
  for (const uint32_t graphs : {1u, 4096u}) {
    const Ran trace =
        Synthesize({.shape = SynthShape::kTraining, .ops = 40'000, .streams = 4, .graphs = graphs});
    const Facts facts(trace);
    const Slices slices(trace, facts.roots(), facts.blocks());
    size_t looks = 0;
    for (const GraphReplay& graph : ReplayTrace(facts, PolicyKind::kReuse).graphs) {
      const Pools arenas = {graph.pools[0].arena};
      looks +=
          MakeProgram(facts, slices.Of(graph.graph), facts.Blocks(MarkerRule::kLastUse), arenas)
              .looks;
    }
    CHECK(looks == trace.nodes.size());
  }
}

// One proof is taken away: a block is moved onto another one that conflicts with it.
bool FindsPlantedFault(uint64_t seed) {
  const Ran trace = Synthesize({.ops = 300,
                                .streams = 3,
                                .join = 0.3,
                                .alloc = 0.4,
                                .free = 0.35,
                                .sizes = *ParseSizeDistribution("log:512B-1MiB"),
                                .seed = seed});
  const Facts facts(trace);
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  const PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse);
  Pools pools(plan.arenas.size());
  for (const Placement& p : plan.placements) {
    pools[p.arena].push_back({BlockId(p.block), p.offset, p.size});
  }
  Random random(seed);
  std::vector<PlacedBlock>& blocks = pools[0];
  while (true) {
    PlacedBlock& moved = blocks[random.Below(blocks.size())];
    const PlacedBlock& onto = blocks[random.Below(blocks.size())];
    const bool touched =
        !facts.lives().Touches(moved.block).empty() && !facts.lives().Touches(onto.block).empty();
    if (moved.block == onto.block || !touched || !order.Conflict(moved.block, onto.block)) continue;
    moved.offset = onto.offset;
    break;
  }
  const GraphExecution execution = Execute(facts, pools);
  const std::vector<UnsafePair> unsafe = ValidatePlacements(order, blocks);
  for (const ExecutionFault& fault : execution.faults) {
    CHECK(order.Conflict(fault.pair.earlier, fault.pair.later));
  }
  CHECK_FALSE(unsafe.empty());
  return !execution.faults.empty();
}

TEST_CASE("of a hundred plans with one proof taken away, at least 99 are found out") {
  int found = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) found += FindsPlantedFault(seed) ? 1 : 0;
  CHECK(found >= 99);
}

}  // namespace
}  // namespace graphkit
