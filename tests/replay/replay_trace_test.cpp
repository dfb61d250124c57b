#include "libgraphkit/replay/replay_trace.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "tests/analysis/order/slow_order.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

Ran Golden(const std::string& name) {
  Result<Ran> trace = ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/" + name);
  REQUIRE_MESSAGE(trace.has_value(), Describe(trace.error()));
  return std::move(*trace);
}

PolicyFigures Replay(const Ran& trace, PolicyKind policy) {
  PolicyFigures figures = ReplayTrace(Facts(trace), policy, {.verify = true}).figures;
  figures.seconds = 0;
  return figures;
}

// The figures are worked out by hand in testdata/workloads/record_stream.cu. In segments: h_0 has
// one of its own (12 MiB); its scratch begins one of 20 MiB, in which h_1 and the later scratch
// follow. reuse puts h_2 where h_0 was, and so on; pytorch still holds h_0 then, and needs another
// one of 12 MiB.
TEST_CASE(
    "record_stream: defer holds everything, pytorch three layers, reuse what has to be there") {
  const Ran trace = Golden("record_stream.json");
  const PolicyFigures defer = Replay(trace, PolicyKind::kDefer);
  CHECK(defer.peak_extent == 76 * kMiB);
  CHECK(defer.peak_reserved == 80 * kMiB);
  CHECK(defer.peak_active == 76 * kMiB);
  CHECK(defer.never_reclaimed == 72 * kMiB);
  const PolicyFigures pytorch = Replay(trace, PolicyKind::kPyTorch);
  CHECK(pytorch.peak_extent == 40 * kMiB);
  CHECK(pytorch.peak_active == 40 * kMiB);
  CHECK(pytorch.peak_reserved == (12 + 20 + 12) * kMiB);
  const PolicyFigures reuse = Replay(trace, PolicyKind::kReuse);
  CHECK(reuse == PolicyFigures{.peak_reserved = (12 + 20) * kMiB,
                               .peak_allocated = 28 * kMiB,
                               .peak_active = 28 * kMiB,
                               .peak_extent = 28 * kMiB,
                               .never_reclaimed = 0,
                               .missed = 0,
                               .lower_bound = 28 * kMiB,
                               .operations = 24,
                               .deferred_byte_operations = 0,
                               .pending_looks = 0,
                               .reclaimed = 0,
                               .reclaim_operations = 0,
                               .seconds = 0});
  CHECK(defer.peak_allocated == 28 * kMiB);
  for (const PolicyInfo& policy : Policies()) {
    CAPTURE(policy.name);
    CHECK(ReplayTrace(Facts(trace), policy.kind, {.verify = true}).verified);
  }
}

// A capture with a block x of stream a that stream b reads.
struct Capture {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  StreamId b = t.Stream("b");
  BlockId input = t.Alloc(a, 512);  // from outside the graph
  GraphId graph = t.BeginCapture(a);
  BlockId x;

  Capture() {
    x = t.Alloc(a, 4 * kMiB);
    t.Kernel(a, "fill", {Writes(x)});
    t.Order(a, b);
    t.Kernel(b, "read", {Reads(x)});
    t.RecordStream(x, b);
  }
  // Allocates as much again, uses it on its stream, and ends the capture.
  PolicyFigures Finish(PolicyKind policy, StreamId stream) {
    const BlockId y = t.Alloc(stream, 4 * kMiB);
    t.Kernel(stream, "use", {Writes(y)});
    if (stream != a) t.Order(stream, a);
    t.Order(b, a);
    t.EndCapture(a);
    return Replay(t.Build(), policy);
  }
};

constexpr Bytes kOne = 4 * kMiB;
constexpr Bytes kTwo = 8 * kMiB;

TEST_CASE("a join before the free lets pytorch take a block back, and defer not") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Free(c.x);
    return c.Finish(policy, c.a).peak_extent;
  };
  CHECK(run(PolicyKind::kDefer) == kTwo);
  CHECK(run(PolicyKind::kPyTorch) == kOne);
  CHECK(run(PolicyKind::kReuse) == kOne);
}

// f: each malloc scans all that is deferred.
TEST_CASE("pytorch looks at every deferred block at every malloc") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId b = t.Stream("b");
  t.BeginCapture(a);
  for (int i = 0; i < 10; ++i) {
    const BlockId x = t.Alloc(a, 512);
    t.Kernel(a, "fill", {Writes(x)});
    t.Order(a, b);
    t.Kernel(b, "read", {Reads(x)});
    t.RecordStream(x, b);
    t.Free(x);
  }
  t.Order(b, a);
  t.EndCapture(a);
  const Ran trace = t.Build();
  // 0 + 1 + … + 9 deferred blocks.
  CHECK(Replay(trace, PolicyKind::kPyTorch).pending_looks == 45);
}

