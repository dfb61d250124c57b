#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("block-leak names what was never freed, by call site") {
  TraceBuilder t;
  const StackId here = t.Stack({{"Load", "load.cpp", 7}});
  t.SetStack(here);
  const BlockId x = t.Alloc({}, 1000);
  const BlockId y = t.Alloc({}, 24);
  t.Free(t.Alloc({}, 4096));
  const Finding finding = RunForOne("block-leak", &t);
  CHECK(finding.message == "blocks 0 and 1 of device memory were never freed: 1 KiB");
  CHECK(finding.bytes == 1024);
  CHECK(finding.blocks == std::vector{x, y});
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.evidence.front().stack == here);
}

TEST_CASE("block-leak leaves an allocator its segments, and destroyed pools their blocks") {
  TraceBuilder t;
  const BlockId backing = t.Alloc({}, 1 << 20);
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  const SegmentId segment = t.Segment(pool, 1 << 20);
  t.SetPool(pool);
  t.Alloc({}, 512);
  Trace trace = t.Build();
  trace.segments[segment.index()].block = backing;
  trace.pools[pool.index()].destroyed = trace.records++;
  CHECK(Run("block-leak", std::move(trace)).empty());
}

TEST_CASE("block-leak says nothing of a trace that was cut off") {
  TraceBuilder t;
  t.Alloc({}, 1000);
  Trace trace = t.Build();
  trace.completeness.truncated = true;
  CHECK(Run("block-leak", std::move(trace)).empty());
}

}  // namespace
}  // namespace graphkit
