#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("late-free says what the peak would be had memory been freed after its last use") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId early = t.Alloc(a, 3 << 20);
  const NodeId last = t.Kernel(a, "read", {Reads(early)});
  const BlockId big = t.Alloc(a, 4 << 20);
  t.Kernel(a, "use", {Writes(big)});
  t.Free(early);
  t.Free(big);
  t.EndCapture(a);
  const Finding finding = RunForOne("late-free", &t);
  CHECK(finding.message ==
        "the peak of graph 0 would be 3 MiB lower if block 0 was freed right after the last use");
  CHECK(finding.bytes == 3 << 20);
  CHECK(finding.blocks == std::vector{early});
  CHECK(finding.nodes == std::vector{last});
}

TEST_CASE("late-free finds nothing when a late free doesn't raise the peak") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 1 << 20);
  t.Kernel(a, "use", {Writes(x)});
  t.Kernel(a, "other");
  t.Free(x);
  t.EndCapture(a);
  CHECK(Run("late-free", &t).empty());
}

}  // namespace
}  // namespace graphkit
