#include "libgraphkit/analysis/launches/borrow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/random.h"
#include "tests/analysis/order/slow_order.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/replay/one_pool.h"

namespace graphkit {
namespace {

// units     0   2   4   6   8   10  12  14  16
//           |tmp|out|rd1|oth|wrk|eag| never |      tmp alone is freed in its capture and nothing
//           else
TEST_CASE("between launches is free what was freed in its capture, and what nobody got") {
  OnePool p(16);
  TraceBuilder& t = p.t;
  const GraphId first = t.BeginCapture(p.s);
  const BlockId tmp = p.Alloc(0, 2);
  const BlockId out = p.Alloc(2, 2);
  const BlockId read_first = p.Alloc(4, 2);
  const BlockId other = p.Alloc(6, 2);
  const BlockId worked = p.Alloc(8, 2);
  t.Kernel(p.s, "make", {Writes(tmp), Writes(out), Writes(other), Writes(worked)});
  t.Kernel(p.s, "take", {Reads(read_first), Reads(tmp)});
  for (const BlockId block : {tmp, read_first, other, worked}) t.Free(block);
  t.EndCapture(p.s);
  const GraphId second = t.BeginCapture(p.s);
  t.Kernel(p.s, "elsewhere", {Reads(other)});
  const BlockId own = p.Alloc(0, 1);
  t.Kernel(p.s, "own", {Writes(own)});
  t.Free(own);
  t.EndCapture(p.s);
  const ExecId a = t.Instantiate(first);
  const ExecId b = t.Instantiate(second);
  const BlockId eager = p.Alloc(10, 2);
  t.Launch(a, p.s);
  t.Work(p.s, "peek", {Reads(worked)});
  t.Launch(b, p.s);
  t.Launch(a, p.s);
  t.Free(out);  // too late: who has its address may read it after any launch
  const Ran trace = t.Build();
  const Facts facts(trace);

  const std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(FreeUnits(pools[0], p.base) == Units{{0, 2}, {12, 16}});
  const auto whole = [&](BlockId block, BorrowBar why, bool found) {
    return BarredBlock{block, {0, 2 * kUnit}, why, found};
  };
  CHECK(pools[0].barred == std::vector<BarredBlock>{whole(out, BorrowBar::kOutput, false),
                                                    whole(read_first, BorrowBar::kReadFirst, true),
                                                    whole(other, BorrowBar::kOtherGraph, true),
                                                    whole(worked, BorrowBar::kOutside, true),
                                                    whole(eager, BorrowBar::kEager, false)});
  CHECK(pools[0].reserved == 16 * kUnit);
  CHECK(pools[0].free_bytes() == 6 * kUnit);
  CHECK(pools[0].largest() == 4 * kUnit);
  CHECK(pools[0].in_use == 4 * kUnit);
  CHECK(pools[0].windows == std::vector<BorrowWindow>{{first, second, 1}, {second, first, 1}});
  CHECK(ValidateBorrow(facts, pools).empty());
}

// A node that is switched off leaves what it wrote in the launch before. Its reader isn't proved to
// come after it, as the node between them doesn't wait in every launch, but it isn't the first one.
TEST_CASE("what a node that is switched off wrote earlier isn't lent") {
  OnePool p(4);
  TraceBuilder& t = p.t;
  const GraphId graph = t.BeginCapture(p.s);
  const BlockId kept = p.Alloc(0, 2);
  const Access some{kept, AccessMode::kUnknown, 0, 2 * kUnit};
  const NodeId make = t.Kernel(p.s, "make", {some});
  const NodeId between = t.ProgrammaticKernel(p.s, t.Function("between", Ternary::kYes), {});
  t.Kernel(p.s, "take", {some});
  t.Free(kept);
  t.EndCapture(p.s);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, p.s);
  t.Change(between, exec, NodeChangeKind::kDisabled);
  t.Launch(exec, p.s);
  t.Change(between, exec, NodeChangeKind::kEnabled);
  t.Change(make, exec, NodeChangeKind::kDisabled);
  t.Launch(exec, p.s);
  const Ran trace = t.Build();
  const Facts facts(trace);
  std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(FreeUnits(pools[0], p.base) == Units{{2, 4}});
  pools[0].free = {{p.base, p.base + kUnit}};
  CHECK_FALSE(ValidateBorrow(facts, pools).empty());
}

// A graph keeps the address of what another one freed in its capture (a weak reference).
TEST_CASE("what another graph finds at the address of a freed block isn't lent") {
  OnePool p(8);
  TraceBuilder& t = p.t;
  const BlockId driver = t.AllocAt({}, 8 * kUnit, p.base);
  const GraphId first = t.BeginCapture(p.s);
  const BlockId result = p.Alloc(0, 2);
  t.Kernel(p.s, "make", {Writes(result)});
  t.Free(result);
  const BlockId tmp = p.Alloc(4, 2);
  t.Kernel(p.s, "use", {Writes(tmp)});
  t.Free(tmp);
  t.EndCapture(p.s);
  const GraphId second = t.BeginCapture(p.s);
  t.Kernel(p.s, "take", {Reads(driver, kUnit, 4)});
  t.EndCapture(p.s);
  t.Launch(t.Instantiate(first), p.s);
  t.Launch(t.Instantiate(second), p.s);
  Ran trace = t.Build();
  trace.segments[p.segment.index()].block = driver;
  const Facts facts(trace);
  std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(FreeUnits(pools[0], p.base) == Units{{0, 1}, {2, 8}});
  CHECK(ValidateBorrow(facts, pools).empty());
  pools[0].free = {{p.base, p.base + 8 * kUnit}};
  CHECK(ValidateBorrow(facts, pools) == std::vector<WrongBorrow>{{{}, p.base}, {result, p.base}});
  CHECK(pools[0].barred ==
        std::vector<BarredBlock>{{result, {kUnit, kUnit + 4}, BorrowBar::kOtherGraph, true}});
}

TEST_CASE("what a graph touches at addresses that another pool had isn't lent") {
  for (const bool stale : {true, false}) {
    OnePool p(8);
    TraceBuilder& t = p.t;
    t.SetPool(t.Pool(PoolKind::kAllocator));
    const BlockId old = t.AllocAt(p.s, 2 * kUnit, p.base + 4 * kUnit);
    const BlockId elsewhere = t.Alloc(p.s, 2 * kUnit);
    t.SetPool({});
    const GraphId first = t.BeginCapture(p.s);
    t.Memcpy(p.s, {Reads(stale ? old : elsewhere, 0, 2 * kUnit)});
    t.EndCapture(p.s);
    t.Free(old);
    const GraphId second = t.BeginCapture(p.s);
    const BlockId own = p.Alloc(0, 2);
    t.Memset(p.s, {Writes(own, 0, 2 * kUnit)});
    t.Free(own);
    t.EndCapture(p.s);
    t.Launch(t.Instantiate(second), p.s);
    t.Launch(t.Instantiate(first), p.s);
    const Ran trace = t.Build();
    const Facts facts(trace);
    const std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
    REQUIRE(pools.size() == 1);
    CHECK(ValidateBorrow(facts, pools).empty());
    CHECK(FreeUnits(pools[0], p.base) == (stale ? Units{{0, 4}, {6, 8}} : Units{{0, 8}}));
  }
}

TEST_CASE("what lies in two segments at once is lent once") {
  OnePool p(8);
  TraceBuilder& t = p.t;
  const SegmentId second = t.Segment(p.pool, 8 * kUnit, p.s);
  t.BeginCapture(p.s);
  const BlockId tmp = p.Alloc(0, 2);
  t.Kernel(p.s, "use", {Writes(tmp)});
  t.Free(tmp);
  t.EndCapture(p.s);
  Ran trace = t.Build();
  trace.segments[second.index()].address = p.base + 4 * kUnit;  // that of the first, which was lost
  const Facts facts(trace);
  const std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(FreeUnits(pools[0], p.base) == Units{{0, 8}, {8, 12}});
  CHECK(ValidateBorrow(facts, pools).empty());
}

TEST_CASE("a block that is touched after its free isn't lent at the nodes before") {
  OnePool p(4);
  TraceBuilder& t = p.t;
  t.BeginCapture(p.s);
  const BlockId tmp = p.Alloc(0, 2);
  t.Free(tmp);
  const NodeId before = t.Kernel(p.s, "before");
  t.Kernel(p.s, "late", {Writes(tmp)});
  t.EndCapture(p.s);
  const Ran trace = t.Build();
  const Facts facts(trace);
  const PlannedMemory plan = PlanTrace(facts, MarkerRule::kAtFree);
  const auto ranges = BorrowAtNode(facts, plan, MarkerRule::kAtFree, before);
  CHECK(ranges.empty());
  CHECK(ValidateBorrowAt(facts, plan, ranges).empty());
}

// Kernels one after the other; `a` is needed by node 3 and after the launch, `b` is over after node
// 1, `c` begins with node 2. Ranges as a plan's file has them, without a number of nodes.
TEST_CASE("a range that is lent at a node for too long, or too early, names who needs it") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const GraphId graph = t.BeginCapture(s);
  const BlockId a = t.Alloc(s, 512);
  t.Kernel(s, "first", {Writes(a)});
  const BlockId b = t.Alloc(s, 512);
  t.Kernel(s, "second", {Writes(b)});
  t.Free(b);
  const BlockId c = t.Alloc(s, 512);
  t.Kernel(s, "third", {Writes(c)});
  t.Free(c);
  t.Kernel(s, "last", {Reads(a)});
  t.EndCapture(s);
  const Ran trace = t.Build();
  const Facts facts(trace);
  PlannedMemory plan{.of_trace = true, .arenas = {{.graph = graph, .blocks = 3, .peak = 1536}}};
  plan.placements = {{a.value, 0, 0, 512}, {b.value, 0, 512, 512}, {c.value, 0, 1024, 512}};
  const auto lend = [&](Bytes offset, uint32_t at, NodeId until) {
    const BorrowAt one{.range = {0, offset, 512}, .at = NodeId(at), .until = until};
    return ValidateBorrowAt(facts, plan, {&one, 1});
  };
  using Wrong = std::vector<WrongBorrow>;
  CHECK(lend(512, 2, {}).empty());
  CHECK(lend(512, 1, NodeId(2u)) == Wrong{{b, 512}});
  CHECK(lend(1024, 1, NodeId(2u)).empty());
  CHECK(lend(1024, 1, NodeId(3u)) == Wrong{{c, 1024}});
  CHECK(lend(0, 1, NodeId(2u)) == Wrong{{a, 0}});
  plan.borrow = {{{0, 512, 1024}}};
  CHECK(ValidatePlanBorrow(facts, plan).empty());
  plan.borrow = {{{0, 0, 8}, {0, 512, 512}}};
  CHECK(ValidatePlanBorrow(facts, plan) == Wrong{{a, 0}});
}

