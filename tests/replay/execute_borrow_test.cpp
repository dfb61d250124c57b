#include "libgraphkit/replay/execute_borrow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "libgraphkit/alloc/judge/validate_borrow.h"
#include "libgraphkit/alloc/plan/plan_borrow.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/random.h"
#include "libgraphkit/replay/recorded.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Bytes kLentUnit = 512;
constexpr MarkerRule kRule = MarkerRule::kLastUse;

BorrowExecution Execute(const Facts& facts, const PlannedMemory& plan, uint32_t orders = 4) {
  return ExecuteBorrow(facts, plan, kRule, {{.orders = orders, .threads = 1}});
}

// Kernels one after the other that write, and at last read what the first wrote:
//
//     node        0    1    2    3         a is needed by node 3 and by whoever reads it later,
//     output a  [ w              r         b is done after node 1, c begins with node 2
//     b                w]
//     c                     [w]
struct Chain {
  TraceBuilder t;
  StreamId s = t.Stream("s");
  BlockId a, b, c;
  GraphId graph = t.BeginCapture(s);

  Chain() {
    a = t.Alloc(s, kLentUnit);
    t.Kernel(s, "first", {Writes(a)});
    b = t.Alloc(s, kLentUnit);
    t.Kernel(s, "second", {Writes(b)});
    t.Free(b);
    c = t.Alloc(s, kLentUnit);
    t.Kernel(s, "third", {Writes(c)});
    t.Free(c);
    t.Kernel(s, "last", {Reads(a)});
    t.EndCapture(s);
  }
  // a, b and c one above the other.
  PlannedMemory Plan() const {
    PlannedMemory plan{.of_trace = true};
    plan.arenas = {{.graph = graph, .blocks = 3, .peak = 3 * kLentUnit}};
    plan.placements = {{a.value, 0, 0, kLentUnit},
                       {b.value, 0, kLentUnit, kLentUnit},
                       {c.value, 0, 2 * kLentUnit, kLentUnit}};
    return plan;
  }
};

TEST_CASE("a range that lends what an output leaves is found out after the launch") {
  Chain chain;
  const Trace trace = chain.t.Build();
  const Facts facts(trace);
  PlannedMemory plan = chain.Plan();
  plan.borrow = {{{0, kLentUnit, 2 * kLentUnit}}};
  CHECK(Execute(facts, plan).faults.empty());
  plan.borrow = {{{0, 0, 8}, {0, kLentUnit, kLentUnit}}};
  const BorrowExecution found = Execute(facts, plan, 1);
  CHECK(found.ranges == std::vector<LentRange>{{.size = 8}, {.at = kLentUnit, .size = kLentUnit}});
  CHECK(found.faults == std::vector<LentFault>{{.seed = 1, .range = 0, .block = chain.a}});
}

TEST_CASE("a range that is lent at a node for too long, or too early, names who needs it") {
  Chain chain;
  const Trace trace = chain.t.Build();
  const Facts facts(trace);
  PlannedMemory plan = chain.Plan();
  const auto lend = [&](Bytes offset, uint32_t at, NodeId until) {
    plan.borrow_at = {{.range = {0, offset, kLentUnit}, .at = NodeId(at), .until = until}};
    return Execute(facts, plan, 1).faults;
  };
  const auto fault = [](BlockId block, uint32_t node) {
    return std::vector<LentFault>{{.seed = 1, .range = 0, .block = block, .node = NodeId(node)}};
  };
  CHECK(lend(kLentUnit, 2, {}).empty());
  CHECK(lend(kLentUnit, 1, NodeId(2u)) == fault(chain.b, 1));
  CHECK(lend(2 * kLentUnit, 1, NodeId(2u)).empty());
  CHECK(lend(2 * kLentUnit, 1, NodeId(3u)) == fault(chain.c, 2));
  CHECK(lend(0, 1, NodeId(2u)) == fault(chain.a, 3));
}

