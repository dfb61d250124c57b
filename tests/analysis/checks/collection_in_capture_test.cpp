#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("collection-in-capture names the pause and what was freed in it") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const StackId cache = t.Stack({{"__init__", "serve.py", 12}});
  t.SetStack(cache);
  const BlockId before = t.Alloc(s, 4096);
  t.SetStack({});
  const GraphId graph = t.BeginCapture(s, "step");
  const BlockId other = t.Alloc(s, 512);
  t.Kernel(s);
  t.NvtxPush("garbage collection, generation 1");
  t.SetTime(1'000'000);
  t.Free(before);
  t.NvtxPop();
  t.SetTime(3'500'000);
  t.Free(other);
  t.EndCapture(s);
  const Finding finding = RunForOne("collection-in-capture", &t);
  CHECK(finding.message ==
        "1 garbage collection paused the capture of graph 0 'step' for 2.50 ms and freed 4 KiB in "
        "block 0 inside of it");
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.graph == graph);
  CHECK(finding.blocks == std::vector{before});
  CHECK(finding.evidence ==
        std::vector<Evidence>{{.text = "block 0 (4 KiB) was allocated before the first capture",
                               .blocks = {before},
                               .stack = cache}});
}

// Two collections in a capture that free nothing.
std::vector<Finding> OfPauses(Nanoseconds each) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.BeginCapture(s);
  for (Nanoseconds i = 0; i < 2; ++i) {
    t.NvtxPush("garbage collection, generation 0");
    t.SetTime(1'000'000 + i * each);
    t.NvtxPop();
    t.SetTime(1'000'000 + (i + 1) * each);
  }
  t.Kernel(s);
  t.EndCapture(s);
  return Run("collection-in-capture", &t);
}

TEST_CASE("collection-in-capture tells of pauses alone where they are long") {
  CHECK(OfPauses(49'000'000).empty());
  const std::vector<Finding> found = OfPauses(50'000'000);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "2 garbage collections paused the capture of graph 0 for 100 ms");
  CHECK(found[0].severity == Severity::kNote);
}

TEST_CASE("collection-in-capture finds nothing outside of captures, nor other ranges") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.NvtxPush("garbage collection, generation 2");
  t.NvtxPop();
  t.BeginCapture(s);
  t.NvtxPush("forward");
  t.Kernel(s);
  t.NvtxPop();
  t.EndCapture(s);
  CHECK(Run("collection-in-capture", &t).empty());
}

}  // namespace
}  // namespace graphkit
