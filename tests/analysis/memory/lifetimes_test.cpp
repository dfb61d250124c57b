#include "libgraphkit/analysis/memory/lifetimes.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/order/build_order.h"
#include "tests/analysis/memory/slow_lifetimes.h"
#include "tests/analysis/pieces.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

std::vector<NodeId> List(std::span<const NodeId> nodes) { return {nodes.begin(), nodes.end()}; }

// A trace, and what is known of its blocks.
struct Known {
  Ran trace;
  graphkit::Order order = BuildOrder(trace);
  Lifetimes lives = FindLifetimes(trace, &order);

  explicit Known(Ran built) : trace(std::move(built)) {}
  BlockOrder Blocks(MarkerRule rule) const { return {trace, order, lives, rule}; }
};

//     a:  malloc x ── write x ─ record ──────────────── join ── free x, malloc y ── write y
//     b:                           └── read x ── other ──┘
TEST_CASE("a block that crossed streams dies at its last use, or later at its free") {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 1024);
  const NodeId write = t.Kernel(a, "write", {Writes(x)});
  t.Order(a, b);
  const NodeId read = t.Kernel(b, "read", {Reads(x)});
  t.RecordStream(x, b);
  t.Order(b, a);
  const BlockId early = AllocWritten(t, a, 512);
  const NodeId other = t.Memset(b);
  const NodeId last = t.last_node();
  const NodeId joined(last.index() - 1);
  t.Free(x);
  t.Order(b, a);
  const BlockId late = AllocWritten(t, a, 512);
  t.EndCapture(a);
  const Known known(t.Build());

  CHECK(known.lives[x].freed);
  CHECK_FALSE(known.lives[x].escaped);
  CHECK(List(known.lives.Markers(x, MarkerRule::kLastUse)) == std::vector{read});
  CHECK(List(known.lives.Markers(x, MarkerRule::kAtFree)) == std::vector{joined, other});
  CHECK(known.lives.Touches(x).size() == 2);
  CHECK(known.lives.Touches(x).front() == write);

  const BlockOrder at_free = known.Blocks(MarkerRule::kAtFree);
  const BlockOrder last_use = known.Blocks(MarkerRule::kLastUse);
  CHECK_FALSE(at_free.Before(x, early));
  CHECK(last_use.Before(x, early));
  CHECK(at_free.Before(x, late));
  CHECK(at_free.Assumes(x) == Assumption::kTorchStreams);
  CHECK(last_use.Assumes(x) == Assumption::kArguments);
}

TEST_CASE("a block that outlives its capture is before nothing") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId dead = AllocUsed(t, a, 512, "write");
  const BlockId output = AllocWritten(t, a, 512);
  const BlockId later = AllocWritten(t, a, 512);
  t.EndCapture(a);
  t.Free(output);
  const Known known(t.Build());
  const BlockOrder blocks = known.Blocks(MarkerRule::kLastUse);
  CHECK(blocks.Before(dead, output));
  CHECK(blocks.Conflict(output, later));
  CHECK_FALSE(known.lives[output].freed);
}

TEST_CASE("a kernel whose arguments nobody could read keeps live blocks until their free") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId x = AllocWritten(t, a, 512);
  const NodeId opaque = t.Kernel(a, "opaque");
  t.Free(x);
  t.EndCapture(a);
  const Known known(t.Build());
  CHECK(known.lives[x].escaped);
  CHECK(List(known.lives.Markers(x, MarkerRule::kLastUse)) == std::vector{opaque});
}

TEST_CASE("blocks of different bodies of a conditional don't conflict, blocks of one do") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId inside = t.Stream();
  t.BeginCapture(a);
  const NodeId branch = t.Conditional(a, ConditionalType::kIf);
  std::vector<BlockId> blocks;
  for (int i = 0; i < 2; ++i) {
    const GraphId body = t.Body(branch);
    t.BeginCaptureToGraph(inside, body);
    for (int j = 0; j < 2; ++j) blocks.push_back(t.Alloc(inside, 512));
    t.Kernel(inside, "use", {Writes(blocks[blocks.size() - 2]), Writes(blocks.back())});
    for (int j = 0; j < 2; ++j) t.Free(blocks[blocks.size() - 1 - static_cast<size_t>(j)]);
    t.EndCapture(inside);
  }
  t.EndCapture(a);
  const Known known(t.Build());
  const BlockOrder before = known.Blocks(MarkerRule::kLastUse);
  CHECK(before.Conflict(blocks[0], blocks[1]));
  CHECK(before.Before(blocks[0], blocks[2]));
  CHECK_FALSE(before.Before(blocks[2], blocks[0]));
}

