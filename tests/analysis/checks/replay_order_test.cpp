#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> Launches(bool in_order) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.SetPool(t.Pool(PoolKind::kPrivate));
  const GraphId first = t.BeginCapture(a, "first");
  const BlockId x = t.Alloc(a, 4096);
  t.Kernel(a, "use", {Writes(x)});
  t.Free(x);
  t.EndCapture(a);
  const GraphId second = t.BeginCapture(a, "second");
  const BlockId left = t.AllocAt(a, 4096, t.trace()[x].address);
  t.Kernel(a, "write", {Writes(left)});
  t.EndCapture(a);
  const ExecId one = t.Instantiate(first);
  const ExecId two = t.Instantiate(second);
  t.Launch(in_order ? one : two, a);
  t.Launch(in_order ? two : one, a);
  return Run("replay-order", &t);
}

TEST_CASE("replay-order: an earlier capture writes over what a later one leaves") {
  const std::vector<Finding> findings = Launches(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].bytes == 4096);
  CHECK(findings[0].blocks == std::vector{BlockId(uint32_t{1})});
}

TEST_CASE("replay-order finds nothing in capture order") { CHECK(Launches(true).empty()); }

}  // namespace
}  // namespace graphkit