// The join is an event that was recorded before the free: the marker node comes after it. Behind
// another join the stream ends with both markers, of which neither is before the other.
TEST_CASE("after a join before the free pytorch-v1 waits for another one, and a node behind it") {
  const auto run = [](PolicyKind policy, bool again, bool node = false) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Free(c.x);
    if (again) c.t.Order(c.b, c.a);
    if (node) c.t.Kernel(c.a, "behind", {});
    return c.Finish(policy, c.a).peak_extent;
  };
  CHECK(run(PolicyKind::kPyTorchV1, false) == kTwo);
  CHECK(run(PolicyKind::kPyTorchV1, true) == kTwo);
  CHECK(run(PolicyKind::kPyTorchV1, false, true) == kTwo);
  CHECK(run(PolicyKind::kPyTorchV1, true, true) == kOne);
  CHECK(run(PolicyKind::kPyTorch, false) == kOne);
}

TEST_CASE("xstream gives a block to another stream that comes after its markers, pytorch doesn't") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Kernel(c.a, "more", {Reads(c.x)});
    c.t.Free(c.x);
    c.t.Order(c.a, c.b);
    return c.Finish(policy, c.b).peak_extent;
  };
  CHECK(run(PolicyKind::kXStream) == kOne);
  CHECK(run(PolicyKind::kPyTorch) == kTwo);
}

TEST_CASE("without a join nobody takes the block back") {
  for (const PolicyInfo& policy : Policies()) {
    CAPTURE(policy.name);
    Capture c;
    c.t.Free(c.x);
    CHECK(c.Finish(policy.kind, c.a).peak_extent == kTwo);
  }
}

// a: markers are where the streams stand at the free.
TEST_CASE("after a late free pytorch waits for what the other stream did since") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Kernel(c.b, "other", {Reads(c.input)});
    c.t.Free(c.x);
    return c.Finish(policy, c.a).peak_extent;
  };
  CHECK(run(PolicyKind::kPyTorch) == kTwo);
  CHECK(run(PolicyKind::kXStream) == kTwo);
  CHECK(run(PolicyKind::kLastUse) == kOne);
  CHECK(run(PolicyKind::kReuse) == kOne);
}

// b: only a malloc of the same stream looks.
TEST_CASE("a stream that never allocates again never gets its blocks back from pytorch") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Order(c.a, c.b);
    c.t.Free(c.x);
    return c.Finish(policy, c.b);
  };
  CHECK(run(PolicyKind::kPyTorch).never_reclaimed == kOne);
  CHECK(run(PolicyKind::kPyTorch).peak_extent == kTwo);
  CHECK(run(PolicyKind::kLastUse).peak_extent == kTwo);
  CHECK(run(PolicyKind::kXStream).peak_extent == kOne);
  CHECK(run(PolicyKind::kReuse).peak_extent == kOne);
  CHECK(run(PolicyKind::kReuse).missed == 0);
  CHECK(run(PolicyKind::kPyTorch).missed == kOne);
}

// c: what a malloc of its stream has taken back stays that stream's, whatever comes after it.
TEST_CASE("pytorch never hands a block to another stream, even in order") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Free(c.x);
    const BlockId taken_back = c.t.Alloc(c.a, kOne);
    c.t.Kernel(c.a, "use", {Writes(taken_back)});
    c.t.Free(taken_back);
    c.t.Order(c.a, c.b);
    return c.Finish(policy, c.b);
  };
  CHECK(run(PolicyKind::kPyTorch).reclaimed == 1);
  CHECK(run(PolicyKind::kPyTorch).peak_extent == kTwo);
  CHECK(run(PolicyKind::kLastUse).peak_extent == kTwo);
  CHECK(run(PolicyKind::kXStream).peak_extent == kOne);
  CHECK(run(PolicyKind::kReuse).peak_extent == kOne);
}

// d: a stream outside of the capture.
TEST_CASE("a block that was recorded on a stream outside of the capture waits for its end") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.RecordStream(c.x, c.t.Stream("eager"));
    c.t.Order(c.b, c.a);
    c.t.Free(c.x);
    return c.Finish(policy, c.a);
  };
  CHECK(run(PolicyKind::kPyTorch).peak_extent == kTwo);
  CHECK(run(PolicyKind::kPyTorch).never_reclaimed == kOne);
  CHECK(run(PolicyKind::kXStream).peak_extent == kTwo);
}