TEST_CASE("bodies of a conditional of unknown type may run both") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId inside = t.Stream();
  t.BeginCapture(a);
  const NodeId branch = t.Conditional(a, ConditionalType::kUnknown);
  std::vector<BlockId> blocks;
  for (int i = 0; i < 2; ++i) {
    t.BeginCaptureToGraph(inside, t.Body(branch));
    blocks.push_back(t.Alloc(inside, 512));
    t.Kernel(inside, "use", {Writes(blocks.back())});
    t.Free(blocks.back());
    t.EndCapture(inside);
  }
  t.EndCapture(a);
  const Known known(t.Build());
  const BlockOrder before = known.Blocks(MarkerRule::kLastUse);
  CHECK(before.Conflict(blocks[0], blocks[1]));
}

TEST_CASE("what a loop touches, or what may be one, it touches until it has ended") {
  for (const ConditionalType type : {ConditionalType::kWhile, ConditionalType::kUnknown}) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    t.BeginCapture(a);
    const BlockId carried = t.Alloc(a, 512);
    const NodeId loop = t.Conditional(a, type);
    const GraphId body = t.Body(loop);
    t.Add(body, NodeKind::kMemset, {}, {Writes(carried)});
    t.Free(carried);
    t.EndCapture(a);
    const Known known(t.Build());
    CHECK(List(known.lives.Markers(carried, MarkerRule::kLastUse)) == std::vector{loop});
  }
}

TEST_CASE("a programmatic launch after an allocation may touch it before the stream is there") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId x = AllocUsed(t, a, 512, "use x");
  const BlockId y = t.Alloc(a, 512);
  t.ProgrammaticKernel(a, "use y", {Writes(y)});
  t.EndCapture(a);
  const Known known(t.Build());
  CHECK(known.Blocks(MarkerRule::kLastUse).Conflict(x, y));
  CHECK(known.Blocks(MarkerRule::kAtFree).Conflict(x, y));
}

// An error in the order of three blocks; "": none. z: a block that y is before.
std::string Problem(const BlockOrder& blocks, const SlowBlockOrder& slow, BlockId x, BlockId y) {
  const bool before = blocks.Before(x, y);
  if (before != slow.Before(x, y)) return "not as a search says";
  if (!before) return "";
  if (blocks.Before(y, x)) return "before each other";
  for (size_t z = 0; z < blocks.trace().blocks.size(); ++z) {
    if (blocks.Before(y, BlockId(z)) && !blocks.Before(x, BlockId(z))) return "not transitive";
  }
  return "";
}

//     alloc x ── use x ┄programmatic┄▸ next ── free x ── alloc y
TEST_CASE("a free node doesn't end what runs behind a programmatic edge") {
  for (const Ternary waits : {Ternary::kUnknown, Ternary::kNo, Ternary::kYes}) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    t.BeginCapture(a);
    const BlockId x = t.AllocNode(a, 512);
    const NodeId use = t.Kernel(a, "use", {Writes(x)});
    t.ProgrammaticKernel(a, t.Function("next", waits), {});
    t.FreeNode(a, x);
    const NodeId free = t.last_node();
    const BlockId y = t.AllocNode(a, 512);
    t.Kernel(a, "use", {Writes(y)});
    t.FreeNode(a, y);
    t.EndCapture(a);
    const Known known(t.Build());
    const BlockOrder at_free = known.Blocks(MarkerRule::kAtFree);
    const bool ended = waits == Ternary::kYes;
    CHECK(at_free.Before(x, y) == ended);
    CHECK(List(known.lives.Markers(x, MarkerRule::kAtFree)) ==
          (ended ? std::vector{free} : std::vector{use, free}));
  }
}

