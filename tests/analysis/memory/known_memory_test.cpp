
#include "libgraphkit/analysis/memory/known_memory.h"
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

using Reasons = std::vector<std::string>;

UnknownMemory Find(const Ran& trace) { return FindUnknownMemory(trace, FindRoots(trace)); }

// Two captures; the first one allocates with nodes whose sizes the source doesn't have.
Ran SizesMissing() {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream, "no sizes");
  t.AllocNode(stream, 4096);
  t.Capture(stream, NodeKind::kMemAlloc);
  t.Capture(stream, NodeKind::kMemAlloc);
  t.EndCapture(stream);
  t.BeginCapture(stream, "sizes");
  t.AllocNode(stream, 4096);
  t.EndCapture(stream);
  return t.Build();
}

const char kMissing[] = "the sizes of 2 of 3 memory-alloc nodes weren't recorded";

TEST_CASE("a graph whose allocations have no sizes is unknown, and no other graph") {
  CHECK(Find(SizesMissing()) == UnknownMemory{.graphs = {kMissing, ""}, .any = kMissing});
}

TEST_CASE("what is allocated inside of a graph is the graph's") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream, "outer");
  const NodeId conditional = t.Conditional(stream, ConditionalType::kIf);
  t.Add(t.Body(conditional), NodeKind::kMemAlloc);
  t.EndCapture(stream);
  const char kOne[] = "the sizes of 1 of 1 memory-alloc nodes weren't recorded";
  CHECK(Find(t.Build()).graphs == Reasons{kOne, kOne});
}

TEST_CASE("a node that was taken out of its graph needs no size") {
  TraceBuilder t;
  const GraphId graph = t.Graph("built");
  t.Destroy(t.Add(graph, NodeKind::kMemAlloc));
  CHECK(Find(t.Build()) == UnknownMemory{.graphs = {""}, .any = ""});
}

TEST_CASE("nothing is known of the memory of a source without sizes") {
  TraceBuilder t;
  t.Graph();
  Ran trace = t.Build();
  trace.process.unknown_memory = "a drawing has no sizes";
  CHECK(Find(trace) ==
        UnknownMemory{.graphs = {"a drawing has no sizes"}, .any = "a drawing has no sizes"});
}

TEST_CASE("where no memory of graphs is known there is nothing to place") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.Alloc(stream, 4096);
  CHECK(NothingToPlace(Resolve(t.trace())) == "it holds no graph");
  t.BeginCapture(stream);
  CHECK(NothingToPlace(Resolve(t.trace())) == "it holds no graph");
  t.Kernel(stream);
  CHECK(NothingToPlace(Resolve(t.trace())) == "its graphs allocate no memory");
  t.Alloc(stream, 4096);
  t.EndCapture(stream);
  CHECK(NothingToPlace(t.Build()).empty());
  CHECK(NothingToPlace(SizesMissing()) == "its memory is unknown: " + std::string(kMissing));
}

TEST_CASE("no figure of unknown memory is a number") {
  const Report report = *Analyze(SizesMissing());
  const GraphSummary& graph = report.graphs[0];
  CHECK(graph.unknown_memory == kMissing);
  for (const std::optional<Bytes>& bytes :
       {graph.total_bytes, graph.peak_live_bytes, graph.deferred_bytes, graph.lower_bound_bytes,
        graph.recorded_extent_bytes, graph.never_freed_bytes, graph.pinned_bytes, graph.reuse_bytes,
        graph.plan_bytes}) {
    CHECK(bytes == std::nullopt);
  }
  CHECK(graph.pools.empty());
  CHECK(report.memory == std::nullopt);
  CHECK(report.totals.allocated_bytes == std::nullopt);
  CHECK(report.graphs[1].peak_live_bytes == 4096);
}

}  // namespace
}  // namespace graphkit