// Two graphs of one pool: the second takes what the first leaves at its address.
TEST_CASE("what pools lend as recorded, and more") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const PoolId pool = t.Pool(PoolKind::kPrivate, "pool");
  const SegmentId segment = t.Segment(pool, 8 * kLentUnit, s);
  const Address base = t.trace()[segment].address;
  const GraphId first = t.BeginCapture(s);
  const BlockId result = t.AllocAt(s, kLentUnit, base, segment);
  const BlockId scratch = t.AllocAt(s, kLentUnit, base + kLentUnit, segment);
  t.Kernel(s, "make", {Writes(result), Writes(scratch)});
  t.Free(scratch);
  t.EndCapture(s);
  const GraphId second = t.BeginCapture(s);
  t.Kernel(s, "take", {Reads(result)});
  const BlockId other = t.AllocAt(s, kLentUnit, base + kLentUnit, segment);
  t.Kernel(s, "other", {Writes(other)});
  t.Free(other);
  t.EndCapture(s);
  const BlockId eager = t.AllocAt(s, kLentUnit, base + 2 * kLentUnit, segment);
  const ExecId a = t.Instantiate(first);
  const ExecId b = t.Instantiate(second);
  t.Launch(a, s);
  t.Launch(b, s);
  t.Launch(a, s);
  const Trace trace = t.Build();
  const Facts facts(trace);
  std::vector<PoolBorrow> pools = FindBorrow(facts, kRule);
  const auto execute = [&] {
    return ExecuteRecordedBorrow(facts, pools, kRule, {{.orders = 1, .threads = 1}});
  };
  const BorrowExecution clean = execute();
  CHECK(clean.ranges == std::vector<LentRange>{{pool, base + kLentUnit, kLentUnit},
                                               {pool, base + 3 * kLentUnit, 5 * kLentUnit}});
  CHECK(clean.faults.empty());
  CHECK(clean.checks > 0);
  for (const BlockId needed : {result, eager}) {
    const Address at = trace[needed].address;
    pools[0].free = {{at, at + kLentUnit}};
    CHECK(execute().faults == std::vector<LentFault>{{.seed = 1, .block = needed}});
  }
}

// Memory that no node of the graph touches has nothing to lose.
bool AnyTouched(const Facts& facts, std::span<const WrongBorrow> wrong) {
  return std::ranges::any_of(wrong, [&](const WrongBorrow& one) {
    return std::ranges::any_of(facts.lives().Touches(one.block), [&](const Touch& touch) {
      return facts.roots()[facts.trace[touch.node].graph.index()] == facts.lives()[one.block].root;
    });
  });
}

TEST_CASE("what is proved to be free is written over without harm, what is needed is found") {
  size_t ranges = 0, wrong = 0, found = 0, wrong_at = 0, found_at = 0;
  for (uint64_t seed = 1; seed <= 1200; ++seed) {
    CAPTURE(seed);
    const Trace trace = RandomTrace(
        seed, {.max_steps = 40, .nested = seed % 2 == 0, .memory = true, .pools = seed % 3 == 0});
    if (trace.nodes.empty()) continue;
    const Facts facts(trace);
    PlannedMemory plan = PlanTrace(facts, kRule, {.looks = 100'000});
    if (plan.arenas.empty()) continue;
    Random random(seed);
    const NodeId at(random.Below(trace.nodes.size()));
    plan.borrow = PlanBorrow(facts, plan, kRule);
    plan.borrow_at = BorrowAtNode(facts, plan, kRule, at);
    const BorrowExecution execution = Execute(facts, plan);
    REQUIRE(execution.faults.empty());
    REQUIRE(execution.failed.empty());
    ranges += execution.ranges.size();

    // Some bytes of some arena, whoever needs them.
    const auto arena = static_cast<uint32_t>(random.Below(plan.arenas.size()));
    const Bytes offset = random.Below(plan.arenas[arena].peak / kLentUnit + 1) * kLentUnit;
    if (offset >= plan.arenas[arena].peak) continue;
    plan.borrow = {{{arena, offset, kLentUnit}}};
    plan.borrow_at.clear();
    const std::vector<WrongBorrow> needed = ValidatePlanBorrow(facts, plan);
    const bool seen = !Execute(facts, plan).faults.empty();
    if (needed.empty()) REQUIRE_FALSE(seen);
    wrong += AnyTouched(facts, needed) ? 1 : 0;
    found += AnyTouched(facts, needed) && seen ? 1 : 0;

    plan.borrow.reset();
    const GraphId root = facts.roots()[trace[at].graph.index()];
    if (plan.arenas[arena].graph != root) continue;
    plan.borrow_at = {{.range = {arena, offset, kLentUnit}, .at = at, .nodes = trace.nodes.size()}};
    const std::vector<WrongBorrow> needed_at = ValidateBorrowAt(facts, plan, at, plan.borrow_at);
    const bool seen_at = !Execute(facts, plan, 40).faults.empty();
    if (needed_at.empty()) REQUIRE_FALSE(seen_at);
    wrong_at += AnyTouched(facts, needed_at) ? 1 : 0;
    found_at += AnyTouched(facts, needed_at) && seen_at ? 1 : 0;
  }
  CHECK(ranges > 500);
  CHECK(wrong > 300);
  CHECK(found * 100 > wrong * 90);  // not where another block of the plan has written since
  CHECK(wrong_at > 300);
  CHECK(found_at * 100 > wrong_at * 90);  // 40 orders don't show all
}

}  // namespace
}  // namespace graphkit
