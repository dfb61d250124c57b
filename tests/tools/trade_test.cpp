#include "tools/graphkit/plan/find_trades.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "tests/build_trace.h"
#include "tests/generate/synth.h"

namespace graphkit {
namespace {

constexpr Bytes kMebibyte = Bytes{1} << 20;

Trade FindTrade(const Ran& trace, GraphId graph, const TradeOptions& options = {}) {
  return FindTrades(Facts(trace), {{graph}}, MarkerRule::kLastUse, options).at(0);
}

TEST_CASE("a wait that lets one block take over another's memory is found, with its cost") {
  //     a:  alloc x ── k0 ── free x
  //     b:     └── (fork)  alloc y ── k1 ── k2 ── free y
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  const GraphId graph = t.BeginCapture(a);
  const EventId fork = t.Event();
  t.Record(fork, a);
  t.Wait(b, fork);
  const BlockId x = t.Alloc(a, 4 * kMebibyte);
  const NodeId k0 = t.Kernel(a, "k0", {Writes(x)});
  t.Free(x);
  const BlockId y = t.Alloc(b, 4 * kMebibyte);
  const NodeId k1 = t.Kernel(b, "k1", {Writes(y)});
  t.Kernel(b, "k2", {Reads(y)});
  t.Free(y);
  const EventId join = t.Event();
  t.Record(join, b);
  t.Wait(a, join);
  t.EndCapture(a);
  const Ran trace = t.Build();
  const Trade trade = FindTrade(trace, graph);
  const Trade expected{
      .graph = graph,
      .changes = {{TradeChange::Kind::kWait, x, y, b, {k0}, k1}},
      .rows = {{0, 8 * kMebibyte, 8 * kMebibyte, 2, 0}, {1, 4 * kMebibyte, 4 * kMebibyte, 3, 0}}};
  CHECK(trade == expected);
}

TEST_CASE("a block that the program frees after the capture is freed in it") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  const GraphId graph = t.BeginCapture(s);
  const BlockId x = t.Alloc(s, kMebibyte);
  const NodeId k0 = t.Kernel(s, "k0", {Writes(x)});
  const BlockId y = t.Alloc(s, kMebibyte);
  t.Kernel(s, "k1", {Writes(y)});
  t.Free(y);
  t.EndCapture(s);
  t.Free(x);
  const Ran trace = t.Build();
  const Trade trade = FindTrade(trace, graph);
  const Trade expected{
      .graph = graph,
      .changes = {{TradeChange::Kind::kFree, x, {}, {}, {k0}, {}}},
      .rows = {{0, 2 * kMebibyte, 2 * kMebibyte, 2, 0}, {1, kMebibyte, kMebibyte, 2, 0}}};
  CHECK(trade == expected);
}

TEST_CASE("each row is smaller than the one before, and no path gets shorter") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const Ran trace = Synthesize({.ops = 200,
                                  .streams = 3,
                                  .alloc = 0.4,
                                  .free = 0.4,
                                  .sizes = *ParseSizeDistribution("log:64KiB-16MiB"),
                                  .seed = seed});
    const Trade trade = FindTrade(trace, GraphId(size_t{0}), {.steps = 4, .candidates = 8});
    REQUIRE(!trade.rows.empty());
    for (size_t i = 1; i < trade.rows.size(); ++i) {
      REQUIRE(trade.rows[i].peak < trade.rows[i - 1].peak);
      REQUIRE(trade.rows[i].critical_path_nodes >= trade.rows[i - 1].critical_path_nodes);
      REQUIRE(trade.rows[i].lower_bound <= trade.rows[i].peak);
    }
  }
}

TEST_CASE("changes of many graphs at once are those of each graph alone") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const Ran trace = Synthesize({.ops = 300,
                                  .streams = 3,
                                  .alloc = 0.4,
                                  .free = 0.4,
                                  .sizes = *ParseSizeDistribution("log:64KiB-16MiB"),
                                  .graphs = 4,
                                  .seed = seed});
    const TradeOptions options{.steps = 3, .candidates = 6};
    const std::vector<GraphId> graphs{GraphId(size_t{3}), GraphId(size_t{0}), GraphId(size_t{2})};
    std::atomic<size_t> steps = 0;
    const std::vector<Trade> together =
        FindTrades(Facts(trace), graphs, MarkerRule::kLastUse, options, &steps);
    REQUIRE(together.size() == graphs.size());
    REQUIRE(steps <= options.steps);  // of all, however many graphs there are
    for (size_t i = 0; i < graphs.size(); ++i) {
      REQUIRE(together[i] == FindTrade(trace, graphs[i], options));
    }
  }
}

}  // namespace
}  // namespace graphkit