// Work, not time: the same for each pool, however many there are.
TEST_CASE("what may be borrowed of a pool is found without a look at other pools") {
  constexpr uint64_t kLaunches = 3;
  for (const uint64_t pools : {1u, 4096u}) {
    TraceBuilder t;
    const StreamId s = t.Stream("s");
    std::vector<ExecId> execs;
    for (uint64_t i = 0; i < pools; ++i) {
      const PoolId pool = t.Pool(PoolKind::kPrivate, "pool");
      const SegmentId segment = t.Segment(pool, 8 * kUnit, s);
      t.SetPool(pool);
      const GraphId graph = t.BeginCapture(s);
      const BlockId out = t.AllocAt(s, kUnit, t.trace()[segment].address, segment);
      t.Kernel(s, "k", {Writes(out)});
      t.EndCapture(s);
      execs.push_back(t.Instantiate(graph));
    }
    for (uint64_t round = 0; round < kLaunches; ++round) {
      for (const ExecId exec : execs) t.Launch(exec, s);
    }
    const Ran trace = t.Build();
    const Facts facts(trace);
    const std::vector<PoolBorrow> found = FindBorrow(facts, MarkerRule::kLastUse);
    REQUIRE(found.size() == pools);
    for (const PoolBorrow& pool : found) CHECK(pool.looks == kLaunches + 2);  // a segment, a bar
    uint64_t looks = 0;
    CHECK(ValidateBorrow(facts, found, &looks).empty());
    CHECK(looks == 2 * pools);  // a segment, a block
  }
}

