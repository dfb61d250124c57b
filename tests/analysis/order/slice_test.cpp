#include "libgraphkit/analysis/order/slice.h"

#include <doctest/doctest.h>

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/frontier.h"
#include "tests/analysis/random_trace.h"

namespace graphkit {
namespace {

TEST_CASE("each node and block is in one slice, under the number that it has there") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomTrace(seed, {.nested = seed % 2 == 0, .memory = true});
    const Facts facts(trace);
    const Slices slices(trace, facts.roots(), facts.blocks());
    for (size_t node = 0; node < trace.nodes.size(); ++node) {
      for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
        const Rows& nodes = slices.Of(GraphId(graph)).nodes;
        const size_t number = nodes.NumberOf(node);
        const bool in = facts.roots()[trace.nodes[node].graph.index()] == GraphId(graph);
        REQUIRE((number < nodes.size()) == in);
        if (in) REQUIRE(nodes[number] == node);
        const size_t first = nodes.FirstFrom(node);
        REQUIRE((first == nodes.size() || nodes[first] >= node));
        REQUIRE((first == 0 || nodes[first - 1] < node));
      }
    }
    for (size_t block = 0; block < trace.blocks.size(); ++block) {
      const GraphId root = facts.lives().blocks[block].root;
      if (!root.valid()) continue;
      const Rows& blocks = slices.Of(root).blocks;
      REQUIRE(blocks[blocks.NumberOf(block)] == block);
    }
  }
}

// The whole trace's replay says where streams stand; a slice's says it of those in its graph.
TEST_CASE("a graph's streams stand in its slice where they stand in the trace") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        RandomTrace(seed, {.rewinds = seed % 3 == 0, .nested = seed % 2 == 0, .memory = true});
    const Facts facts(trace);
    const Slices slices(trace, facts.roots(), facts.blocks());
    FrontierReplay whole(trace, WholeTrace(trace));
    std::vector<FrontierReplay> sliced;
    for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
      sliced.emplace_back(trace, slices.Of(GraphId(graph)));
    }
    for (const Node& node : trace.nodes) {
      whole.AdvanceTo(node.seq);
      for (size_t graph = 0; graph < sliced.size(); ++graph) {
        sliced[graph].AdvanceTo(node.seq);
        for (size_t stream = 0; stream < trace.streams.size(); ++stream) {
          const StreamFrontier& is = whole.Of(StreamId(stream));
          const bool in = is.capturing() && facts.roots()[is.graph.index()] == GraphId(graph);
          const StreamFrontier& found = sliced[graph].Of(StreamId(stream));
          REQUIRE(found.graph == (in ? is.graph : GraphId()));
          if (in) REQUIRE(found.entries == is.entries);
        }
      }
    }
  }
}

}  // namespace
}  // namespace graphkit
