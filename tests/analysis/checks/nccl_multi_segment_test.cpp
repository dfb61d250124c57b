#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = 1 << 20;

// An expandable segment: pages of 20 MiB, one behind the other. The buffer lies over two of them.
Ran Exchange(Bytes offset, std::vector<std::string> environment) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  t.SetPool(pool);
  const SegmentId first = t.Segment(pool, 20 * kMiB, a);
  const SegmentId second = t.Segment(pool, 20 * kMiB, a);
  const Address begin = t.trace()[first].address;
  t.BeginCapture(a, "step");
  const BlockId buffer = t.AllocAt(a, 8 * kMiB, begin + offset, first);
  t.Kernel(a, "fill", {Writes(buffer)});
  t.Kernel(a, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {ReadsWrites(buffer)});
  t.Free(buffer);
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.segments[second.index()].address = begin + 20 * kMiB;
  trace.process.environment = std::move(environment);
  return trace;
}

TEST_CASE("nccl-multi-segment names an exchanged buffer that lies over two segments") {
  const auto findings = Run("nccl-multi-segment",
                            Exchange(16 * kMiB, {"PYTORCH_ALLOC_CONF=expandable_segments:True"}));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "block 0 (8 MiB), which node 1 (ncclDevKernel_AllReduce_Sum_f32_RING_LL) of graph 0 'step' "
        "exchanges, lies in several driver allocations, and NCCL registers what it finds in graphs "
        "as if it was one");
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].bytes == 8 * kMiB);
}

TEST_CASE("nccl-multi-segment warns when it isn't known whether NCCL registers") {
  const auto findings = Run("nccl-multi-segment", Exchange(16 * kMiB, {}));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
}

TEST_CASE("nccl-multi-segment finds nothing when NCCL is told not to register") {
  CHECK(Run("nccl-multi-segment", Exchange(16 * kMiB, {"NCCL_GRAPH_REGISTER=0"})).empty());
}

// PyTorch's history has pages that were mapped at once as one segment; the tracer saw each.
TEST_CASE("nccl-multi-segment counts the driver's allocations in a segment") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const Address begin = 0x10000000;
  t.SetPool(t.Pool(PoolKind::kDevice));
  for (const Bytes page : {0u, 20u}) t.AllocAt({}, 20 * kMiB, begin + page * kMiB);
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  t.SetPool(pool);
  const SegmentId segment = t.Segment(pool, 40 * kMiB, a);
  const BlockId buffer = t.AllocAt(a, 30 * kMiB, begin, segment);
  t.BeginCapture(a);
  t.Kernel(a, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {ReadsWrites(buffer)});
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.segments[segment.index()].address = begin;
  const auto findings = Run("nccl-multi-segment", std::move(trace));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].blocks == std::vector{buffer});
}

TEST_CASE("nccl-multi-segment finds nothing in a buffer inside one segment") {
  CHECK(Run("nccl-multi-segment", Exchange(8 * kMiB, {})).empty());
}

}  // namespace
}  // namespace graphkit
