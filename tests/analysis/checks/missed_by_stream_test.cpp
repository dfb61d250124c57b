#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("missed-by-stream: memory of one stream was free when another stream allocated") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  AllocUsed(t, a, 4096);
  t.Order(a, b);
  AllocUsed(t, b, 4096);
  t.EndCapture(a);
  const Finding finding = RunForOne("missed-by-stream", &t);
  CHECK(finding.message ==
        "4 KiB of graph 0 were not reused because the free memory belonged to another stream");
  CHECK(finding.evidence.front().text ==
        "block 0 (4 KiB) of stream 0 'a' is over before block 1 (4 KiB) of stream 1 'b'");
}

TEST_CASE("missed-by-stream finds nothing on one stream") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 2; ++i) {
    AllocUsed(t, a, 4096);
  }
  t.EndCapture(a);
  CHECK(Run("missed-by-stream", &t).empty());
}

}  // namespace
}  // namespace graphkit
