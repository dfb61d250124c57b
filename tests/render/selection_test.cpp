#include "libgraphkit/analysis/order/shape.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/build_trace.h"

namespace graphkit {

namespace {

std::vector<uint32_t> Ids(const std::vector<bool>& selected) {
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < selected.size(); ++i) {
    if (selected[i]) ids.push_back(i);
  }
  return ids;
}

// The slow way: relax every edge `depth` times.
std::vector<bool> Around(const Ran& trace, NodeId focus, uint32_t depth) {
  std::vector<bool> down(trace.nodes.size()), up(trace.nodes.size());
  down[focus.index()] = up[focus.index()] = true;
  for (uint32_t step = 0; step < depth; ++step) {
    const std::vector<bool> down_before = down, up_before = up;
    for (const Edge& edge : trace.edges) {
      if (down_before[edge.from.index()]) down[edge.to.index()] = true;
      if (up_before[edge.to.index()]) up[edge.from.index()] = true;
    }
  }
  for (size_t i = 0; i < up.size(); ++i) down[i] = down[i] || up[i];
  return down;
}

}  // namespace

TEST_CASE("of many graphs those with the most nodes stay, with what lies inside them") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  for (const int nodes : {1, 3, 2, 3}) {
    t.BeginCapture(a);
    for (int i = 0; i < nodes; ++i) t.Kernel(a);
    if (nodes == 2) t.Body(t.Conditional(a, ConditionalType::kIf));
    t.EndCapture(a);
  }
  const Ran trace = t.Build();  // graphs 0, 1, 2 with its body 3, and 4, of 1, 3, 3 and 3 nodes
  const Selection all = Select(trace, {});
  CHECK(all.graphs_left_out == 0);
  CHECK(Ids(all.graphs) == std::vector<uint32_t>{0, 1, 2, 3, 4});
  const Selection two = Select(trace, {.most_graphs = 2});
  CHECK(two.graphs_left_out == 2);
  CHECK(Ids(two.graphs) == std::vector<uint32_t>{1, 2, 3});
  CHECK(Ids(two.nodes) == std::vector<uint32_t>{1, 2, 3, 4, 5, 6});
  CHECK(Select(trace, {.graph = GraphId(0u), .most_graphs = 2}).graphs_left_out == 0);
}

TEST_CASE("a focus shows what leads to it and what follows, and no sibling") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId root = t.Add(graph, NodeKind::kEmpty);
  const NodeId left = t.Add(graph, NodeKind::kEmpty, {root});
  t.Add(graph, NodeKind::kEmpty, {root});  // node 2: a sibling
  const NodeId below = t.Add(graph, NodeKind::kEmpty, {left});
  t.Add(graph, NodeKind::kEmpty, {below});  // node 4: too far
  t.Graph("another");
  const Ran trace = t.Build();
  const Selection selection = Select(trace, {.focus = left, .depth = 1});
  CHECK(Ids(selection.nodes) == std::vector<uint32_t>{0, 1, 3});
  CHECK(selection.graphs == std::vector<bool>{true, false});
}

TEST_CASE("without a focus empty graphs are there, and the nested follow their holder") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const GraphId first = t.BeginCapture(a);
  const GraphId body = t.Body(t.Conditional(a, ConditionalType::kIf));
  t.EndCapture(a);
  t.Graph();
  const Ran trace = t.Build();
  CHECK(Select(trace, {}).graphs == std::vector<bool>{true, true, true});
  CHECK(Select(trace, {.graph = first}).graphs == std::vector<bool>{true, true, false});
  CHECK(Select(trace, {.graph = body}).graphs == std::vector<bool>{false, true, false});
}

TEST_CASE("on random graphs the neighbourhood is the one that the slow way finds") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder t;
    const GraphId graph = t.Graph();
    for (uint32_t i = 0; i < 30; ++i) {
      const NodeId id = t.Add(graph, NodeKind::kEmpty);
      for (uint32_t j = 0; j < i; ++j) {
        if (random() % 12 == 0) t.Connect(NodeId(j), id);
      }
    }
    const Ran trace = t.Build();
    const NodeId focus(static_cast<uint32_t>(random() % 30));
    const auto depth = static_cast<uint32_t>(random() % 5);
    CHECK(Select(trace, {.focus = focus, .depth = depth}).nodes == Around(trace, focus, depth));
  }
}

}  // namespace graphkit