// Launches of one graph: on one stream, then twice on another, which the host waits between.
std::vector<PoolBorrow> LaunchedOnTwoStreams(bool one_exec) {
  OnePool p(4);
  const StreamId other = p.t.Stream("other");
  const GraphId graph = p.t.BeginCapture(p.s);
  const BlockId tmp = p.Alloc(0, 2);
  p.t.Kernel(p.s, "use", {Writes(tmp)});
  p.t.Free(tmp);
  p.t.EndCapture(p.s);
  const ExecId exec = p.t.Instantiate(graph);
  const ExecId second = one_exec ? exec : p.t.Instantiate(graph);
  p.t.Launch(exec, p.s);
  p.t.SetTime(1000);
  p.t.Launch(second, other);
  p.t.SetTime(5000);
  p.t.Synchronize();
  p.t.Launch(second, other);
  p.t.SetTime(7000);
  const Ran trace = p.t.Build();
  return FindBorrow(Facts(trace), MarkerRule::kLastUse);
}

TEST_CASE("launches without order leave no window") {
  const std::vector<PoolBorrow> pools = LaunchedOnTwoStreams(false);
  REQUIRE(pools.size() == 1);
  CHECK(pools[0].windows == std::vector<BorrowWindow>{{.after = GraphId(0u),
                                                       .before = GraphId(0u),
                                                       .count = 2,
                                                       .unordered = 1,
                                                       .shortest_ns = 2000,
                                                       .median_ns = 4000}});
}

