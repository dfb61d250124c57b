#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> SetFrontier(bool back) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const NodeId first = t.Kernel(a, "first");
  const NodeId second = t.Kernel(a, "second");
  t.SetFrontier(a, {{.node = back ? first : second}});
  t.Kernel(a, "third");
  t.EndCapture(a);
  return Run("frontier-rewind", &t);
}

TEST_CASE("frontier-rewind names what the stream is no longer after") {
  const std::vector<Finding> findings = SetFrontier(true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "stream 0 'a' was set back in the capture of graph 0: what it captures next isn't after "
        "node 1 (second)");
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("frontier-rewind finds nothing where the frontier stays") {
  CHECK(SetFrontier(false).empty());
}

}  // namespace
}  // namespace graphkit
