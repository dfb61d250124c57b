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

// Graphs with 8 KiB and 4 KiB that pass, and 512 B each that they leave; launched on these streams.
std::vector<Finding> PoolEach(bool shared, bool one_stream) {
  TwoStreams s;
  TraceBuilder& t = s.t;
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  ExecId execs[2];
  for (int i = 0; i < 2; ++i) {
    t.SetPool(shared || i == 0 ? pool : t.Pool(PoolKind::kPrivate));
    const GraphId graph = t.BeginCapture(s.a);
    AllocWritten(t, s.a, 512);
    AllocUsed(t, s.a, i == 0 ? 8192 : 4096);
    t.EndCapture(s.a);
    execs[i] = t.Instantiate(graph);
  }
  t.Launch(execs[0], s.a);
  t.Launch(execs[1], one_stream ? s.a : s.b);
  return Run("missed-by-pool", &t);
}

TEST_CASE("missed-by-pool: graphs that run one after another have a pool each") {
  const std::vector<Finding> findings = PoolEach(false, true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "2 graphs, graph 0 first, have a pool each and run one after another on stream 0 'a': one "
        "pool would take 4 KiB less");
  CHECK(findings[0].bytes == 4096);
  CHECK(PoolEach(true, true).empty());
  CHECK(PoolEach(false, false).empty());  // they may run at once
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
