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

}  // namespace
}  // namespace graphkit
