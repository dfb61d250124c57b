// Random captures against themselves with other ids, and with one planted change.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/compare/diff.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/compare/permute_trace.h"
#include "tests/compare/random_capture.h"
#include "tests/random.h"

namespace graphkit {
namespace {

TraceDiff Differences(const Ran& before, const Ran& after) {
  return DiffTraces(before, {}, after, {});
}

const GraphDiff& DiffOf(const TraceDiff& diff, GraphId before) {
  const auto found = std::ranges::find(diff.graphs, before, &GraphDiff::before);
  REQUIRE(found != diff.graphs.end());
  return *found;
}

constexpr GraphId kStep(1u);  // the capture; graph 0 is the one that children are made of

// A node of the capture, on a stream that has a few.
NodeId AnyNode(const Ran& trace, std::mt19937_64& random) {
  for (;;) {
    const NodeId id(random() % trace.nodes.size());
    const Node& node = trace[id];
    if (node.graph != kStep || node.kind != NodeKind::kKernel) continue;
    const auto on_stream = std::ranges::count_if(trace.nodes, [&](const Node& other) {
      return other.graph == kStep && other.stream == node.stream;
    });
    if (on_stream >= 4) return id;
  }
}

struct Case {
  Ran before, after;
  GraphDiff expected;  // in the ids of both
};

// Makes the change in a copy, gives that other ids, and says what has to be found.
template <typename Change>
Case Planted(std::mt19937_64& random, const RandomCaptureOptions& options, Change change) {
  Case planted;
  planted.before = RandomCapture(random, options);
  Ran changed = planted.before;
  planted.expected = {.before = kStep, .after = kStep};
  change(changed, planted.expected);
  changed = Resolve(AsRecorded(std::move(changed)));
  Permuted permuted = Permute(changed, random);
  planted.after = std::move(permuted.trace);
  for (NodePair& pair : planted.expected.moved_nodes) {
    pair.after = permuted.node[pair.after.index()];
  }
  for (ParameterChange& parameter : planted.expected.parameters) {
    parameter.node.after = permuted.node[parameter.node.after.index()];
  }
  for (EdgePair& pair : planted.expected.changed_edges) {
    pair.after = permuted.edge[pair.after.index()];
  }
  for (NodeId& node : planted.expected.added_nodes) node = permuted.node[node.index()];
  for (EdgeId& edge : planted.expected.gained_edges) edge = permuted.edge[edge.index()];
  return planted;
}

template <typename Change>
void CheckPlanted(const char* what, Change change) {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(150); ++round) {
    const RandomCaptureOptions options{.streams = 1 + static_cast<int>(random() % 5),
                                       .nodes = 30 + static_cast<int>(random() % 60),
                                       .names = 1000,  // nearly all nodes have their own
                                       .child = round % 2 == 0};
    Case planted = Planted(
        random, options, [&](Ran& trace, GraphDiff& expected) { change(trace, expected, random); });
    CAPTURE(what);
    CAPTURE(seed);
    CAPTURE(round);
    const TraceDiff diff = Differences(planted.before, planted.after);
    GraphDiff found = DiffOf(diff, kStep);
    found.matched_nodes = 0;
    REQUIRE(found == planted.expected);
    for (const GraphDiff& graph : diff.graphs) {
      if (graph.before != kStep) REQUIRE(graph.equal());
    }
  }
}

TEST_CASE("other ids, streams and capture orders make no difference") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(400); ++round) {
    const RandomCaptureOptions options{.streams = 1 + static_cast<int>(random() % 6),
                                       .nodes = static_cast<int>(random() % 80),
                                       .names = 1 + static_cast<int>(random() % 20),
                                       .child = round % 2 == 0};
    const Ran trace = RandomCapture(random, options);
    CAPTURE(seed);
    CAPTURE(round);
    const TraceDiff diff = Differences(trace, Permute(trace, random).trace);
    const GraphDiff& step = DiffOf(diff, kStep);
    CAPTURE(step.moved_nodes.size());
    CAPTURE(step.lost_edges.size());
    CAPTURE(step.removed_nodes.size());
    REQUIRE(diff.equal());
  }
}

TEST_CASE("one changed shape is found") {
  CheckPlanted("shape", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const NodeId node = AnyNode(trace, random);
    trace.nodes.Change(node.index(),
                       [&](Node& n) { n.shape = static_cast<uint32_t>(trace.shapes.size()); });
    trace.shapes.push_back({.grid = {77, 1, 1}});
    expected.parameters = {{{node, node}, "grid", "1x1x1", "77x1x1"}};
  });
}

TEST_CASE("one node on another stream is found") {
  CheckPlanted("stream", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const NodeId node = AnyNode(trace, random);
    trace.nodes.Change(node.index(), [&](Node& n) { n.stream = StreamId(trace.streams.size()); });
    trace.streams.emplace_back();
    expected.moved_nodes = {{node, node}};
  });
}

