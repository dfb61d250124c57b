#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("unjoined-stream names the stream that was forked and never joined") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  t.Kernel(a, "fork");
  t.Order(a, b);
  const NodeId left = t.Kernel(b, "side");
  t.InvalidateCapture(a, "cudaStreamEndCapture", 904);
  const Ran trace = t.Build();
  const std::vector<Finding> findings = Run("unjoined-stream", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "stream 1 'b' never joined stream 0 'a' before the capture of graph 0 ended, which failed "
        "(904, cudaErrorStreamCaptureUnjoined)");
  CHECK(findings[0].nodes == std::vector{left});
  CHECK(Run("capture-invalidated", trace).empty());
}

TEST_CASE("unjoined-stream finds nothing when all streams joined") {
  CrossedBlock c;
  c.Join();
  c.End();
  CHECK(Run("unjoined-stream", &c.t).empty());
}

}  // namespace
}  // namespace graphkit