TEST_CASE("launches of one exec are ordered on all streams") {
  const std::vector<PoolBorrow> pools = LaunchedOnTwoStreams(true);
  REQUIRE(pools.size() == 1);
  REQUIRE(pools[0].windows.size() == 1);
  CHECK(pools[0].windows[0].count == 2);
  CHECK(pools[0].windows[0].unordered == 0);
}

// Each placement that shares bytes with a range, each of its touches, by searching the graph.
bool SafeAt(const Ran& trace, const Facts& facts, const SlowOrder& order, const PlannedMemory& plan,
            NodeId at, const BorrowAt& one) {
  std::vector<NodeId> lent;  // the chain's nodes that run meanwhile
  const ChainPlace place = facts.order().PlaceOf(at);
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const ChainPlace here = facts.order().PlaceOf(NodeId(i));
    const bool in = here.chain == place.chain && here.seq >= place.seq;
    if (in && here.seq < place.seq + one.nodes) lent.emplace_back(i);
  }
  for (const Placement& placement : plan.placements) {
    const bool shares = placement.arena == one.range.arena &&
                        placement.offset < one.range.offset + one.range.size &&
                        one.range.offset < placement.offset + placement.size;
    if (!shares) continue;
    bool over = true;
    bool later = true;
    for (const NodeId touch : facts.lives().Touches(BlockId(placement.block))) {
      if (trace[touch].graph != trace[at].graph) continue;  // a graph around or inside
      over = over && order.Before(touch, at);
      for (const NodeId node : lent) later = later && order.Before(node, touch);
    }
    if (!over && !later) return false;
  }
  return true;
}

TEST_CASE("what is free at a node of a plan is used by nothing that may run meanwhile") {
  size_t ranges = 0;
  size_t ending = 0;
  size_t faults = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomTrace(
        seed, {.max_steps = 40, .nested = seed % 2 == 0, .memory = true, .pools = seed % 3 == 0});
    const Facts facts(trace);
    PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse, {.search = {.effort = 2'000'000}});
    plan.borrow = PlanBorrow(facts, plan, MarkerRule::kLastUse);
    REQUIRE(ValidatePlanBorrow(facts, plan).empty());
    if (trace.nodes.empty()) continue;
    const SlowOrder slow(trace);
    Random random(seed);
    for (int i = 0; i < 5; ++i) {
      const NodeId at(random.Below(trace.nodes.size()));
      std::vector<BorrowAt> free = BorrowAtNode(facts, plan, MarkerRule::kLastUse, at);
      for (const BorrowAt& one : free) {
        REQUIRE(SafeAt(trace, facts, slow, plan, at, one));
        ++ranges;
        ending += one.until.valid() ? 1 : 0;
      }
      REQUIRE(ValidateBorrowAt(facts, plan, free).empty());
      // Lent for longer than it is free, where something is in the way: found by both.
      for (BorrowAt& one : free) {
        if (!one.until.valid()) continue;
        one.nodes += 1;
        const bool safe = SafeAt(trace, facts, slow, plan, at, one);
        const bool valid = ValidateBorrowAt(facts, plan, {&one, 1}).empty();
        if (!safe) REQUIRE_FALSE(valid);
        faults += safe ? 0 : 1;
      }
    }
  }
  CHECK(ranges > 1000);
  CHECK(ending > 100);
  CHECK(faults > 50);
}

}  // namespace
}  // namespace graphkit
