#include "plugins/torch_allocator/live_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/plugins/torch_allocator/live_graph.h"
#include "tests/random.h"

namespace graphkit {
namespace {

std::vector<NodeId> Markers(LiveGraph* graph, size_t stream, size_t since = 0) {
  std::vector<NodeId> markers;
  REQUIRE(graph->order().AddMarkers(graph->frontier(stream), since, &markers));
  return markers;
}

// The drawing of live_pool.h.
TEST_CASE("a stream sees what its frontier follows, and nothing else") {
  LiveGraph graph(2);
  const size_t a0 = graph.Launch(0);
  graph.Wait(1, 0);
  const size_t a1 = graph.Launch(0);
  const size_t a2 = graph.Launch(0);
  const size_t b0 = graph.Launch(1);
  for (const size_t node : {a0, a1, a2}) CHECK(graph.Before(graph.IdOf(node), 0));
  CHECK_FALSE(graph.Before(graph.IdOf(b0), 0));
  CHECK(graph.Before(graph.IdOf(a0), 1));
  CHECK(graph.Before(graph.IdOf(b0), 1));
  CHECK_FALSE(graph.Before(graph.IdOf(a1), 1));
  CHECK_FALSE(graph.Before(graph.IdOf(a2), 1));
}

TEST_CASE("the driver is asked for a node's edges once, when the node comes into sight") {
  LiveGraph graph(2);
  for (int i = 0; i < 3; ++i) graph.Launch(0);
  const size_t unseen = graph.Launch(1);
  graph.order().PointAfter(graph.frontier(0));
  CHECK(graph.asked().size() == 3);
  graph.Launch(0);
  graph.order().PointAfter(graph.frontier(0));
  graph.order().PointAfter(graph.frontier(0));
  CHECK(graph.asked().size() == 4);
  CHECK(graph.asked().count(LiveGraph::Handle(unseen)) == 0);
  for (const auto& [node, times] : graph.asked()) CHECK(times == 1);
}

TEST_CASE("once edges can't be had nothing is proved any more") {
  LiveGraph graph(2);
  graph.Launch(0);
  graph.Hide(graph.Launch(1));
  graph.Launch(1);
  CHECK(graph.order().PointAfter(graph.frontier(0)));
  CHECK_FALSE(graph.order().PointAfter(graph.frontier(1)));
  CHECK_FALSE(graph.order().PointAfter(graph.frontier(0)));
  std::vector<NodeId> markers;
  CHECK_FALSE(graph.order().AddMarkers(graph.frontier(0), 0, &markers));
}

TEST_CASE("the end of a node proves the end of what it waited for: one marker is enough") {
  LiveGraph graph(1);
  for (int i = 0; i < 5; ++i) graph.Launch(0);
  CHECK(Markers(&graph, 0) == std::vector{graph.IdOf(4)});
}

// a0 ─programmatic→ a1: a1 may end first.
TEST_CASE("a node that isn't waited for to its end is a marker of its own") {
  LiveGraph graph(1);
  graph.Launch(0);
  graph.Launch(0, true);
  CHECK_FALSE(graph.Before(graph.IdOf(0), 0));
  CHECK(graph.Before(graph.IdOf(1), 0));
  CHECK(Markers(&graph, 0) == std::vector{graph.IdOf(1), graph.IdOf(0)});
  CHECK(Markers(&graph, 0, graph.order().nodes()) == std::vector{graph.IdOf(1)});
}

TEST_CASE("a stream that stands at a node's trigger doesn't follow its end") {
  LiveGraph graph(2);
  graph.Launch(0);
  graph.frontier(1) = {{LiveGraph::Handle(0), kPortProgrammatic, 1}};
  CHECK_FALSE(graph.Before(graph.IdOf(0), 1));
  CHECK(Markers(&graph, 1) == std::vector{graph.IdOf(0)});
}

TEST_CASE("where every edge counts as full a programmatic one proves the end") {
  LiveGraph graph(1, EdgeRule::kAllFull);
  graph.Launch(0);
  graph.Launch(0, true);
  CHECK(graph.Before(graph.IdOf(0), 0));
  CHECK(Markers(&graph, 0) == std::vector{graph.IdOf(1)});
}

TEST_CASE("too many markers are refused") {
  LiveGraph graph(1);
  for (int i = 0; i < 64; ++i) graph.Launch(0, true);
  CHECK(Markers(&graph, 0).size() == 64);
  graph.Launch(0, true);
  std::vector<NodeId> markers;
  CHECK_FALSE(graph.order().AddMarkers(graph.frontier(0), 0, &markers));
}

void RandomStep(LiveGraph* graph, std::mt19937_64* random) {
  const size_t stream = (*random)() % graph->streams();
  if ((*random)() % 3 == 0) {
    graph->Wait(stream, (*random)() % graph->streams());
  } else {
    graph->Launch(stream, (*random)() % 4 == 0);
  }
}

// The knowledge about a stream at some time.
struct Sight {
  OrderPoint point;
  std::vector<FrontierEntry> frontier;
  std::vector<NodeId> markers;
};

Sight Look(LiveGraph* graph, size_t stream) {
  return {*graph->order().PointAfter(graph->frontier(stream)), graph->SlowFrontier(stream),
          Markers(graph, stream)};
}

// True if all markers having ended proves that the node has.
bool Covered(const SlowOrder& slow, size_t node, const std::vector<NodeId>& markers) {
  return std::ranges::any_of(markers,
                             [&](NodeId marker) { return slow.EndsBefore(NodeId(node), marker); });
}

void CheckSight(LiveGraph* graph, const SlowOrder& slow, const Sight& sight) {
  std::vector<NodeId> traced(graph->order().nodes());  // by the order's names
  for (size_t i = 0; i < graph->nodes(); ++i) traced[graph->IdOf(i).index()] = NodeId(i);
  std::vector<NodeId> markers;
  for (const NodeId marker : sight.markers) markers.push_back(traced[marker.index()]);
  for (size_t i = 0; i < graph->nodes(); ++i) {
    CAPTURE(i);
    const bool before = slow.Before(NodeId(i), sight.frontier);
    REQUIRE(graph->order().order().Before(graph->IdOf(i), sight.point) == before);
    const bool followed = std::ranges::any_of(sight.frontier, [&](const FrontierEntry& entry) {
      return entry.node == NodeId(i) || slow.StartsBefore(NodeId(i), entry.node);
    });
    if (followed) REQUIRE(Covered(slow, i, markers));
  }
}

TEST_CASE("in random captures the order is that of a search, and markers cover what was followed") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(150); ++round) {
    CAPTURE(round);
    LiveGraph graph(1 + random() % 4);
    std::vector<Sight> sights;
    for (int step = 0; step < 40; ++step) {
      RandomStep(&graph, &random);
      if (random() % 4 == 0) sights.push_back(Look(&graph, random() % graph.streams()));
    }
    for (size_t i = 0; i < graph.nodes(); ++i) graph.IdOf(i);  // all are known
    const SlowOrder slow = graph.Slow();
    for (const Sight& sight : sights) CheckSight(&graph, slow, sight);
  }
}

}  // namespace
}  // namespace graphkit
