#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> TwoGraphs(bool two_streams) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  t.SetPool(t.Pool(PoolKind::kPrivate));
  for (const StreamId stream : {a, two_streams ? b : a}) {
    t.BeginCapture(stream);
    const BlockId x = t.Alloc(stream, 4096);
    t.Kernel(stream, "use", {Writes(x)});
    t.Free(x);
    t.EndCapture(stream);
  }
  return Run("pool-across-streams", &t);
}

TEST_CASE("pool-across-streams says what graphs of two streams can't share") {
  const std::vector<Finding> findings = TwoGraphs(true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].bytes == 4096);
  CHECK(findings[0].streams.size() == 2);
}

TEST_CASE("pool-across-streams finds nothing on one stream") { CHECK(TwoGraphs(false).empty()); }

}  // namespace
}  // namespace graphkit
