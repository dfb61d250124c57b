#include "libgraphkit/analysis/order/frontier.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/analysis/order/slow_frontier.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

using Entries = std::vector<FrontierEntry>;

TEST_CASE("a stream stands after its last node, and after what it waited for") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  const GraphId graph = t.BeginCapture(a);
  const Seq begun = t.trace().records;
  const NodeId a0 = t.Kernel(a);
  t.Order(a, b);
  const Seq forked = t.trace().records;
  const NodeId b0 = t.Kernel(b);
  const NodeId a1 = t.Kernel(a);
  t.Order(b, a);
  const Seq joined = t.trace().records;
  t.SetFrontier(a, {{.node = a0}});
  const Seq rewound = t.trace().records;
  t.EndCapture(a);
  const Ran trace = t.Build();

  FrontierReplay replay(trace, WholeTrace(trace));
  replay.AdvanceTo(begun);
  CHECK(replay.Of(a).graph == graph);
  CHECK(replay.Of(a).entries == Entries{});
  CHECK_FALSE(replay.Of(b).capturing());
  replay.AdvanceTo(forked);
  CHECK(replay.Of(b).graph == graph);
  CHECK(replay.Of(b).entries == Entries{{.node = a0}});
  replay.AdvanceTo(joined);
  CHECK(replay.Of(a).entries == Entries{{.node = a1}, {.node = b0}});
  CHECK(replay.Of(b).entries == Entries{{.node = b0}});
  replay.AdvanceTo(rewound);
  CHECK(replay.Of(a).entries == Entries{{.node = a0}});
  replay.AdvanceTo(kNever);
  CHECK_FALSE(replay.Of(a).capturing());
  CHECK_FALSE(replay.Of(b).capturing());
}

TEST_CASE("an event of a launch is left through its port") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  t.BeginCapture(a);
  const EventId event = t.Event();
  const NodeId a0 = t.KernelWithEvent(a, event, kPortLaunchCompletion);
  t.Wait(b, event);
  const Seq waited = t.trace().records;
  const Ran trace = t.Build();
  FrontierReplay replay(trace, WholeTrace(trace));
  replay.AdvanceTo(waited);
  CHECK(replay.Of(b).entries == Entries{{a0, kPortLaunchCompletion, 1}});
}

// In a capture the edges into a node are its stream's frontier at that place.
TEST_CASE("on random captures the frontier before a node is where its edges come from") {
  for (uint64_t seed = 1; seed <= 5'000; ++seed) {
    const Ran trace = RandomTrace(seed, {.nested = false});
    FrontierReplay replay(trace, WholeTrace(trace));
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      replay.AdvanceTo(trace.nodes[i].seq);
      std::vector<NodeId> frontier;
      for (const FrontierEntry& entry : replay.Of(trace.nodes[i].stream).entries) {
        frontier.push_back(entry.node);
      }
      std::vector<NodeId> sources;
      for (const Edge& edge : trace.edges) {
        if (edge.to == NodeId(i)) sources.push_back(edge.from);
      }
      std::sort(frontier.begin(), frontier.end());
      std::sort(sources.begin(), sources.end());
      CAPTURE(seed);
      REQUIRE(frontier == sources);
    }
  }
}

TEST_CASE("on random traces every stream stands, at every record, where the slow search says") {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    const Ran trace = RandomTrace(seed, {.memory = true});
    FrontierReplay replay(trace, WholeTrace(trace));
    SlowFrontiers slow(trace);
    CAPTURE(seed);
    for (Seq seq = 0; seq <= trace.records; ++seq) {
      replay.AdvanceTo(seq);
      for (size_t i = 0; i < trace.streams.size(); ++i) {
        const StreamFrontier& fast = replay.Of(StreamId(i));
        CAPTURE(seq);
        CAPTURE(i);
        REQUIRE(fast.graph == slow.Of(StreamId(i), seq).graph);
        REQUIRE(fast.entries == slow.Of(StreamId(i), seq).entries);
      }
    }
  }
}

}  // namespace
}  // namespace graphkit
