#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Two graphs, each with an input of its own and one in common.
struct TwoGraphs {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  BlockId common = t.Alloc({}, 1024);
  BlockId small = t.Alloc({}, 4096);
  BlockId large = t.Alloc({}, 8192);
  GraphId first = Capture(small);
  ExecId first_exec = t.Instantiate(first);
  GraphId second = Capture(large);
  ExecId second_exec = t.Instantiate(second);

  GraphId Capture(BlockId input) {
    const GraphId graph = t.BeginCapture(a);
    t.Kernel(a, "read", {Reads(input), ReadsWrites(common)});
    t.EndCapture(a);
    return graph;
  }
};

TEST_CASE("static-input-pinned names what is kept for a graph that is never launched") {
  TwoGraphs g;
  g.t.Launch(g.first_exec, g.a);
  for (const BlockId block : {g.common, g.small, g.large}) g.t.Free(block);
  const Finding finding = RunForOne("static-input-pinned", &g.t);
  CHECK(finding.message ==
        "block 2 (8 KiB) is kept for graph 1, which is instantiated and never launched");
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.blocks == std::vector{g.large});
  CHECK(finding.bytes == 8192);
  CHECK(finding.graph == g.second);
}

TEST_CASE("static-input-pinned finds nothing when both graphs are launched") {
  TwoGraphs g;
  g.t.Launch(g.first_exec, g.a);
  g.t.Launch(g.second_exec, g.a);
  for (const BlockId block : {g.common, g.small, g.large}) g.t.Free(block);
  CHECK(Run("static-input-pinned", &g.t).empty());
}

TEST_CASE("static-input-pinned finds nothing when the graph's exec runs another one") {
  TwoGraphs g;
  g.t.Launch(g.first_exec, g.a);
  g.t.Update(g.second_exec, g.first);
  g.t.Launch(g.second_exec, g.a);
  CHECK(Run("static-input-pinned", &g.t).empty());
}

TEST_CASE("static-input-pinned finds nothing when the graph that isn't launched is let go") {
  TwoGraphs g;
  g.t.Destroy(g.second_exec);
  g.t.Launch(g.first_exec, g.a);
  CHECK(Run("static-input-pinned", &g.t).empty());
}

}  // namespace
}  // namespace graphkit