//     alloc x ── opaque ┄programmatic┄▸ next ── join ── free x        no use of x is recorded
//                  other stream ────────────────┘
TEST_CASE("what may touch a block behind a programmatic edge outlives its free node") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  t.BeginCapture(a);
  const BlockId x = t.AllocNode(a, 512);
  t.Order(a, b);
  const NodeId use = t.Kernel(a, "use");
  t.ProgrammaticKernel(a, t.Function("next", Ternary::kNo), {});
  t.Order(a, b);
  t.FreeNode(b, x);
  const NodeId free = t.last_node();
  t.Order(b, a);
  const Known known(t.Build());
  CHECK(List(known.lives.Markers(x, MarkerRule::kAtFree)) == std::vector{use, free});
}

//     alloc x ── use x ─┬─ opaque ── free x        the opaque kernel may use x
//                       └─ alloc y ── use y ── free y
TEST_CASE(
    "a kernel that can't be read keeps blocks until their frees, captured or built by calls") {
  for (const bool captured : {true, false}) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    const StreamId b = t.Stream();
    t.BeginCapture(a);
    const BlockId x = t.AllocNode(a, 512);
    t.Kernel(a, "use", {Writes(x)});
    t.Order(a, b);
    t.Kernel(a, "opaque");
    const BlockId y = t.AllocNode(b, 512);
    t.Kernel(b, "use", {Writes(y)});
    t.FreeNode(a, x);
    t.FreeNode(b, y);
    t.Order(b, a);
    t.EndCapture(a);
    Ran trace = t.Build();
    if (!captured) trace.captures.clear();
    const Known known(std::move(trace));
    CAPTURE(captured);
    CHECK(known.lives[x].escaped);
    CHECK_FALSE(known.Blocks(MarkerRule::kLastUse).Before(x, y));
  }
}

// True if each recorded use of x in its graph ends before y is allocated, and before each use of y.
bool UsesInOrder(const Ran& trace, const Lifetimes& lives, const SlowOrder& slow, BlockId x,
                 BlockId y) {
  std::vector<NodeId> later;
  if (trace[y].alloc_node.valid()) later.push_back(trace[y].alloc_node);
  for (const NodeId touch : lives.Touches(y)) later.push_back(touch);
  for (const NodeId touch : lives.Touches(x)) {
    for (const NodeId node : later) {
      const bool same = trace[touch].graph == trace[node].graph;
      if (same && !slow.Before(touch, node)) return false;
    }
  }
  return true;
}

TEST_CASE("on random traces a free node is before nothing that a use of its block isn't before") {
  size_t pairs = 0;
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    const Ran trace =
        RandomTrace(seed, {.max_steps = 40, .nested = false, .memory = true, .memory_nodes = 0.7});
    graphkit::Order order = BuildOrder(trace);
    const Lifetimes lives = FindLifetimes(trace, &order);
    const SlowOrder slow(trace);
    const BlockOrder blocks(trace, order, lives, MarkerRule::kAtFree);
    for (size_t x = 0; x < trace.blocks.size(); ++x) {
      if (!trace.blocks[x].free_node.valid()) continue;
      for (size_t y = 0; y < trace.blocks.size(); ++y) {
        if (!blocks.Before(BlockId(x), BlockId(y))) continue;
        CAPTURE(seed);
        CAPTURE(x);
        CAPTURE(y);
        REQUIRE(UsesInOrder(trace, lives, slow, BlockId(x), BlockId(y)));
        ++pairs;
      }
    }
  }
  CHECK(pairs > 1000);
}

TEST_CASE("on random traces blocks are ordered as a search orders them, strictly") {
  for (uint64_t seed = 1; seed <= 100'000; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 16,
                                         .nested = seed % 2 == 0,
                                         .memory = true,
                                         .memory_nodes = seed % 3 == 0 ? 0.6 : 0.15});
    graphkit::Order order = BuildOrder(trace);
    const Lifetimes lives = FindLifetimes(trace, &order);
    const SlowOrder slow_order(trace);
    for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
      const BlockOrder blocks(trace, order, lives, rule);
      const SlowBlockOrder slow(trace, slow_order, rule);
      for (size_t x = 0; x < trace.blocks.size(); ++x) {
        for (size_t y = 0; y < trace.blocks.size(); ++y) {
          const std::string problem = Problem(blocks, slow, BlockId(x), BlockId(y));
          if (problem.empty()) continue;
          CAPTURE(seed);
          CAPTURE(static_cast<int>(rule));
          CAPTURE(x);
          CAPTURE(y);
          REQUIRE(problem == "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace graphkit