// e: what waits joins nobody.
TEST_CASE("pending blocks don't coalesce with free neighbours") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    const BlockId y = c.t.Alloc(c.a, 4 * kMiB);
    c.t.Kernel(c.a, "use", {Writes(y)});
    c.t.Free(y);
    c.t.Order(c.b, c.a);
    c.t.Free(c.x);
    const BlockId z = c.t.Alloc(c.a, 8 * kMiB);
    c.t.Kernel(c.a, "use", {Writes(z)});
    c.t.EndCapture(c.a);
    return Replay(c.t.Build(), policy).peak_extent;
  };
  CHECK(run(PolicyKind::kDefer) == 12 * kMiB);
  CHECK(run(PolicyKind::kPyTorch) == 8 * kMiB);
}

// g: a stream that was set back has "visited" what its next work doesn't follow.
TEST_CASE("after a rewind pytorch hands on what nothing proves, and verification says so") {
  Capture c;
  c.t.Order(c.b, c.a);
  const NodeId first = NodeId(0u);
  const BlockId w = c.t.Alloc(c.a, kMiB);
  c.t.Kernel(c.a, "joined", {Writes(w)});
  c.t.Free(c.x);
  c.t.Free(w);
  const BlockId again = c.t.Alloc(c.a, kMiB);
  c.t.SetFrontier(c.a, {{.node = first}});
  const BlockId y = c.t.Alloc(c.a, kOne);
  c.t.Kernel(c.a, "use", {Writes(y)});
  c.t.Order(c.b, c.a);
  c.t.EndCapture(c.a);
  const Ran trace = c.t.Build();
  const PolicyReplay pytorch = ReplayTrace(Facts(trace), PolicyKind::kPyTorch, {.verify = true});
  CHECK_FALSE(pytorch.verified);
  REQUIRE(!pytorch.graphs[0].unsafe.empty());
  CHECK(again.valid());
  CHECK(ReplayTrace(Facts(trace), PolicyKind::kReuse, {.verify = true}).verified);
}

// h: pytorch walks over a programmatic edge as if the node before it had ended.
TEST_CASE("over a programmatic edge pytorch takes back what may still be in use") {
  const auto run = [](PolicyKind policy) {
    Capture c;
    c.t.Order(c.b, c.a);
    c.t.Kernel(c.a, "joined", {Reads(c.input)});
    c.t.Free(c.x);
    c.t.ProgrammaticKernel(c.a, "early", {Reads(c.input)});
    const BlockId y = c.t.Alloc(c.a, kOne);
    c.t.Kernel(c.a, "use", {Writes(y)});
    c.t.Order(c.b, c.a);
    c.t.EndCapture(c.a);
    const Ran trace = c.t.Build();
    return ReplayTrace(Facts(trace), policy, {.verify = true, .config = {}});
  };
  CHECK(run(PolicyKind::kPyTorch).figures.peak_extent == kOne);
  CHECK_FALSE(run(PolicyKind::kPyTorch).verified);
  CHECK(run(PolicyKind::kXStream).figures.peak_extent == kTwo);
  CHECK(run(PolicyKind::kXStream).verified);
}

// The published allocator, driven directly: a block that was used on other streams never comes
// back.
Bytes ReservedByModel(const Ran& trace, const Facts& facts) {
  BumpDriver driver;
  CachingAllocator allocator({}, &driver);
  const auto streams = OtherStreams(trace);
  std::map<Seq, std::pair<bool, uint32_t>> events;
  for (const BlockId block : facts.blocks()[0]) {
    events[trace[block].allocated] = {false, block.value};
    if (facts.lives()[block].freed) events[trace[block].free_requested] = {true, block.value};
  }
  std::map<uint32_t, BlockHandle> handles;
  for (const auto& [seq, event] : events) {
    const Block& block = trace.blocks[event.second];
    if (!event.first) {
      handles[event.second] = *allocator.Malloc({block.size, block.stream.value});
    } else {
      allocator.RequestFree(handles[event.second]);
      if (streams[event.second].empty()) allocator.CompleteFree(handles[event.second]);
    }
  }
  return allocator.statistics().peak_reserved;
}

