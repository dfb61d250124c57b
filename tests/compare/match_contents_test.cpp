#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "libgraphkit/compare/match_graphs.h"
#include "tests/build_trace.h"
#include "tests/compare/random_capture.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr uint32_t kNone = GraphPairs::kNone;

// The content of one captured graph: on `streams` streams, kernels of these names.
GraphContent Content(const std::vector<std::string>& kernels, size_t streams = 1) {
  TraceBuilder t;
  std::vector<StreamId> ids;
  for (size_t i = 0; i < streams; ++i) ids.push_back(t.Stream());
  t.BeginCapture(ids[0], "");
  for (size_t i = 0; i < kernels.size(); ++i) {
    const StreamId stream = ids[i % streams];
    if (i > 0) t.Order(ids[(i - 1) % streams], stream);
    t.Kernel(stream, kernels[i]);
  }
  t.Order(ids[(kernels.size() - 1) % streams], ids[0]);
  t.EndCapture(ids[0]);
  return ContentOf(ViewGraphs(t.Build()).at(0));
}

using Graphs = std::vector<ComparedGraph>;
using Pairs = std::vector<uint32_t>;

TEST_CASE("equal graphs are found in any order, whatever they are called") {
  const GraphContent a = Content({"a", "b"}), b = Content({"a", "c"});
  const Graphs before = {{"", &a}, {"decode", &b}}, after = {{"prefill", &b}, {"", &a}};
  CHECK(MatchContents(before, after).after == Pairs{1, 0});
  CHECK(MatchContents(before, after).before == Pairs{1, 0});
}

TEST_CASE("of equal graphs that of the same name comes first") {
  const GraphContent a = Content({"a"});
  const Graphs before = {{"x", &a}, {"y", &a}}, after = {{"y", &a}, {"x", &a}};
  CHECK(MatchContents(before, after).after == Pairs{1, 0});
}

TEST_CASE("which nodes share a stream is part of the content") {
  CHECK(Content({"a", "b", "c"}, 1) != Content({"a", "b", "c"}, 2));
  CHECK(Content({"a", "b", "c"}, 2) != Content({"a", "b", "c"}, 3));
}

TEST_CASE("among equal graphs the one that changed is left for the one that isn't there any more") {
  const GraphContent a = Content({"a"});
  const Graphs before = {{"", &a, {5}}, {"", &a, {7}}, {"", &a, {5}}, {"", &a, {6}}};
  const Graphs after = {{"", &a, {6}}, {"", &a, {9}}, {"", &a, {5}}, {"", &a, {7}}};
  CHECK(MatchContents(before, after).after == Pairs{2, 3, 1, 0});
}

TEST_CASE("graphs that changed are taken for the most similar of the same name") {
  const GraphContent a = Content({"a", "b", "c", "d"}), b = Content({"e", "f", "g", "h"});
  const GraphContent a2 = Content({"a", "b", "new", "d"}), b2 = Content({"new", "f", "g", "h"});
  CHECK(MatchContents(Graphs{{"", &a}, {"", &b}}, Graphs{{"", &b2}, {"", &a2}}).after ==
        Pairs{1, 0});
  CHECK(MatchContents(Graphs{{"x", &a}, {"y", &b}}, Graphs{{"x", &b2}, {"y", &a2}}).after ==
        Pairs{0, 1});
}

TEST_CASE("what is alike in nothing is matched by name, in order, as are unknown contents") {
  const GraphContent a = Content({"a"}), b = Content({"b"});
  CHECK(MatchContents(Graphs{{"x", &a}, {"y", &a}}, Graphs{{"y", &b}}).after == Pairs{kNone, 0});
  CHECK(MatchContents(Graphs{{"x"}, {"y"}, {"x"}}, Graphs{{"z"}, {"x"}, {"x"}}).after ==
        Pairs{1, kNone, 2});
}

// Programs that capture the same graphs in another order, some of them equal, one of them changed.
TEST_CASE("random graphs in another order: only what was changed differs") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(100); ++round) {
    CAPTURE(round);
    std::vector<GraphContent> contents;
    for (int i = 0; i < 8; ++i) {
      contents.push_back(
          ContentOf(ViewGraphs(RandomCapture(random, {.nodes = 12, .child = false})).at(1)));
    }
    Graphs before;
    for (int i = 0; i < 40; ++i) before.push_back({"", &contents[random() % 8], {random() % 4}});
    Pairs order(before.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::shuffle(order, random);
    Graphs after;
    for (const uint32_t i : order) after.push_back(before[i]);
    const size_t changed = random() % after.size();
    after[changed].figures[0] = *after[changed].figures[0] + 1 + random() % 3;
    const GraphPairs pairs = MatchContents(before, after);
    size_t grown = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      REQUIRE(pairs.after[i] != kNone);
      const ComparedGraph& partner = after[pairs.after[i]];
      CHECK(before[i].content == partner.content);
      grown += partner.figures != before[i].figures;
    }
    CHECK(grown == 1);
  }
}

}  // namespace
}  // namespace graphkit
