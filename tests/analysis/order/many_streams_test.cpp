// Captures with many streams, most of them short: the index against a search, and how much of it is
// made and looked at.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/random.h"
#include "tests/analysis/order/slow_order.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

// Streams are forked off others, run a few kernels and are joined, some of them by many at once;
// kernels are launched programmatically and wait for what they depend on, don't, or may.
class ShortStreams {
 public:
  explicit ShortStreams(uint64_t seed) : random_(seed) {
    for (const Ternary waits : {Ternary::kYes, Ternary::kNo, Ternary::kUnknown}) {
      kernels_.push_back(t_.Function("kernel", waits));
    }
  }

  Ran Make() {
    const uint64_t streams = 20 + random_.Below(40);
    for (uint64_t i = 0; i < streams; ++i) streams_.push_back(t_.Stream());
    t_.BeginCapture(streams_[0]);
    Kernel(streams_[0]);
    for (size_t next = 1; next < streams_.size();) {
      const uint64_t what = random_.Below(8);
      if (what < 4) {
        t_.Order(Begun(next), streams_[next]);
        ++next;
      }
      if (what == 4) t_.Order(Begun(next), Begun(next));
      if (what == 5) JoinMany(Begun(next), next);
      Kernel(Begun(next));
      if (what < 2) t_.Order(streams_[next - 1], streams_[0]);
    }
    JoinMany(streams_[0], streams_.size());
    Kernel(streams_[0]);
    t_.EndCapture(streams_[0]);
    return t_.Build();
  }

 private:
  StreamId Begun(size_t count) {
    const uint64_t latest = std::min<uint64_t>(count, 4);
    const bool late = random_.Below(2) == 0;
    return streams_[late ? count - 1 - random_.Below(latest) : random_.Below(count)];
  }
  void Kernel(StreamId stream) {
    const KernelId kernel = kernels_[random_.Below(kernels_.size())];
    if (random_.Below(4) == 0) {
      t_.ProgrammaticKernel(stream, kernel, {});
    } else {
      t_.Kernel(stream, kernel, {});
    }
  }
  void JoinMany(StreamId into, size_t begun) {
    for (size_t i = 0; i < begun; ++i) {
      if (random_.Below(3) != 0) t_.Order(streams_[i], into);
    }
    Kernel(into);
  }

  Random random_;
  TraceBuilder t_;
  std::vector<KernelId> kernels_;
  std::vector<StreamId> streams_;
};

// Nodes and edges of the trace, for each of which some work may be done.
size_t SizeOf(const Ran& trace) { return trace.nodes.size() + trace.edges.size(); }

TEST_CASE("the index agrees with a search where many short streams come and go") {
  size_t fewer_chains = 0;
  for (uint64_t seed = 1; seed <= 1'500; ++seed) {
    const Ran trace = ShortStreams(seed).Make();
    const EdgeRule rule = seed % 8 == 0 ? EdgeRule::kAllFull : EdgeRule::kCompletion;
    const Order order = BuildOrder(trace, rule);
    const SlowOrder slow(trace, rule);
    size_t wrong = 0;
    for (size_t a = 0; a < trace.nodes.size(); ++a) {
      for (size_t b = 0; b < trace.nodes.size(); ++b) {
        wrong += order.Before(NodeId(a), NodeId(b)) != slow.Before(NodeId(a), NodeId(b));
        wrong += order.EndsBefore(NodeId(a), NodeId(b)) != slow.EndsBefore(NodeId(a), NodeId(b));
      }
    }
    if (order.chains() < trace.streams.size()) ++fewer_chains;
    CAPTURE(seed);
    REQUIRE(wrong == 0);
  }
  CHECK(fewer_chains > 100);
}

