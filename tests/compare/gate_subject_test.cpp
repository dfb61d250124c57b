#include <doctest/doctest.h>

#include "libgraphkit/compare/gate.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

TEST_CASE("the peaks of segments and of the blocks in them are over capture order") {
  //  segments   1024 ├──────────────┤     ├── 2048 ──
  //  blocks       ├─ 600 ─┤├─ 100 ─┤         ├── 512      (rounded: 1024, 512, 512)
  TraceBuilder t;
  const StreamId a = t.Stream();
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  t.SetPool(pool);
  const SegmentId first = t.Segment(pool, 1024);
  const BlockId x = t.AllocAt(a, 600, 0x1000, first);
  t.Free(x);
  const BlockId y = t.AllocAt(a, 100, 0x1000, first);
  t.Free(y);
  t.FreeSegment(first);
  const SegmentId second = t.Segment(pool, 2048);
  t.AllocAt(a, 512, 0x2000, second);
  t.SetPool({});
  t.Alloc({}, 1 << 20);  // the driver's
  const Ran trace = t.Build();
  const GateSubject subject = MakeGateSubject("a.json", Facts(trace), {});
  CHECK(subject.peak_reserved_bytes == 2048 + (1 << 20));
  CHECK(subject.peak_allocated_bytes == 512 + (1 << 20));
  CHECK(subject.idle_bytes == 2048 - 512);
}

// Two captures at once: the second graph's block comes before or after the first one's free.
GateSubject TwoCapturesAtOnce(bool overlap) {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.Alloc({}, 4096);
  t.SetPool(t.Pool(PoolKind::kGraph));
  const BlockId first = t.Alloc(a, 1 << 20);
  if (!overlap) t.Free(first, a);
  const BlockId second = t.Alloc(a, 1 << 20);
  if (overlap) t.Free(first, a);
  t.Free(second, a);
  return MakeGateSubject("a.json", Facts(t.Build()), {});
}

TEST_CASE("the order in which threads capture doesn't change what is reserved outside of graphs") {
  CHECK(TwoCapturesAtOnce(true).peak_reserved_bytes == 4096 + (2 << 20));
  CHECK(TwoCapturesAtOnce(true).peak_outside_graphs_bytes == 4096);
  CHECK(TwoCapturesAtOnce(false).peak_outside_graphs_bytes == 4096);
}

TEST_CASE("a program without memory has no idle memory, one of unknown memory an unknown one") {
  TraceBuilder t;
  CHECK(MakeGateSubject("a.json", Facts(t.Build()), {}).idle_bytes == 0);
  Ran drawing = TraceBuilder().Build();
  drawing.process.unknown_memory = "a drawing has none";
  CHECK_FALSE(MakeGateSubject("a.dot", Facts(drawing), {}).idle_bytes);
  CHECK_FALSE(MakeGateSubject("a.dot", Facts(drawing), {}).peak_reserved_bytes);
}

TEST_CASE("a finding of leaked execs counts all of them, one of memory its blocks") {
  TraceBuilder t;
  const GraphId graph = t.Graph("g");
  for (int i = 0; i < 3; ++i) t.Instantiate(graph);
  t.Destroy(t.Instantiate(graph));
  Report report;
  report.findings = {{.check = "exec-leak", .graph = graph},
                     {.check = "block-leak", .blocks = {BlockId(0u), BlockId(1u)}},
                     {.check = "graph-leak", .graph = graph},
                     {.check = "late-free", .graph = graph}};
  Ran trace = t.Build();
  trace.blocks.resize(2);
  CHECK(MakeGateSubject("a.json", Facts(trace), report).leaks == std::vector<uint64_t>{3, 2, 1, 0});
}

}  // namespace
}  // namespace graphkit
