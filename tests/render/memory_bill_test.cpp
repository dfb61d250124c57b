#include "libgraphkit/render/analyze/text.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "tests/render/sample_report.h"

namespace graphkit {

TEST_CASE("blocks are billed to the place that asked for them, the largest first") {
  const auto bills = BillMemory(SampleTrace(), SampleReport(), BillBy::kStack);
  CHECK(bills == std::vector<MemoryBill>{{GraphId(0u),
                                          {{"no call stack", 1, 4 << 20, 4 << 20, 0},
                                           {"step.cu:42 step", 1, 1 << 20, 1 << 20, 1 << 20}}}});
  CHECK(BillMemory(SampleTrace(), SampleReport(), BillBy::kPool)[0].lines ==
        std::vector<BillLine>{{"pool 0 (stream-ordered)", 2, 5 << 20, 5 << 20, 1 << 20}});
  CHECK(BillMemory(SampleTrace(), SampleReport(), BillBy::kBlock)[0].lines.size() == 2);
}

TEST_CASE("a bill is a table, cut at the limit") {
  std::ostringstream out;
  const Ran trace = SampleTrace();
  const auto bills = BillMemory(trace, SampleReport(), BillBy::kBlock);
  RenderBills(trace, bills, BillBy::kBlock, {{.top = 1}, out});
  CHECK(out.str() == R"(
Memory of graph 0 "step" by block
  bytes  blocks  never freed  reuse  block
  4 MiB       1        4 MiB    0 B  block 0
  and 1 more; --top 0 shows all
)");
}

TEST_CASE("a bill of all graphs adds up the lines of one name") {
  const std::vector<MemoryBill> bills = {
      {GraphId(0u), {{"pool 1", 2, 4096, 512, 0}, {"pool 0", 1, 512, 0, 0}}},
      {GraphId(1u), {{"pool 0", 3, 8192, 0, 1024}}}};
  const MemoryBill sum = SumBills(bills);
  CHECK(sum ==
        MemoryBill{GraphId(), {{"pool 0", 4, 8704, 0, 1024, 2}, {"pool 1", 2, 4096, 512, 0, 1}}});
  std::ostringstream out;
  RenderBills(Ran(), {sum}, BillBy::kPool, {{}, out});
  CHECK(out.str() == R"(
Memory of all graphs by pool
  graphs     bytes  blocks  never freed  reuse  pool
       2  8.50 KiB       4          0 B  1 KiB  pool 0
       1     4 KiB       2        512 B    0 B  pool 1
)");
}

// Segments of 20 and 12 MiB in two pools, 4 MiB of the first handed out, and 1 MiB of the driver's.
Ran HeldTrace() {
  constexpr Bytes kMiB = Bytes{1} << 20;
  Ran trace;
  trace.records = 20;
  trace.pools = {{.kind = PoolKind::kAllocator, .name = trace.strings.Intern("PyTorch")},
                 {.kind = PoolKind::kPrivate, .name = trace.strings.Intern("private pool (0, 1)")},
                 {.kind = PoolKind::kDevice}};
  trace.streams.resize(2);
  trace.segments = {
      {.size = 20 * kMiB, .pool = PoolId(0u), .stream = StreamId(0u), .block = BlockId(0u)},
      {.size = 12 * kMiB, .pool = PoolId(1u), .stream = StreamId(1u), .block = BlockId(1u)},
      {.size = 2 * kMiB, .pool = PoolId(1u), .stream = StreamId(1u), .freed = 9}};
  trace.blocks = {{.size = 20 * kMiB, .pool = PoolId(2u)},
                  {.size = 12 * kMiB, .pool = PoolId(2u)},
                  {.size = 4 * kMiB, .pool = PoolId(0u), .segment = SegmentId(0u)},
                  {.size = kMiB, .pool = PoolId(2u)},
                  {.size = 2 * kMiB,
                   .pool = PoolId(0u),
                   .segment = SegmentId(0u),
                   .free_requested = 5,
                   .free_completed = 6}};
  return trace;
}

TEST_CASE("what is held at the end is billed by pool, segments apart from blocks") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  const std::vector<HeldLine> lines = BillHeld(HeldTrace(), BillBy::kPool);
  REQUIRE(lines.size() == 3);
  const auto figures = [](const HeldLine& line) {
    return std::vector<uint64_t>{line.segments, line.segment_bytes, line.blocks, line.block_bytes};
  };
  CHECK(figures(lines[0]) == std::vector<uint64_t>{1, 20 * kMiB, 1, 4 * kMiB});
  CHECK(figures(lines[1]) == std::vector<uint64_t>{1, 12 * kMiB, 0, 0});
  CHECK(figures(lines[2]) == std::vector<uint64_t>{0, 0, 1, kMiB});
  CHECK(lines[0].name.find("PyTorch") != std::string::npos);
  CHECK(lines[1].name.find("private pool (0, 1)") != std::string::npos);
  CHECK(BillHeld(HeldTrace(), BillBy::kStack) ==
        std::vector<HeldLine>{{"no call stack", 0, 0, 2, 5 * kMiB}});
  Ran later = HeldTrace();
  later.histories = {{.devices = 1, .seq = 4}};
  CHECK(BillHeld(later, BillBy::kStack) ==
        std::vector<HeldLine>{{"allocated before recording began (no stack)", 0, 0, 2, 5 * kMiB}});
}

TEST_CASE("what is held at a moment isn't what is held at the end") {
  constexpr Bytes kMiB = Bytes{1} << 20;
  const auto held = [](const HeldAt& at) { return BillHeld(HeldTrace(), BillBy::kStack, at); };
  CHECK(held({.seq = 5}) == std::vector<HeldLine>{{"no call stack", 0, 0, 3, 7 * kMiB}});
  CHECK(held({.seq = 6}) == std::vector<HeldLine>{{"no call stack", 0, 0, 2, 5 * kMiB}});
  CHECK(held({.seq = 5, .device = 1}).empty());
}

}  // namespace graphkit
