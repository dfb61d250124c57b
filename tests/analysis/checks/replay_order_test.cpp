#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// `read`: a third graph reads what the second leaves, and is launched last.
std::vector<Finding> Launches(bool in_order, bool read = false) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.SetPool(t.Pool(PoolKind::kPrivate));
  const GraphId first = t.BeginCapture(a, "first");
  const BlockId x = AllocUsed(t, a, 4096);
  t.EndCapture(a);
  const GraphId second = t.BeginCapture(a, "second");
  const BlockId left = t.AllocAt(a, 4096, t.trace()[x].address);
  t.Kernel(a, "write", {Writes(left)});
  t.EndCapture(a);
  const GraphId third = t.BeginCapture(a, "third");
  t.Kernel(a, "read", {Reads(left)});
  t.EndCapture(a);
  const ExecId one = t.Instantiate(first);
  const ExecId two = t.Instantiate(second);
  t.Launch(in_order ? one : two, a);
  t.Launch(in_order ? two : one, a);
  if (read) t.Launch(t.Instantiate(third), a);
  return Run("replay-order", &t);
}

TEST_CASE("replay-order: an earlier capture writes over what a later one leaves") {
  const std::vector<Finding> findings = Launches(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].bytes == 4096);
  CHECK(findings[0].blocks == std::vector{BlockId(uint32_t{1})});
  CHECK(findings[0].severity == Severity::kNote);  // the program may have read it before
}

TEST_CASE("replay-order warns where another graph reads what was written over") {
  const std::vector<Finding> findings = Launches(false, true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message ==
        "graph 0 'first' was launched between graph 1 'second' and graph 2 'third' of one pool: it "
        "writes over block 1 (4 KiB), which graph 1 'second' leaves and graph 2 'third' reads");
  CHECK(Launches(true, true).empty());
}

TEST_CASE("replay-order finds nothing in capture order") { CHECK(Launches(true).empty()); }

}  // namespace
}  // namespace graphkit