TEST_CASE("the segment rules are the caching allocator's, on synthetic captures") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const SizeDistribution sizes{SizeDistribution::Kind::kLog, 512, 64 * kMiB};
    const Ran trace = Synthesize({.ops = 400,
                                  .streams = 1 + static_cast<uint32_t>(seed % 4),
                                  .join = 0.3,
                                  .alloc = 0.4,
                                  .free = 0.3,
                                  .sizes = sizes,
                                  .seed = seed});
    CAPTURE(seed);
    const Facts facts(trace);
    CHECK(ReplayTrace(facts, PolicyKind::kDefer).figures.peak_reserved ==
          ReservedByModel(trace, facts));
  }
}

TEST_CASE("on random traces the order policies are verified, and reuse misses nothing") {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 60, .nested = seed % 3 == 0, .memory = true});
    const Facts facts(trace);
    CAPTURE(seed);
    for (const PolicyKind policy :
         {PolicyKind::kXStream, PolicyKind::kLastUse, PolicyKind::kReuse, PolicyKind::kOptimal}) {
      const PolicyReplay replay = ReplayTrace(facts, policy, {.verify = true});
      CAPTURE(InfoOf(policy).name);
      REQUIRE(replay.verified);
      REQUIRE(replay.figures.peak_extent >= replay.figures.lower_bound);
      if (policy == PolicyKind::kReuse) REQUIRE(replay.figures.missed == 0);
    }
  }
}

// Of two blocks in the same bytes, whether the recorded uses of one end before those of the other.
bool UsesApart(const Facts& facts, const SlowOrder& slow, BlockId x, BlockId y) {
  const auto before = [&](BlockId a, BlockId b) {
    for (const NodeId first : facts.lives().Touches(a)) {
      for (const NodeId second : facts.lives().Touches(b)) {
        const bool same = facts.trace[first].graph == facts.trace[second].graph;
        if (same && !slow.Before(first, second)) return false;
      }
    }
    return true;
  };
  return before(x, y) || before(y, x);
}

void CheckUsesApart(const Facts& facts, const SlowOrder& slow,
                    const std::vector<PlacedBlock>& arena) {
  for (const PlacedBlock& a : arena) {
    for (const PlacedBlock& b : arena) {
      const bool share = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
      const bool nodes =
          facts.trace[a.block].free_node.valid() && facts.trace[b.block].free_node.valid();
      if (a.block >= b.block || !share || !nodes) continue;
      CAPTURE(a.block.value);
      CAPTURE(b.block.value);
      REQUIRE(UsesApart(facts, slow, a.block, b.block));
    }
  }
}

TEST_CASE("graph memory that a plan or xstream shares is ordered by its recorded uses") {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        RandomTrace(seed, {.max_steps = 60, .nested = false, .memory = true, .memory_nodes = 0.6});
    const Facts facts(trace);
    const SlowOrder slow(trace);
    const PlannedMemory plan = PlanTrace(facts, MarkerRule::kAtFree);
    for (const PolicyReplay& replay :
         {ReplayTrace(facts, PolicyKind::kXStream), ReplayPlan(facts, plan)}) {
      for (const GraphReplay& graph : replay.graphs) {
        for (const ReplayedPool& pool : graph.pools) CheckUsesApart(facts, slow, pool.arena);
      }
    }
  }
}

// Work, not time: the same for one graph as for thousands.
TEST_CASE(
    "a replay goes through each operation of a trace about once, however many graphs it has") {
  for (const uint32_t graphs : {1u, 4096u}) {
    const Ran trace =
        Synthesize({.shape = SynthShape::kTraining, .ops = 40'000, .streams = 4, .graphs = graphs});
    REQUIRE(trace.graphs.size() == graphs);
    const Facts facts(trace);
    const size_t operations =
        trace.nodes.size() + trace.stream_ops.size() + 2 * trace.captures.size();
    for (const PolicyKind policy :
         {PolicyKind::kPyTorch, PolicyKind::kXStream, PolicyKind::kReuse}) {
      CAPTURE(InfoOf(policy).name);
      size_t steps = 0;
      for (const GraphReplay& graph : ReplayTrace(facts, policy).graphs) steps += graph.steps;
      CHECK(steps <= operations);
      CHECK(steps >= operations / 2);
    }
    const Slices slices(trace, facts.roots(), facts.blocks());
    size_t rows = 0;  // how long tables get, all graphs together
    for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
      const GraphSlice& slice = slices.Of(GraphId(graph));
      rows += slice.nodes.size() + slice.blocks.size() + slice.stream_ops.size() +
              slice.streams.size() + slice.events.size();
    }
    CHECK(rows <= 2 * (operations + trace.blocks.size() + trace.events.size() + 4 * graphs));
  }
}

}  // namespace
}  // namespace graphkit
