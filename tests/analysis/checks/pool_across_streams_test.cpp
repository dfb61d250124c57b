#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> TwoGraphs(bool two_streams) {
  auto [t, a, b] = TwoStreams();
  t.SetPool(t.Pool(PoolKind::kPrivate));
  for (const StreamId stream : {a, two_streams ? b : a}) {
    t.BeginCapture(stream);
    AllocUsed(t, stream, 4096);
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
