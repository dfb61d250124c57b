#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("reuse-opportunity pairs what is over with what comes after, and proves it") {
  CrossedBlock c;
  c.Request(c.x);
  c.Join();
  const BlockId later = c.Allocate(2048);
  c.End();
  const Finding finding = RunForOne("reuse-opportunity", &c.t);
  CHECK(finding.message ==
        "2 KiB of graph 0 'step' could share memory with earlier blocks: 1 block");
  CHECK(finding.bytes == 2048);
  CHECK(finding.blocks == std::vector{later});
  CHECK(finding.assumes == Assumption::kArguments);
  CHECK(finding.severity == Severity::kNote);
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].text == "block 1 (2 KiB) could share memory with block 0 (4 KiB)");
  CHECK(finding.evidence[1].text == "node 1 (read) -> node 2 (use)");
}

//     a:  write x ─┬─ read x ───────── [join] ── use y        x is over after both reads
//     b:           └─────── read x ──────┘
TEST_CASE("reuse-opportunity proves it from every last use") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  const BlockId x = AllocWritten(t, a, 4096);
  t.Order(a, b);
  t.Kernel(a, "read", {Reads(x)});
  t.Kernel(b, "look", {Reads(x)});
  t.Order(b, a);
  t.Free(x);
  AllocUsed(t, a, 4096);
  t.EndCapture(a);
  const Finding finding = RunForOne("reuse-opportunity", &t);
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[1].text == "node 1 (read) -> node 3 (use)");
  CHECK(finding.evidence[2].text == "node 2 (look) -> node 3 (use)");
}

TEST_CASE("reuse-opportunity finds nothing without a join, or where memory is reused") {
  CrossedBlock open;
  open.Request(open.x);
  open.Allocate(2048);
  open.End();
  CHECK(Run("reuse-opportunity", &open.t).empty());

  CrossedBlock done;
  done.Join();
  done.t.Free(done.x);
  const BlockId y = done.t.AllocAt(done.a, 4096, done.t.trace()[done.x].address);
  done.t.Kernel(done.a, "use", {Writes(y)});
  done.t.Free(y);
  done.End();
  CHECK(Run("reuse-opportunity", &done.t).empty());
}

TEST_CASE("reuse-opportunity names the memory that another pool had") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 2; ++i) {
    t.SetPool(t.Pool(PoolKind::kPrivate));
    AllocUsed(t, a, 4096);
  }
  t.EndCapture(a);
  const Finding finding = RunForOne("reuse-opportunity", &t);
  CHECK(finding.message ==
        "4 KiB of graph 0 could share memory with earlier blocks: 1 block; 4 KiB was free in "
        "another pool");
  CHECK(finding.bytes == 4096);
}

TEST_CASE("reuse-opportunity names the memory that another stream had") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  AllocUsed(t, a, 4096);
  t.Order(a, b);
  AllocUsed(t, b, 4096);
  t.EndCapture(a);
  const Finding finding = RunForOne("reuse-opportunity", &t);
  CHECK(finding.message ==
        "4 KiB of graph 0 could share memory with earlier blocks: 1 block; 4 KiB was free for "
        "another stream only");
  CHECK(finding.evidence.front().text ==
        "block 1 (4 KiB) could share memory with block 0 (4 KiB) of stream 0 'a'");
}

// Graphs with 8 KiB and 4 KiB that pass, and 512 B each that they leave; launched on these streams.
std::vector<Finding> PoolEach(bool shared, bool one_stream) {
  TwoStreams s;
  TraceBuilder& t = s.t;
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  ExecId execs[2];
  for (int i = 0; i < 2; ++i) {
    t.SetPool(shared || i == 0 ? pool : t.Pool(PoolKind::kPrivate));
    const GraphId graph = t.BeginCapture(s.a);
    AllocWritten(t, s.a, 512);
    AllocUsed(t, s.a, i == 0 ? 8192 : 4096);
    t.EndCapture(s.a);
    execs[i] = t.Instantiate(graph);
  }
  t.Launch(execs[0], s.a);
  t.Launch(execs[1], one_stream ? s.a : s.b);
  return Run("reuse-opportunity", &t);
}

TEST_CASE("reuse-opportunity: graphs that run one after another have a pool each") {
  const std::vector<Finding> findings = PoolEach(false, true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "2 graphs, graph 0 first, have a pool each and run one after another on stream 0 'a': one "
        "pool would take 4 KiB less");
  CHECK(findings[0].bytes == 4096);
  CHECK(PoolEach(true, true).empty());
  CHECK(PoolEach(false, false).empty());  // they may run at once
}

// Three graphs with a pool each; `reset`: the memory of each goes before the next is captured.
std::vector<Finding> PoolAfterPool(bool reset) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  std::vector<SegmentId> segments;
  for (int i = 0; i < 3; ++i) {
    if (reset && i > 0) t.FreeSegment(segments.back());
    const PoolId pool = t.Pool(PoolKind::kPrivate);
    t.SetPool(pool);
    segments.push_back(t.Segment(pool, 8192));
    const GraphId graph = t.BeginCapture(a);
    const BlockId x = t.AllocAt(a, 8192, t.trace().segments.back().address, segments.back());
    t.Kernel(a, "use", {Writes(x)});
    t.Free(x);
    t.EndCapture(a);
    t.Launch(t.Instantiate(graph), a);
  }
  return Run("reuse-opportunity", &t);
}

TEST_CASE("reuse-opportunity counts pools together only where they are there at once") {
  const std::vector<Finding> kept = PoolAfterPool(false);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].message.starts_with("3 graphs, graph 0 first"));
  CHECK(kept[0].bytes == 16384);
  CHECK(PoolAfterPool(true).empty());
}

}  // namespace
}  // namespace graphkit
