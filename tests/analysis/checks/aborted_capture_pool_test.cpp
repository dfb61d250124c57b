#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

Ran InPrivatePool(bool aborted) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  t.SetPool(pool);
  t.BeginCapture(a);
  const SegmentId segment = t.Segment(pool, 2 << 20, a);
  const BlockId x = t.AllocAt(a, 4096, t.trace()[segment].address, segment);
  t.Kernel(a, "write", {Writes(x)});
  t.Free(x);
  if (aborted) {
    t.InvalidateCapture(a, "cudaMalloc", 900);
  } else {
    t.EndCapture(a);
  }
  return t.Build();
}

TEST_CASE("aborted-capture-pool says what the pool of a failed capture keeps") {
  const std::vector<Finding> findings = Run("aborted-capture-pool", InPrivatePool(true));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message == "the capture of graph 0 failed, and its private pool keeps 2 MiB");
  CHECK(findings[0].bytes == 2 << 20);
}

TEST_CASE("aborted-capture-pool finds nothing when the capture ended well") {
  CHECK(Run("aborted-capture-pool", InPrivatePool(false)).empty());
}

}  // namespace
}  // namespace graphkit
