#include "libgraphkit/render/analyze/memory_bill.h"

#include <doctest/doctest.h>

#include <sstream>

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
  const Trace trace = SampleTrace();
  const auto bills = BillMemory(trace, SampleReport(), BillBy::kBlock);
  RenderBills(trace, bills, BillBy::kBlock, {.top = 1}, out);
  CHECK(out.str() == R"(
Memory of graph 0 "step" by block
  bytes  blocks  never freed  reuse  block
  4 MiB       1        4 MiB    0 B  block 0
  and 1 more; --top 0 shows all
)");
}

}  // namespace graphkit
