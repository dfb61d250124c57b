#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> FreeWhileReading(bool joined) {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  const BlockId x = t.AllocNode(a, 4096);
  t.Kernel(a, "write", {Writes(x)});
  t.Order(a, b);
  t.Kernel(b, "read", {Reads(x)});
  if (joined) t.Order(b, a);
  t.FreeNode(a, x);
  t.Order(b, a);
  t.EndCapture(a);
  return Run("free-before-use", &t);
}

TEST_CASE("free-before-use: a free that isn't ordered after a reader") {
  const std::vector<Finding> findings = FreeWhileReading(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "node 3 (mem_free) frees block 0 (4 KiB), and nothing orders it after node 2 (read), which "
        "touches it");
}

TEST_CASE("free-before-use finds nothing when the reader was joined") {
  CHECK(FreeWhileReading(true).empty());
}

}  // namespace
}  // namespace graphkit