TEST_CASE("one removed node is found") {
  CheckPlanted("removed", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const NodeId node = AnyNode(trace, random);
    trace.nodes.Change(node.index(), [](Node& n) { n.destroyed = n.seq; });
    expected.removed_nodes = {node};
  });
}

TEST_CASE("one added node is found") {
  CheckPlanted("added", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const NodeId before = AnyNode(trace, random), added(trace.nodes.size());
    Node node = trace[before];
    node.kind = NodeKind::kHost;
    node.kernel = {};
    node.shape = 0xffffffffu;
    trace.nodes.push_back(node);
    trace.edges.push_back({.from = before, .to = added});
    expected.added_nodes = {added};
  });
}

EdgeId AnyEdge(const Ran& trace, std::mt19937_64& random) {
  for (;;) {
    const EdgeId id(random() % trace.edges.size());
    if (trace[trace[id].from].graph == kStep) return id;
  }
}

TEST_CASE("one lost edge is found") {
  CheckPlanted("lost", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const EdgeId edge = AnyEdge(trace, random);
    trace.edges.Change(edge.index(), [&](Edge& e) { e.removed = trace.records; });
    expected.lost_edges = {edge};
  });
}

TEST_CASE("one gained edge is found") {
  CheckPlanted("gained", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    NodeId from, to;
    bool there = true;
    while (there) {
      from = AnyNode(trace, random);
      to = AnyNode(trace, random);
      there = from >= to || std::ranges::any_of(trace.edges, [&](const Edge& edge) {
                return edge.from == from && edge.to == to;
              });
    }
    expected.gained_edges = {EdgeId(trace.edges.size())};
    trace.edges.push_back({.from = from, .to = to});
  });
}

TEST_CASE("one edge with other data is found") {
  CheckPlanted("data", [](Ran& trace, GraphDiff& expected, std::mt19937_64& random) {
    const EdgeId edge = AnyEdge(trace, random);
    trace.edges.Change(edge.index(), [](Edge& e) {
      e.from_port = kPortLaunchCompletion;
      e.type = EdgeType::kProgrammatic;
    });
    expected.changed_edges = {{edge, edge}};
  });
}

// Among many nodes that are alike the change can't be told by its node, but by what it is.
TEST_CASE("a change among nodes that are alike is still one change") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(150); ++round) {
    const RandomCaptureOptions options{.streams = 3, .nodes = 60, .names = 3, .child = false};
    const Ran before = RandomCapture(random, options);
    Ran changed = before;
    const NodeId node = AnyNode(changed, random);
    changed.nodes.Change(node.index(),
                         [&](Node& n) { n.shape = static_cast<uint32_t>(changed.shapes.size()); });
    changed.shapes.push_back({.grid = {77, 1, 1}});
    CAPTURE(seed);
    CAPTURE(round);
    const TraceDiff diff = Differences(before, Permute(changed, random).trace);
    GraphDiff found = DiffOf(diff, kStep);
    CHECK(found.parameters.size() == 1);
    found.parameters.clear();
    REQUIRE(found.equal());
  }
}

// a and b are alike but for their streams, which x and y show. These are matched late, because what
// follows them changes.
//
//     x ─┬─ a0 ── a1 ── a2 ─┐
//     y ─┴─ b0 ── b1 ── b2 ─┴─ last
TEST_CASE("one of two chains that are alike changes where it is") {
  TraceBuilder t;
  const StreamId origin = t.Stream(), x = t.Stream(), y = t.Stream();
  t.BeginCapture(origin, "step");
  t.Kernel(origin, "first");
  t.Order(origin, x);
  t.Order(origin, y);
  t.Kernel(x, "x");
  t.Kernel(y, "y");
  t.Order(x, y);
  t.Order(y, x);
  const NodeId changes = t.Kernel(x, "k");
  t.Kernel(y, "k");
  for (int i = 0; i < 2; ++i) {
    t.Kernel(x, "k");
    t.Kernel(y, "k");
  }
  t.Order(x, origin);
  t.Order(y, origin);
  t.Kernel(origin, "last");
  t.EndCapture(origin);
  const Ran before = t.Build();
  Ran after = before;
  after.nodes.Change(changes.index(),
                     [&](Node& n) { n.shape = static_cast<uint32_t>(after.shapes.size()); });
  after.shapes.push_back({.grid = {77, 1, 1}});
  const TraceDiff diff = Differences(before, after);
  REQUIRE(diff.graphs.size() == 1);
  GraphDiff found = diff.graphs[0];
  CHECK(found.parameters.size() == 1);
  found.parameters.clear();
  CHECK(found.equal());
}

}  // namespace
}  // namespace graphkit
