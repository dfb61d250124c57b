#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("missed-by-stream: memory of one stream was free when another stream allocated") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 4096);
  t.Kernel(a, "use", {Writes(x)});
  t.Free(x);
  t.Order(a, b);
  const BlockId y = t.Alloc(b, 4096);
  t.Kernel(b, "use", {Writes(y)});
  t.Free(y);
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
    const BlockId x = t.Alloc(a, 4096);
    t.Kernel(a, "use", {Writes(x)});
    t.Free(x);
  }
  t.EndCapture(a);
  CHECK(Run("missed-by-stream", &t).empty());
}

}  // namespace
}  // namespace graphkit
