#include "libgraphkit/schedule/schedule.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

// Three graphs of one pool, launched in this order.
std::vector<PoolReplays> Replays(std::initializer_list<size_t> launches) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.SetPool(t.Pool(PoolKind::kPrivate));
  std::vector<ExecId> execs;
  for (const char* name : {"first", "second", "third"}) {
    const GraphId graph = t.BeginCapture(a, name);
    t.Kernel(a, "write", {Writes(t.Alloc(a, 4096))});
    t.EndCapture(a);
    execs.push_back(t.Instantiate(graph));
  }
  for (const size_t launch : launches) t.Launch(execs[launch], a);
  return FindPoolReplays(t.trace());
}

GraphId Graph(uint32_t id) { return GraphId(id); }

TEST_CASE("replays in capture order, round by round") {
  const std::vector<PoolReplays> pools = Replays({0, 1, 2, 0, 1, 2, 0, 2});
  REQUIRE(pools.size() == 1);
  CHECK(pools[0] == PoolReplays{.pool = PoolId(uint32_t{0}),
                                .captured = {Graph(0), Graph(1), Graph(2)},
                                .launches = 8,
                                .rounds = 3});
}

TEST_CASE("a launch that goes back within its round is out of order") {
  const std::vector<PoolReplays> pools = Replays({0, 1, 2, 0, 2, 1});
  REQUIRE(pools.size() == 1);
  CHECK(pools[0].departure_count == 1);
  CHECK(pools[0].departures ==
        std::vector<ReplayDeparture>{
            {.launch = 5, .graph = Graph(1), .after = Graph(2), .round = 1}});
}

TEST_CASE("the same graph again is out of order, the first one begins a round") {
  CHECK(Replays({1, 1})[0].departure_count == 1);
  CHECK(Replays({0, 0})[0].rounds == 2);
}

}  // namespace
}  // namespace graphkit
