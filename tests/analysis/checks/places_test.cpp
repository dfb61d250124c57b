#include "libgraphkit/analysis/checks/places.h"

#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Two kernels on two streams; the second reads what the first may still write.
Ran RacingLines() {
  auto [t, a, b] = TwoStreams();
  const StackId scale = t.Stack({{"cudaLaunchKernel", "libcudart.so.13", 0},
                                 {"Launch<float>", "/usr/include/launch.h", 7},
                                 {"step", "src/step.cu", 17},
                                 {"main", "src/main.cu", 40}});
  const StackId reduce = t.Stack({{"step", "src/step.cu", 18}, {"main", "src/main.cu", 40}});
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.SetStack(scale);
  t.Kernel(a, "_Z5scalePf", {Writes(x, 0, 4096)});
  t.SetStack(reduce);
  t.Kernel(b, "_Z6reducePKf", {Reads(x, 0, 4096)});
  t.Order(b, a);
  t.EndCapture(a);
  return t.Build();
}

TEST_CASE("a race has both of its lines, and says who writes and who reads") {
  const Ran trace = RacingLines();
  std::vector<Finding> findings = Run("missing-order", trace);
  REQUIRE(findings.size() == 1);
  FindPlaces(trace, &findings);
  const std::vector<FindingPlace>& places = findings[0].places;
  REQUIRE(places.size() == 2);
  CHECK(places[0].line == PlaceFrame{"step", "src/step.cu", 17});
  CHECK(places[0].frames.size() == 3);  // without CUDA's own
  CHECK(places[0].about == "node 1 (scale), captured on stream 0 'a', writes block 0 (4 KiB)");
  CHECK(places[1].line == PlaceFrame{"step", "src/step.cu", 18});
  CHECK(places[1].about == "node 2 (reduce), captured on stream 1 'b', reads block 0 (4 KiB)");
  CHECK(findings[0].logical == "graph 0/node 1");
  CHECK(findings[0].advice ==
        "after scale (src/step.cu:17): cudaEventRecord(event, a); before reduce "
        "(src/step.cu:18): cudaStreamWaitEvent(b, event)");
}

TEST_CASE("without evidence the stack of what a finding names is its place") {
  const Ran trace = RacingLines();
  std::vector<Finding> findings = {{.check = "c", .graph = GraphId(0u), .nodes = {NodeId(2u)}},
                                   {.check = "c", .graph = GraphId(0u), .nodes = {NodeId(0u)}}};
  FindPlaces(trace, &findings);
  CHECK(findings[0].line() == PlaceFrame{"step", "src/step.cu", 18});
  CHECK(findings[1].places.empty());
  CHECK(findings[1].logical == "graph 0/node 0");
}

TEST_CASE("the place of a block is the innermost line of the program's own, its name logical") {
  TraceBuilder t;
  t.SetStack(t.Stack({{"cudaMallocAsync", "libcudart.so.13"}, {"step", "step.cu", 42}, {"main"}}));
  const StreamId a = t.Stream();
  const GraphId graph = t.BeginCapture(a, "decode");
  const BlockId block = t.Alloc(a, 512);
  std::vector<Finding> findings = {{.graph = graph, .blocks = {block}}, {.streams = {a}}, {}};
  FindPlaces(t.Build(), &findings);
  REQUIRE(findings[0].places.size() == 1);
  CHECK(findings[0].line() == PlaceFrame{"step", "step.cu", 42});
  CHECK(findings[0].places[0].frames ==
        std::vector<PlaceFrame>{{"step", "step.cu", 42}, {"main", "", 0}});
  CHECK(findings[0].logical == "graph 0 decode/block 0");
  CHECK(findings[1].logical == "trace/stream 0");
  CHECK(findings[2].logical == "trace");
  CHECK(findings[2].places.empty());
}

TEST_CASE("two pieces of evidence at one line are one place") {
  const Ran trace = RacingLines();
  const StackId scale = trace.nodes[1].stack;
  std::vector<Finding> findings = {
      {.check = "c", .evidence = {{.text = "a", .stack = scale}, {.text = "b", .stack = scale}}}};
  FindPlaces(trace, &findings);
  CHECK(findings[0].places.size() == 1);
}

}  // namespace
}  // namespace graphkit
