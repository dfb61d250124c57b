// What is lent of memory whose content is read later, or by others.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "tests/build_trace.h"
#include "tests/replay/one_pool.h"

namespace graphkit {
namespace {

// Memory that a block's first writer leaves open: by a program each, and the units of 0 to 4 that
// are free.
struct Planted {
  OnePool p{4};
  TraceBuilder& t = p.t;
  StreamId other = p.t.Stream("other");
  GraphId graph = p.t.BeginCapture(p.s);
  BlockId block = p.Alloc(0, 4);

  Units Free(NodeId changed = {}, NodeChangeKind what = NodeChangeKind::kDisabled) {
    t.Free(block);
    t.EndCapture(p.s);
    const ExecId exec = t.Instantiate(graph);
    t.Launch(exec, p.s);
    if (changed) t.Change(changed, exec, what);
    t.Launch(exec, p.s);
    const Ran trace = t.Build();
    const Facts facts(trace);
    std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
    REQUIRE(pools.size() == 1);
    CHECK(ValidateBorrow(facts, pools).empty());
    const Units units = FreeUnits(pools[0], p.base);
    for (Bytes unit = 0; unit < 4; ++unit) {
      const auto holds = [&](const auto& of) { return of.first <= unit && unit < of.second; };
      pools[0].free = {{p.base + unit * kUnit, p.base + (unit + 1) * kUnit}};
      CHECK(ValidateBorrow(facts, pools).empty() == std::ranges::any_of(units, holds));
    }
    return units;
  }
};

TEST_CASE("of a block that is written in part and read whole only that part is lent") {
  Planted planted;
  planted.t.Memset(planted.p.s, {Writes(planted.block, 0, 2 * kUnit)});
  planted.t.Kernel(planted.p.s, "read", {Reads(planted.block)});
  CHECK(planted.Free() == Units{{0, 2}});
}

TEST_CASE("what a copy in rows leaves between them isn't lent to whoever reads it") {
  const AccessRows rows{.width = 64, .pitch = 128};
  for (const bool same : {false, true}) {
    Planted planted;
    Access write = Writes(planted.block, 0, 2 * kUnit - 64), read = Reads(planted.block, 0, kUnit);
    write.rows = rows;
    if (same) {
      read.rows = rows;
      read.length -= 64;
    }
    planted.t.Memset(planted.p.s, {write});
    planted.t.Kernel(planted.p.s, "read", {read});
    CHECK(planted.Free() == (same ? Units{{0, 4}} : Units{{1, 4}}));
  }
}

TEST_CASE("what two nodes write together is lent, from the part of a granule on it isn't") {
  Planted planted;
  planted.t.Memset(planted.p.s, {Writes(planted.block, 0, 2 * kUnit)});
  planted.t.Memset(planted.p.s, {Writes(planted.block, 2 * kUnit, kUnit + 8)});
  planted.t.Kernel(planted.p.s, "read", {Reads(planted.block)});
  CHECK(planted.Free() == Units{{0, 3}});
}

TEST_CASE("what is written in a body that may not run isn't lent to whoever reads it outside") {
  Planted planted;
  TraceBuilder& t = planted.t;
  const NodeId node = t.Conditional(planted.p.s, ConditionalType::kIf);
  t.Add(t.Body(node), NodeKind::kMemset, {}, {Writes(planted.block, 0, 4 * kUnit)});
  t.Kernel(planted.p.s, "read", {Reads(planted.block, kUnit, kUnit)});
  CHECK(planted.Free() == Units{{0, 1}, {2, 4}});
}

TEST_CASE("what a body writes before it reads it is lent") {
  Planted planted;
  TraceBuilder& t = planted.t;
  const GraphId body = t.Body(t.Conditional(planted.p.s, ConditionalType::kWhile));
  const NodeId write = t.Add(body, NodeKind::kMemset, {}, {Writes(planted.block, 0, 4 * kUnit)});
  t.Add(body, NodeKind::kKernel, {write}, {Reads(planted.block)});
  CHECK(planted.Free() == Units{{0, 4}});
}

TEST_CASE("what a node writes that is switched off, or moved, isn't lent") {
  for (const NodeChangeKind what : {NodeChangeKind::kDisabled, NodeChangeKind::kParams}) {
    Planted planted;
    const NodeId write = planted.t.Memset(planted.p.s, {Writes(planted.block, 0, 4 * kUnit)});
    planted.t.Kernel(planted.p.s, "read", {Reads(planted.block)});
    CHECK(planted.Free(write, what).empty());
  }
}

TEST_CASE("what is read on a branch that doesn't wait for the write isn't lent") {
  Planted planted;
  TraceBuilder& t = planted.t;
  t.Order(planted.p.s, planted.other);
  t.Memset(planted.p.s, {Writes(planted.block, 0, 4 * kUnit)});
  t.Kernel(planted.other, "read", {Reads(planted.block, 2 * kUnit)});
  t.Order(planted.other, planted.p.s);
  CHECK(planted.Free() == Units{{0, 2}});
}

TEST_CASE("bytes of a segment that nodes read where no block lies aren't lent") {
  OnePool p(8);
  const BlockId driver = p.t.AllocAt({}, 8 * kUnit, p.base);
  const GraphId graph = p.t.BeginCapture(p.s);
  const BlockId tmp = p.Alloc(0, 1);
  p.t.Kernel(p.s, "use", {Writes(tmp), Reads(driver, 2 * kUnit, kUnit), Reads(driver, 6 * kUnit)});
  p.t.Free(tmp);
  p.t.EndCapture(p.s);
  p.t.Launch(p.t.Instantiate(graph), p.s);
  Ran trace = p.t.Build();
  trace.segments[p.segment.index()].block = driver;
  const Facts facts(trace);
  std::vector<PoolBorrow> pools = FindBorrow(facts, MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(FreeUnits(pools[0], p.base) == Units{{0, 2}, {3, 6}});
  CHECK(ValidateBorrow(facts, pools).empty());
  pools[0].free = {{p.base, p.base + 8 * kUnit}};
  CHECK(ValidateBorrow(facts, pools) == std::vector<WrongBorrow>{{{}, p.base}});
}

// The fault, or its correct twin: what of a pool of eight units is lent.
struct Lending {
  OnePool p{8};
  TraceBuilder& t = p.t;
  BlockId driver = t.AllocAt({}, 8 * kUnit, p.base);
  BlockId other = t.Alloc({}, 8 * kUnit);
  StreamId side = t.Stream("side");
  std::vector<PoolBorrow> pools = {};

  ExecId Scratch(Bytes first, Bytes units) {
    const GraphId graph = t.BeginCapture(p.s);
    const BlockId own = p.Alloc(first, units);
    t.Kernel(p.s, "use", {Touches(own)});
    t.Free(own);
    t.EndCapture(p.s);
    return t.Instantiate(graph);
  }
  Units Free() {
    Ran trace = t.Build();
    trace.segments[p.segment.index()].block = driver;
    const Facts facts(trace);
    pools = FindBorrow(facts, MarkerRule::kLastUse);
    REQUIRE(pools.size() == 1);
    CHECK(ValidateBorrow(facts, pools).empty());
    const Units units = FreeUnits(pools[0], p.base);
    for (Bytes unit = 0; unit < 8; ++unit) {  // the validator takes no more, and no less
      const auto holds = [&](const auto& of) { return of.first <= unit && unit < of.second; };
      std::vector<PoolBorrow> one = pools;
      one[0].free = {{p.base + unit * kUnit, p.base + (unit + 1) * kUnit}};
      CHECK(ValidateBorrow(facts, one).empty() == std::ranges::any_of(units, holds));
    }
    return units;
  }
};

TEST_CASE("what another graph's copy reads behind its first block isn't lent") {
  for (const bool twin : {false, true}) {
    Lending l;
    TraceBuilder& t = l.t;
    const GraphId first = t.BeginCapture(l.p.s);
    const BlockId a = l.p.Alloc(0, 1), b = l.p.Alloc(1, 2);
    t.Kernel(l.p.s, "make", {Writes(a), Writes(b)});
    t.Free(b);
    t.EndCapture(l.p.s);
    const GraphId second = t.BeginCapture(l.p.s);
    t.Memcpy(l.p.s, {Reads(a, 0, (twin ? 1 : 2) * kUnit), Writes(l.other, 0, 2 * kUnit)});
    t.EndCapture(l.p.s);
    t.Launch(t.Instantiate(first), l.p.s);
    t.Launch(t.Instantiate(second), l.p.s);
    CHECK(l.Free() == Units{{twin ? 1u : 2u, 8}});
  }
}

TEST_CASE("what was put into a pool outside of captures and is read by a launch isn't lent") {
  for (const bool twin : {false, true}) {
    Lending l;
    TraceBuilder& t = l.t;
    const BlockId filled = l.p.Alloc(4, 2);
    t.Work(l.p.s, NodeKind::kMemset, {Writes(filled, 0, 2 * kUnit)});
    const GraphId graph = t.BeginCapture(l.p.s);
    const BlockId own = l.p.Alloc(0, 1);
    if (twin) t.Memset(l.p.s, {Writes(filled, 0, 2 * kUnit)});
    t.Kernel(l.p.s, "take", {Reads(filled, 0, kUnit), Writes(own)});
    t.Free(own);
    t.EndCapture(l.p.s);
    t.Free(filled);
    t.Launch(t.Instantiate(graph), l.p.s);
    CHECK(l.Free() == (twin ? Units{{0, 8}} : Units{{0, 4}, {5, 8}}));
    if (twin) continue;
    CHECK(l.pools[0].barred ==
          std::vector<BarredBlock>{{filled, {0, kUnit}, BorrowBar::kReadFirst, true}});
  }
}

TEST_CASE("a block that work outside of the capture fills has content before its first node") {
  for (const bool twin : {false, true}) {
    Lending l;
    TraceBuilder& t = l.t;
    const GraphId graph = t.BeginCapture(l.p.s);
    const BlockId own = l.p.Alloc(0, 2);
    if (!twin) t.Work(l.side, NodeKind::kMemcpy, {Writes(own, 0, kUnit), Reads(l.other, 0, kUnit)});
    t.Kernel(l.p.s, "scale", {Touches(own)});
    t.Free(own);
    t.EndCapture(l.p.s);
    t.Launch(t.Instantiate(graph), l.p.s);
    CHECK(l.Free() == (twin ? Units{{0, 8}} : Units{{2, 8}}));
  }
}

TEST_CASE("a block outside of captures that is there at the end isn't lent") {
  for (const bool twin : {false, true}) {
    Lending l;
    l.t.Launch(l.Scratch(0, 1), l.p.s);
    const BlockId kept = l.p.Alloc(4, 1);
    if (twin) l.t.Free(kept);
    CHECK(l.Free() == (twin ? Units{{0, 8}} : Units{{0, 4}, {5, 8}}));
  }
}

TEST_CASE("a block isn't lent that is there while an exec runs that had a graph of the pool") {
  for (const bool twin : {false, true}) {
    Lending l;
    TraceBuilder& t = l.t;
    const ExecId exec = l.Scratch(0, 1);
    const GraphId without = t.BeginCapture(l.p.s);
    t.Kernel(l.p.s, "use", {Writes(l.other)});
    t.EndCapture(l.p.s);
    t.Launch(exec, l.p.s);
    t.Update(exec, without);
    const BlockId kept = l.p.Alloc(4, 1);
    if (!twin) t.Launch(exec, l.p.s);
    t.Free(kept);
    CHECK(l.Free() == (twin ? Units{{0, 8}} : Units{{0, 4}, {5, 8}}));
  }
}

TEST_CASE(
    "each byte of a pool is barred once, and what happened before the first launch bars none") {
  Lending l;
  TraceBuilder& t = l.t;
  const GraphId graph = t.BeginCapture(l.p.s);
  for (int i = 0; i < 3; ++i) {  // each where the others lay
    const BlockId scratch = l.p.Alloc(0, 2);
    t.Kernel(l.p.s, "read", {Reads(scratch)});
    t.Free(scratch);
  }
  const BlockId warm = l.p.Alloc(4, 2);
  t.Kernel(l.p.s, "use", {Writes(warm)});
  t.Free(warm);
  t.EndCapture(l.p.s);
  t.Work(l.p.s, "tune", {Touches(warm)});
  t.Launch(t.Instantiate(graph), l.p.s);
  CHECK(l.Free() == Units{{2, 8}});
  REQUIRE(l.pools[0].barred.size() == 1);
  CHECK(l.pools[0].barred[0].bytes == Interval<Bytes>{0, 2 * kUnit});
  CHECK(l.pools[0].barred[0].why == BorrowBar::kReadFirst);
}

TEST_CASE("memory that a pool gave back to the driver is neither lent nor barred") {
  OnePool p(4);
  p.t.BeginCapture(p.s);
  const BlockId out = p.Alloc(0, 2);
  p.t.Kernel(p.s, "make", {Writes(out)});
  p.t.EndCapture(p.s);
  Ran trace = p.t.Build();
  trace.segments[p.segment.index()].freed = 0;
  const std::vector<PoolBorrow> pools = FindBorrow(Facts(trace), MarkerRule::kLastUse);
  REQUIRE(pools.size() == 1);
  CHECK(pools[0].reserved == 0);
  CHECK(pools[0].barred.empty());
  CHECK(pools[0].free.empty());
}

}  // namespace
}  // namespace graphkit
