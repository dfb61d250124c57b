#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("missed-by-pool: memory of one pool was free when another pool grew") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const PoolId first = t.Pool(PoolKind::kPrivate);
  const PoolId second = t.Pool(PoolKind::kPrivate);
  t.BeginCapture(a);
  for (const PoolId pool : {first, second}) {
    t.SetPool(pool);
    AllocUsed(t, a, 4096);
  }
  t.EndCapture(a);
  const Finding finding = RunForOne("missed-by-pool", &t);
  CHECK(finding.message ==
        "4 KiB of graph 0 were not reused because the free memory belonged to another pool");
  CHECK(finding.bytes == 4096);
}

TEST_CASE("missed-by-pool finds nothing in one pool") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.Free(t.Alloc(a, 4096));
  t.Free(t.Alloc(a, 4096));
  t.EndCapture(a);
  CHECK(Run("missed-by-pool", &t).empty());
}

}  // namespace
}  // namespace graphkit