TEST_CASE("a point after many streams agrees with a search") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const Ran trace = ShortStreams(seed).Make();
    Order order = BuildOrder(trace);
    const SlowOrder slow(trace);
    std::vector<FrontierEntry> frontier;
    for (size_t i = seed % 3; i < trace.nodes.size(); i += 3) frontier.push_back({NodeId(i)});
    const OrderPoint point = order.PointAfter(GraphId(uint32_t{0}), frontier);
    size_t wrong = 0;
    for (size_t a = 0; a < trace.nodes.size(); ++a) {
      wrong += order.Before(NodeId(a), point) != slow.Before(NodeId(a), frontier);
    }
    CAPTURE(seed);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("of many nodes, those that end before another one are found as pair by pair") {
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Ran trace =  // every other one of several graphs, some in others
        seed % 2 == 0 ? RandomTrace(seed, {.max_steps = 60}) : ShortStreams(seed).Make();
    if (trace.nodes.empty()) continue;
    const Order order = BuildOrder(trace);
    Random random(seed);
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < 8 + seed % 40; ++i) {
      nodes.push_back(NodeId(random.Below(trace.nodes.size())));
    }
    std::vector<bool> expected;
    for (size_t i = 0; i < nodes.size(); ++i) {
      bool ends = false;
      for (size_t j = 0; j < nodes.size(); ++j) {
        ends = ends || (nodes[i] == nodes[j] ? j < i : order.EndsBefore(nodes[i], nodes[j]));
      }
      expected.push_back(ends);
    }
    CAPTURE(seed);
    std::vector<bool> ends;
    order.EndBeforeOthers(nodes, &ends);
    REQUIRE(ends == expected);
  }
}

// Rows of a few thousand streams are trees of three or four levels of 16 entries: what a node or an
// edge may cost.
constexpr size_t kEntries = 4 * 16;

TEST_CASE("rows grow with nodes and edges, not with streams times joins") {
  for (const SynthShape shape :
       {SynthShape::kForkJoin, SynthShape::kOneByOne, SynthShape::kRelay}) {
    for (const uint64_t rounds : {1u, 4u}) {
      constexpr uint32_t kStreams = 5'000;
      const Ran trace =
          Synthesize({.shape = shape, .ops = 2 * rounds * kStreams, .streams = kStreams});
      const Order order = BuildOrder(trace);
      CAPTURE(static_cast<int>(shape));
      CAPTURE(rounds);
      CHECK(order.row_bytes() / sizeof(uint32_t) <= kEntries * SizeOf(trace));
      CHECK(order.row_looks() <= SizeOf(trace));
    }
  }
}

TEST_CASE("streams that never run beside each other share chains") {
  for (const SynthShape shape : {SynthShape::kOneByOne, SynthShape::kRelay}) {
    const Ran trace = Synthesize({.shape = shape, .ops = 2'000, .streams = 1'001});
    CHECK(trace.nodes.size() >= 2'000);
    CHECK(BuildOrder(trace).chains() <= 4);
  }
}

TEST_CASE("branches of a graph made by calls are indexed in proportion to their nodes") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId root = t.Add(graph, NodeKind::kKernel);
  std::vector<NodeId> ends;
  for (int i = 0; i < 5'000; ++i) {
    ends.push_back(t.Add(graph, NodeKind::kKernel, {t.Add(graph, NodeKind::kKernel, {root})}));
  }
  const NodeId last = t.Add(graph, NodeKind::kKernel);
  for (const NodeId end : ends) t.Connect(end, last);
  const Ran trace = t.Build();
  const Order order = BuildOrder(trace);
  CHECK(order.Before(ends[17], last));
  CHECK_FALSE(order.Before(ends[17], ends[18]));
  CHECK(order.row_bytes() / sizeof(uint32_t) <= kEntries * SizeOf(trace));
  CHECK(order.row_looks() <= SizeOf(trace));
  CHECK(RedundantEdges(trace, order, FindInEdges(trace)).empty());
}

TEST_CASE("a stream that waits for many others, twice, stands once after each of them") {
  TraceBuilder t;
  const StreamId main = t.Stream();
  t.BeginCapture(main);
  t.Kernel(main);
  std::vector<StreamId> others;
  std::vector<FrontierEntry> expected = {{.node = t.last_node()}};
  for (int i = 0; i < 100; ++i) {
    t.Order(main, others.emplace_back(t.Stream()));
    expected.push_back({.node = t.Kernel(others.back())});
  }
  for (int round = 0; round < 2; ++round) {
    for (const StreamId other : others) t.Order(other, main);
  }
  const Seq joined = t.trace().records;
  const NodeId join = t.Kernel(main);
  t.Order(others[0], main);
  const Seq again = t.trace().records;
  t.EndCapture(main);
  const Ran trace = t.Build();
  FrontierReplay replay(trace, WholeTrace(trace));
  replay.AdvanceTo(joined);
  CHECK(replay.Of(main).entries == expected);
  CHECK(std::ranges::count(trace.edges, join, &Edge::to) == 101);
  replay.AdvanceTo(again);
  CHECK(replay.Of(main).entries == std::vector<FrontierEntry>{{.node = join}, expected[1]});
}

}  // namespace
}  // namespace graphkit
