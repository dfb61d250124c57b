#include "libgraphkit/analysis/order/order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "libgraphkit/analysis/order/build_order.h"
#include "tests/analysis/order/slow_order.h"
#include "tests/analysis/pieces.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// The first pair of nodes on which the index and the search disagree.
struct Disagreement {
  NodeId a;
  NodeId b;
  bool index = false;
  bool operator==(const Disagreement&) const = default;
};
const Disagreement kNone;

std::ostream& operator<<(std::ostream& out, const Disagreement& d) {
  return out << "node " << d.a.value << " before node " << d.b.value << ": index says " << d.index;
}

Disagreement Compare(const Ran& trace, EdgeRule rule) {
  const Order order = BuildOrder(trace, rule);
  const SlowOrder slow(trace, rule);
  for (size_t a = 0; a < trace.nodes.size(); ++a) {
    for (size_t b = 0; b < trace.nodes.size(); ++b) {
      const bool index = order.Before(NodeId(a), NodeId(b));
      if (index != slow.Before(NodeId(a), NodeId(b)) ||
          order.EndsBefore(NodeId(a), NodeId(b)) != slow.EndsBefore(NodeId(a), NodeId(b))) {
        return {NodeId(a), NodeId(b), index};
      }
    }
  }
  return kNone;
}

TEST_CASE("a fork and its join order what crosses them") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  const NodeId a0 = t.Kernel(a);
  t.Order(a, b);
  const NodeId b0 = t.Kernel(b);
  const NodeId a1 = t.Kernel(a);
  t.Order(b, a);
  const NodeId a2 = t.Kernel(a);
  t.EndCapture(a);
  const Order order = BuildOrder(t.Build());
  CHECK(order.Before(a0, b0));
  CHECK_FALSE(order.Before(b0, a0));
  CHECK_FALSE(order.Before(b0, a1));
  CHECK_FALSE(order.Before(a1, b0));
  CHECK(order.Before(b0, a2));
  CHECK_FALSE(order.Before(a0, a0));
  CHECK(order.chains() == 2);
}

// A ─programmatic→ B ─full→ C, with B waiting for its grid dependencies, not waiting, or unknown.
struct ThreeNodes {
  NodeId a, b, c;
  Order order;
};

ThreeNodes MakeProgrammaticChain(Ternary waits, EdgeRule rule) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const KernelId plain = t.Function("plain");
  const KernelId dependent = t.Function("dependent", waits);
  t.BeginCapture(stream);
  const NodeId a = t.Kernel(stream, plain, {});
  const NodeId b = t.ProgrammaticKernel(stream, dependent, {});
  const NodeId c = t.Kernel(stream, plain, {});
  t.EndCapture(stream);
  return {a, b, c, BuildOrder(t.Build(), rule)};
}

TEST_CASE("a programmatic edge proves completion only through a consumer that waits") {
  for (const Ternary waits : {Ternary::kUnknown, Ternary::kNo, Ternary::kYes}) {
    CAPTURE(static_cast<int>(waits));
    const auto [a, b, c, order] = MakeProgrammaticChain(waits, EdgeRule::kCompletion);
    CHECK_FALSE(order.Before(a, b));
    CHECK(order.Before(b, c));
    CHECK(order.Before(a, c) == (waits == Ternary::kYes));
    CHECK(order.EndsBefore(a, b) == (waits == Ternary::kYes));
  }
}

TEST_CASE("a consumer in which some way waits has ended after its producer") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  const NodeId a = t.Kernel(stream);
  const NodeId b =
      t.ProgrammaticKernel(stream, t.Function("combine", Ternary::kUnknown, Triggers::kNo), {});
  const NodeId c = t.Kernel(stream);
  t.EndCapture(stream);
  const Order order = BuildOrder(t.Build());
  CHECK_FALSE(order.Before(a, b));
  CHECK(order.Before(a, c));
}

TEST_CASE("taken as PyTorch takes it, a programmatic edge is a full one") {
  const auto [a, b, c, order] = MakeProgrammaticChain(Ternary::kNo, EdgeRule::kAllFull);
  CHECK(order.Before(a, b));
  CHECK(order.Before(a, c));
}

// Kernels a and b on one stream, then c, which isn't after b.
ThreeNodes MakeChainPast(void (*before_c)(TraceBuilder&, StreamId, NodeId), bool programmatic) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  const NodeId a = t.Kernel(stream);
  const NodeId b = t.Kernel(stream);
  if (before_c != nullptr) before_c(t, stream, a);
  const NodeId c = programmatic ? t.ProgrammaticKernel(stream) : t.Kernel(stream);
  t.EndCapture(stream);
  return {a, b, c, BuildOrder(t.Build())};
}

TEST_CASE("a programmatic launch starts after what its producer started after") {
  const auto [a, b, c, order] = MakeChainPast(nullptr, true);
  CHECK(order.Before(a, c));
  CHECK_FALSE(order.Before(b, c));
}

