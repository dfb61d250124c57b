#include "libgraphkit/analysis/order/shape.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tests/build_trace.h"

namespace graphkit {

TEST_CASE("without durations the path with the most nodes is the longest") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId a = t.Add(graph, NodeKind::kKernel);
  const NodeId b = t.Add(graph, NodeKind::kKernel, {a});
  const NodeId c = t.Add(graph, NodeKind::kKernel, {b});
  const NodeId d = t.Add(graph, NodeKind::kKernel, {a, c});
  Ran trace = t.Build();
  const std::vector<bool> all(4, true);
  CHECK(LongestPath(trace, all) == std::vector<NodeId>{a, b, c, d});
  CHECK(LongestPath(trace, {true, false, true, true}) == std::vector<NodeId>{a, d});
  CHECK(LongestPath(trace, std::vector<bool>(4)).empty());
}

TEST_CASE("with durations the path that takes longest is") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId a = t.Add(graph, NodeKind::kKernel);
  const NodeId slow = t.Add(graph, NodeKind::kKernel, {a});
  const NodeId b = t.Add(graph, NodeKind::kKernel, {a});
  const NodeId c = t.Add(graph, NodeKind::kKernel, {b});
  Ran trace = t.Build();
  trace.nodes.ChangeAll([](Node& node) { node.duration_ns = 10; });
  trace.nodes.Change(slow.index(), [](Node& node) { node.duration_ns = 100; });
  CHECK(LongestPath(trace, std::vector<bool>(4, true)) == std::vector<NodeId>{a, slow});
  // One isn't measured: durations prove nothing.
  trace.nodes.Change(c.index(), [](Node& node) { node.duration_ns = 0; });
  CHECK(LongestPath(trace, std::vector<bool>(4, true)) == std::vector<NodeId>{a, b, c});
}

TEST_CASE("on random graphs it is as long as trying all paths finds") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    TraceBuilder t;
    const GraphId graph = t.Graph();
    for (uint32_t i = 0; i < 12; ++i) {
      const NodeId id = t.Add(graph, NodeKind::kEmpty);
      for (uint32_t j = 0; j < i; ++j) {
        if (random() % 4 == 0) t.Connect(NodeId(j), id);
      }
    }
    const Ran trace = t.Build();
    const std::function<size_t(NodeId)> longest = [&](NodeId from) {
      size_t best = 0;
      for (const Edge& edge : trace.edges) {
        if (edge.from == from) best = std::max(best, longest(edge.to));
      }
      return best + 1;
    };
    size_t expected = 0;
    for (uint32_t i = 0; i < 12; ++i) expected = std::max(expected, longest(NodeId(i)));
    CHECK(LongestPath(trace, std::vector<bool>(12, true)).size() == expected);
    CHECK(LongestPaths(trace, FindInEdges(trace)) ==
          std::vector<std::vector<NodeId>>{LongestPath(trace, std::vector<bool>(12, true))});
  }
}

}  // namespace graphkit
