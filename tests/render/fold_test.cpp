#include "libgraphkit/render/dot/dot.h"

#include <doctest/doctest.h>

#include "libgraphkit/analysis/order/shape.h"
#include "tests/build_trace.h"

namespace graphkit {

namespace {

std::vector<bool> All(const Ran& trace) { return Select(trace, {}).nodes; }

std::vector<NodeId> Nodes(std::initializer_list<uint32_t> ids) {
  std::vector<NodeId> nodes;
  for (const uint32_t id : ids) nodes.emplace_back(id);
  return nodes;
}

//     a:  0 ── 1 ── 2 ── 3 ─────────── 7 ── 8 ── 9
//              (3 is forked from) └─ 4 ── 5 ── 6 ─┘     b
Ran ForkJoin() {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 4; ++i) t.Kernel(a);
  t.Order(a, b);
  for (int i = 0; i < 3; ++i) t.Kernel(b);
  t.Order(b, a);
  for (int i = 0; i < 3; ++i) t.Kernel(a);
  t.EndCapture(a);
  return t.Build();
}

}  // namespace

TEST_CASE("straight chains become one box, forks and joins stay") {
  const Ran trace = ForkJoin();
  const FoldedGraphs folded = FoldGraphs(trace, All(trace), Fold::kChains);
  const GraphId graph(0u);
  const StreamId a(0u), b(1u);
  CHECK(folded.boxes == std::vector<Box>{{graph, a, Nodes({0, 1, 2, 3})},
                                         {graph, b, Nodes({4, 5, 6})},
                                         {graph, a, Nodes({7, 8, 9})}});
  CHECK(folded.box_of == std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 2, 2, 2});
  REQUIRE(folded.edges.size() == 3);
  CHECK(folded.edges[0].from == 0);
  CHECK(folded.edges[0].to == 1);
  CHECK(folded.edges[1].to == 2);
  CHECK(folded.edges[2].from == 1);
}

TEST_CASE("a programmatic edge and a chain of two aren't folded") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a);
  t.Kernel(a);
  t.ProgrammaticKernel(a);
  t.Kernel(a);
  t.Kernel(a);
  t.EndCapture(a);
  const Ran trace = t.Build();
  const FoldedGraphs folded = FoldGraphs(trace, All(trace), Fold::kChains);
  REQUIRE(folded.boxes.size() == 3);
  CHECK(folded.boxes[2].nodes == Nodes({2, 3, 4}));
  CHECK(folded.edges[1] ==
        BoxEdge{1, 2, kPortProgrammatic, EdgeType::kProgrammatic, EdgeId(1u), 1});
}

TEST_CASE("a node that holds a graph stays alone") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 3; ++i) t.Kernel(a);
  t.Body(t.Conditional(a, ConditionalType::kIf));
  for (int i = 0; i < 3; ++i) t.Kernel(a);
  t.EndCapture(a);
  const Ran trace = t.Build();
  CHECK(FoldGraphs(trace, All(trace), Fold::kChains).boxes.size() == 3);
  CHECK(FoldGraphs(trace, All(trace), Fold::kStreams).boxes.size() == 3 + 1 + 3);
}

TEST_CASE("each of several graphs is cut into as many stretches") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  for (const int nodes : {200, 400}) {
    t.BeginCapture(a);
    for (int i = 0; i < nodes; ++i) t.Kernel(a);
    t.EndCapture(a);
  }
  const Ran trace = t.Build();
  const FoldedGraphs folded = FoldGraphs(trace, All(trace), Fold::kStreams);
  REQUIRE(folded.boxes.size() == 160);
  CHECK(folded.boxes[79].graph == GraphId(0u));
  CHECK(folded.boxes[80].graph == GraphId(1u));
  CHECK(folded.boxes[80].nodes.size() == 5);
}

TEST_CASE("small drawings stay as they are, larger ones fold by themselves") {
  const Ran small = ForkJoin();
  CHECK(FoldGraphs(small, All(small), Fold::kAuto).fold == Fold::kNone);
  CHECK(FoldGraphs(small, All(small), Fold::kAuto).boxes.size() == 10);

  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 10000; ++i) t.Kernel(a);
  t.EndCapture(a);
  const Ran chain = t.Build();
  const FoldedGraphs one = FoldGraphs(chain, All(chain), Fold::kAuto);
  CHECK(one.fold == Fold::kChains);
  CHECK(one.nodes == 10000);
  CHECK(one.boxes.size() == 1);

  TraceBuilder u;
  const StreamId c = u.Stream(), d = u.Stream();
  u.BeginCapture(c);
  for (int i = 0; i < 5000; ++i) {
    u.Kernel(i % 2 == 0 ? c : d);
    u.Order(i % 2 == 0 ? c : d, i % 2 == 0 ? d : c);
  }
  u.EndCapture(c);
  const Ran braid = u.Build();
  const FoldedGraphs stretches = FoldGraphs(braid, All(braid), Fold::kAuto);
  CHECK(stretches.fold == Fold::kStreams);
  CHECK(stretches.boxes.size() == 160);
  (void)b;
}

TEST_CASE("what was removed from a graph isn't drawn, what died with it is") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId first = t.Add(graph, NodeKind::kEmpty);
  const NodeId second = t.Add(graph, NodeKind::kEmpty, {first});
  t.Add(graph, NodeKind::kEmpty, {first});
  t.Destroy(second);
  const Ran trace = t.Build();
  const FoldedGraphs folded = FoldGraphs(trace, All(trace), Fold::kNone);
  CHECK(folded.nodes == 2);
  CHECK(folded.edges.size() == 1);
}

}  // namespace graphkit