TEST_CASE("a stream that was set back does not follow its own last node") {
  const auto set_back = [](TraceBuilder& t, StreamId stream, NodeId a) {
    t.SetFrontier(stream, {{.node = a}});
  };
  const auto [a, b, c, order] = MakeChainPast(set_back, false);
  CHECK(order.Before(a, c));
  CHECK_FALSE(order.Before(b, c));
  CHECK(order.chains() == 2);
}

TEST_CASE("an embedded graph is ordered inside by its edges and outside as its node") {
  TraceBuilder t;
  const GraphId original = t.Graph();
  const NodeId x = t.Add(original, NodeKind::kKernel);
  t.Add(original, NodeKind::kKernel, {x});
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  const NodeId before = t.Kernel(stream);
  const NodeId holder = t.ChildGraph(stream, original);
  const NodeId inner_x(holder.index() + 1);
  const NodeId inner_y(holder.index() + 2);
  const NodeId after = t.Kernel(stream);
  t.EndCapture(stream);
  const Order order = BuildOrder(t.Build());
  CHECK(order.Before(inner_x, inner_y));
  CHECK(order.Before(before, inner_x));
  CHECK(order.Before(inner_y, after));
  CHECK_FALSE(order.Before(inner_x, holder));
  CHECK_FALSE(order.Before(holder, inner_x));
  CHECK_FALSE(order.Before(x, inner_y));
}

TEST_CASE("a frontier of several nodes is a point after all of them") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  const GraphId graph = t.BeginCapture(a);
  const NodeId a0 = t.Kernel(a);
  t.Order(a, b);
  const NodeId b0 = t.Kernel(b);
  const NodeId a1 = t.Kernel(a);
  t.EndCapture(a);
  Order order = BuildOrder(t.Build());
  const FrontierEntry both[] = {{.node = a0}, {.node = b0}};
  const OrderPoint point = order.PointAfter(graph, both);
  CHECK(order.Before(a0, point));
  CHECK(order.Before(b0, point));
  CHECK_FALSE(order.Before(a1, point));
  CHECK_FALSE(order.Before(a0, order.PointAfter(graph, {})));
}

TEST_CASE("edges of a cycle prove nothing, and nothing hangs") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const NodeId a = t.Add(graph, NodeKind::kKernel);
  const NodeId b = t.Add(graph, NodeKind::kKernel, {a});
  t.Connect(b, a);
  const Order order = BuildOrder(t.Build());
  CHECK_FALSE(order.Before(a, b));
  CHECK_FALSE(order.Before(b, a));
}

// 300 streams: rows of three levels, of which neighbours share most.
TEST_CASE("many chains share what their rows have in common") {
  TraceBuilder t;
  const StreamId main = t.Stream();
  t.BeginCapture(main);
  t.Kernel(main);
  std::vector<StreamId> sides;
  for (int i = 0; i < 300; ++i) {
    const StreamId side = sides.emplace_back(t.Stream());
    t.Order(main, side);
    t.Kernel(side);
    if (i % 3 == 0) t.Order(side, main);
    t.Kernel(main);
  }
  t.EndCapture(main);
  const Ran trace = t.Build();
  CHECK(Compare(trace, EdgeRule::kCompletion) == kNone);
  const Order order = BuildOrder(trace);
  CHECK(order.row_bytes() < trace.nodes.size() * 301 * sizeof(uint32_t) / 4);
}

TEST_CASE("the index agrees with a search on random graphs of every kind") {
  constexpr uint64_t kGraphs = 100'000;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Ran trace = RandomTrace(seed);
    const EdgeRule rule = seed % 8 == 0 ? EdgeRule::kAllFull : EdgeRule::kCompletion;
    const Disagreement found = Compare(trace, rule);
    if (found == kNone) continue;
    CAPTURE(seed);
    REQUIRE(found == kNone);
  }
}

TEST_CASE("points agree with a search on random graphs of every kind") {
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    const Ran trace = RandomTrace(seed);
    if (trace.nodes.empty()) continue;
    Order order = BuildOrder(trace);
    const SlowOrder slow(trace);
    const GraphId graph = trace.nodes[seed % trace.nodes.size()].graph;
    std::vector<FrontierEntry> frontier;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      const auto port = static_cast<uint8_t>(i % 2);
      if (trace.nodes[i].graph == graph && (seed + i) % 3 == 0) {
        frontier.push_back({NodeId(i), port, port});
      }
    }
    const OrderPoint point = order.PointAfter(graph, frontier);
    for (size_t a = 0; a < trace.nodes.size(); ++a) {
      if (trace.nodes[a].graph != graph) continue;
      CAPTURE(seed);
      REQUIRE(order.Before(NodeId(a), point) == slow.Before(NodeId(a), frontier));
    }
  }
}

}  // namespace
}  // namespace graphkit
