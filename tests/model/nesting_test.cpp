#include "libgraphkit/model/nesting.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "libgraphkit/model/trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// Graphs, each in a node of another one or alone, whatever their numbers; deep for a large `deep`.
Trace RandomForest(uint64_t seed, size_t graphs, uint32_t deep) {
  std::mt19937_64 random(seed);
  Trace trace;
  trace.graphs.resize(graphs);
  std::vector<uint32_t> numbers(graphs);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::ranges::shuffle(numbers, random);
  for (size_t i = 1; i < graphs; ++i) {
    if (random() % 8 == 0) continue;
    const size_t around = random() % deep != 0 ? i - 1 : random() % i;
    const NodeKind kind = random() % 3 == 0 ? NodeKind::kChildGraph : NodeKind::kConditional;
    const auto type = static_cast<ConditionalType>(random() % 4);
    trace.graphs[numbers[i]].parent = NodeId(trace.nodes.size());
    trace.nodes.push_back({.graph = GraphId(numbers[around]), .kind = kind, .conditional = type});
  }
  return trace;
}

// A graph and those that it lies in, the innermost first.
std::vector<GraphId> WayOut(const Trace& trace, GraphId graph) {
  std::vector<GraphId> way = {graph};
  while (trace[way.back()].parent.valid()) way.push_back(trace[trace[way.back()].parent].graph);
  return way;
}

void CheckPair(const Trace& trace, const Nesting& nesting, GraphId a, GraphId b) {
  const std::vector<GraphId> way = WayOut(trace, a), other = WayOut(trace, b);
  CHECK(nesting.Depth(a) == way.size() - 1);
  CHECK(nesting.Root(a) == way.back());
  CHECK(nesting.Holder(a) == trace[a].parent);
  GraphId outermost, common;
  NodeId loop, conditional;
  for (const GraphId graph : way) {
    if (std::ranges::find(other, graph) != other.end()) {
      common = graph;
      break;
    }
    outermost = graph;
    const NodeId holder = trace[graph].parent;
    if (!holder.valid()) break;
    if (MayRepeat(trace[holder])) loop = holder;
    if (trace[holder].kind == NodeKind::kConditional) conditional = holder;
  }
  CHECK(nesting.Holds(b, a) == (common == b));
  CHECK(nesting.Outermost(a, b) == outermost);
  CHECK(nesting.Common(a, b) == common);
  CHECK(nesting.LoopApart(a, b) == loop);
  CHECK(nesting.ConditionalApart(a, b) == conditional);
}

TEST_CASE("what lies in what is as walking from graph to graph finds it") {
  const uint64_t first = RandomSeed();
  for (int round = 0; round < RandomRounds(10); ++round) {
    const uint64_t seed = first + static_cast<uint64_t>(round);
    CAPTURE(seed);
    const Trace trace = RandomForest(seed, 60, round % 2 == 0 ? 2 : 20);
    const Nesting nesting(trace);
    for (uint32_t a = 0; a < trace.graphs.size(); ++a) {
      for (uint32_t b = 0; b < trace.graphs.size(); ++b) {
        CheckPair(trace, nesting, GraphId(a), GraphId(b));
      }
    }
  }
}

TEST_CASE("without graphs in graphs each one is its own root") {
  Trace trace;
  trace.graphs.resize(2);
  const Nesting nesting(trace);
  CHECK(nesting.Root(GraphId(1u)) == GraphId(1u));
  CHECK(nesting.Holds(GraphId(1u), GraphId(1u)));
  CHECK(!nesting.Holds(GraphId(0u), GraphId(1u)));
  CHECK(!nesting.InConditional(GraphId(1u)));
}

}  // namespace
}  // namespace graphkit
