#include "libgraphkit/alloc/plan/plan_trace.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/random.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/build_trace.h"
#include "tests/random.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// Graphs that read one another's outputs, each with some scratch.
struct Made {
  Ran trace;
  std::vector<GraphId> graphs;
};

Made RandomGraphs(uint64_t seed) {
  Random random(seed);
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  Made made;
  std::vector<BlockId> outputs;
  const uint64_t count = 2 + random.Below(4);
  for (uint64_t g = 0; g < count; ++g) {
    made.graphs.push_back(t.BeginCapture(s));
    std::vector<BlockId> own;
    for (uint64_t i = 0; i < 2 + random.Below(5); ++i) {
      const BlockId block = t.Alloc(s, 512 * (1 + random.Below(64)));
      if (!outputs.empty() && random.Below(2) == 0) {
        t.Kernel(s, "take", {Writes(block), Reads(outputs[random.Below(outputs.size())])});
      } else {
        t.Kernel(s, "make", {Writes(block)});
      }
      own.push_back(block);
    }
    for (const BlockId block : own) {
      if (random.Below(3) == 0) {
        outputs.push_back(block);
      } else {
        t.Kernel(s, "last", {Reads(block)});
        t.Free(block);
      }
    }
    t.EndCapture(s);
  }
  made.trace = t.Build();
  return made;
}

std::vector<GraphId> RandomSteps(uint64_t seed, const std::vector<GraphId>& graphs) {
  Random random(seed ^ 77);
  std::vector<GraphId> steps = graphs;
  for (uint64_t i = 0; i < random.Below(4); ++i)
    steps.push_back(graphs[random.Below(graphs.size())]);
  for (size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[random.Below(i)]);
  return steps;
}

// Every pair of blocks of different graphs that share bytes, launch by launch: the slow way.
bool SafePairByPair(const Facts& facts, const PlannedMemory& plan) {
  const auto takes = [&](GraphId graph, BlockId block) {
    for (const GraphInput& input : facts.inputs()[graph.index()]) {
      if (input.block == block) return true;
    }
    return false;
  };
  const size_t n = plan.sequence.size();
  for (const Placement& x : plan.placements) {
    const BlockId output(x.block);
    if (facts.lives()[output].freed) continue;
    bool kept = true;
    for (const GraphId step : plan.sequence) kept = kept && !takes(step, output);
    for (const Placement& y : plan.placements) {
      const GraphId root = facts.lives()[BlockId(y.block)].root;
      const bool share =
          x.arena == y.arena && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
      if (!share || root == facts.lives()[output].root) continue;
      for (size_t i = 0; i < n; ++i) {
        if (plan.sequence[i] != facts.lives()[output].root) continue;
        bool written = false;
        for (size_t j = i + 1; j < i + n && plan.sequence[j % n] != plan.sequence[i]; ++j) {
          written = written || plan.sequence[j % n] == root;
          if (written && (kept || takes(plan.sequence[j % n], output))) return false;
        }
      }
    }
  }
  return true;
}

TEST_CASE("graphs of a sequence share memory, and what one leaves for another stays") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Made made = RandomGraphs(seed);
    const Facts facts(made.trace);
    const PlannedMemory plan =
        PlanSequence(facts, RandomSteps(seed, made.graphs), MarkerRule::kLastUse);
    REQUIRE(plan.peak >= plan.lower_bound);
    REQUIRE(SafePairByPair(facts, plan));
    REQUIRE(ValidateSequence(facts, plan).empty());
    REQUIRE(VerifyPlan(facts, plan, MarkerRule::kLastUse).empty());
    REQUIRE(PlanFits(facts, plan).has_value());
    const PolicyReplay replay = ReplayPlan(facts, plan, {.verify = true});
    REQUIRE(replay.verified);
    REQUIRE(replay.figures.peak_extent == plan.peak);
    REQUIRE(plan.peak <= PlanTrace(facts, MarkerRule::kLastUse).peak);
  }
}

TEST_CASE("the validator finds what a look at every pair finds, in plans with a moved block") {
  int unsafe = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Made made = RandomGraphs(seed);
    const Facts facts(made.trace);
    PlannedMemory plan = PlanSequence(facts, RandomSteps(seed, made.graphs), MarkerRule::kLastUse);
    Random random(seed);
    Placement& moved = plan.placements[random.Below(plan.placements.size())];
    moved.offset = 512 * random.Below(64);
    const bool safe = SafePairByPair(facts, plan);
    unsafe += safe ? 0 : 1;
    REQUIRE(ValidateSequence(facts, plan).empty() == safe);
  }
  CHECK(unsafe > 50);
}

TEST_CASE("an output that the next graph takes makes room for the one after") {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  t.SetPool(t.Pool(PoolKind::kPrivate, "pool"));
  const GraphId a = t.BeginCapture(s);
  const BlockId out = t.Alloc(s, 4 * kMiB);
  t.Kernel(s, "make", {Writes(out)});
  t.EndCapture(s);
  const GraphId b = t.BeginCapture(s);
  const BlockId answer = t.Alloc(s, kMiB);
  t.Kernel(s, "take", {Reads(out), Writes(answer)});
  t.EndCapture(s);
  const GraphId c = t.BeginCapture(s);
  const BlockId scratch = t.Alloc(s, 4 * kMiB);
  t.Kernel(s, "other", {Writes(scratch)});
  t.Free(scratch);
  t.EndCapture(s);
  const Ran trace = t.Build();
  const Facts facts(trace);
  CHECK(PlanSequence(facts, {{a, b, c}}, MarkerRule::kLastUse).peak == 5 * kMiB);
  CHECK(PlanSequence(facts, {{a, c, b}}, MarkerRule::kLastUse).peak == 9 * kMiB);
  PlannedMemory wrong = PlanSequence(facts, {{a, b, c}}, MarkerRule::kLastUse);
  wrong.sequence = {a, c, b};
  CHECK(ValidateSequence(facts, wrong) == std::vector<DestroyedOutput>{{out, scratch, b}});
}

TEST_CASE("the inference server's graphs share one pool in the order of their launches") {
  const Result<Ran> trace =
      ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/inference_server.json");
  REQUIRE(trace.has_value());
  const Facts facts(*trace);
  const Result<std::vector<GraphId>> steps = RecordedSequence(facts);
  REQUIRE_MESSAGE(steps.has_value(), Describe(steps.error()));
  const PlannedMemory shared = PlanSequence(facts, *steps, MarkerRule::kLastUse);
  // 32 MiB while the largest runs, and the logits of the other three (7 MiB).
  CHECK(shared.peak == 39 * kMiB);
  CHECK(shared.lower_bound == 39 * kMiB);
  CHECK(PlanTrace(facts, MarkerRule::kLastUse).peak == 60 * kMiB);
}

// Two captures into one private pool, and how they are launched.
Ran OfSharers(const std::vector<int>& launches, bool one_stream, PoolKind kind) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const StreamId other = t.Stream();
  t.SetPool(t.Pool(kind));
  std::vector<ExecId> execs;
  for (int i = 0; i < 2; ++i) {
    const GraphId graph = t.BeginCapture(s);
    const BlockId block = t.Alloc(s, kMiB);
    t.Kernel(s, "work", {Writes(block)});
    t.Free(block);
    t.EndCapture(s);
    execs.push_back(t.Instantiate(graph));
  }
  for (const int exec : launches) {
    t.Launch(execs[size_t(exec)], one_stream || exec == 0 ? s : other);
  }
  return t.Build();
}

std::vector<GraphId> SharersOf(const Ran& trace) { return SequenceOfSharers(Facts(trace)); }

TEST_CASE("graphs captured into one private pool run in the order of their launches or captures") {
  const GraphId a(0u), b(1u);
  const auto kind = PoolKind::kPrivate;
  CHECK(SharersOf(OfSharers({}, true, kind)) == std::vector{a, b});
  CHECK(SharersOf(OfSharers({1, 0, 1, 0}, true, kind)) == std::vector{b, a});
  CHECK(SharersOf(OfSharers({1}, true, kind)) == std::vector{b, a});
  CHECK(SharersOf(OfSharers({0, 1}, false, kind)).empty());  // not ordered
  CHECK(SharersOf(OfSharers({0, 1}, true, PoolKind::kAllocator)).empty());
}

TEST_CASE("graphs that were destroyed before the last capture have no part in the round") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  std::vector<GraphId> graphs;
  for (const bool destroyed : {true, false}) {
    t.SetPool(t.Pool(PoolKind::kPrivate));
    std::vector<ExecId> execs;
    for (int graph = 0; graph < 2; ++graph) {
      graphs.push_back(t.BeginCapture(s));
      const BlockId block = t.Alloc(s, 512);
      t.Kernel(s, "k", {Writes(block)});
      t.Free(block);
      t.EndCapture(s);
      execs.push_back(t.Instantiate(graphs.back()));
    }
    for (const ExecId exec : execs) {
      t.Launch(exec, s);
      if (destroyed) t.Destroy(exec);
    }
  }
  CHECK(SharersOf(t.Build()) == std::vector{graphs[2], graphs[3]});
}

// Random rounds of graphs of one pool, with work outside of them that reads what launches left.
// Executed byte by byte: what each read finds as planned has to be what it finds where each block
// has memory of its own.
class RandomSequence {
 public:
  explicit RandomSequence(uint64_t seed) : random_(seed) {}
  static constexpr Bytes kUnit = 512;

  Ran Build() {
    const StreamId s = t_.Stream();
    t_.SetPool(t_.Pool(PoolKind::kPrivate));
    std::vector<ExecId> execs;
    for (uint64_t i = 2 + random_.Below(3); i > 0; --i) execs.push_back(t_.Instantiate(Capture(s)));
    const uint64_t rounds = 2 + random_.Below(2);
    std::vector<std::vector<BlockId>> reads(execs.size());  // after which launch of a round
    for (auto& after : reads) {
      if (!made_.empty() && random_.Chance(0.6))
        after.push_back(made_[random_.Below(made_.size())]);
    }
    for (uint64_t round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < execs.size(); ++i) {
        t_.Launch(execs[i], s);
        for (const BlockId block : reads[i]) t_.Work(s, "read", {Reads(block)});
      }
    }
    return t_.Build();
  }

 private:
  GraphId Capture(StreamId s) {
    const GraphId graph = t_.BeginCapture(s);
    std::vector<BlockId> own;
    for (uint64_t i = 2 + random_.Below(6); i > 0; --i) {
      if (own.empty() || random_.Chance(0.6)) {
        own.push_back(t_.Alloc(s, kUnit * (1 + random_.Below(4))));
        made_.push_back(own.back());
        t_.Kernel(s, "write", {Writes(own.back())});
      } else if (random_.Chance(0.3) && !outputs_.empty()) {
        t_.Kernel(s, "take", {Reads(outputs_[random_.Below(outputs_.size())])});
      } else {
        t_.Kernel(s, "read", {Reads(own[random_.Below(own.size())])});
        const size_t at = random_.Below(own.size());
        t_.Free(own[at]);
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    t_.EndCapture(s);
    outputs_.insert(outputs_.end(), own.begin(), own.end());
    return graph;
  }

  Random random_;
  TraceBuilder t_;
  std::vector<BlockId> made_, outputs_;
};

// The result of each read, block by block of memory: the last writer of its units. `place`: the
// first unit.
template <typename Place>
std::vector<uint64_t> Finds(const Ran& trace, Place place) {
  std::map<uint64_t, uint64_t> memory;
  std::vector<uint64_t> found;
  uint64_t writes = 0;
  const auto touch = [&](Slice accesses) {
    for (const Access& access : trace.accesses.Of(accesses)) {
      const bool write = access.mode == AccessMode::kWrite;
      writes += write ? 1 : 0;
      for (Bytes at = 0; at < trace[access.block].size; at += RandomSequence::kUnit) {
        uint64_t& unit = memory[place(access.block) + at / RandomSequence::kUnit];
        if (write) unit = writes;
        if (!write) found.push_back(unit);
      }
    }
  };
  size_t work = 0;
  for (const Launch& launch : trace.launches) {
    for (; work < trace.works.size() && trace.works[work].seq < launch.seq; ++work) {
      touch(trace.works[work].accesses);
    }
    for (const Node& node : trace.nodes) {
      if (node.graph == trace[launch.exec].graph) touch(node.accesses);
    }
  }
  for (; work < trace.works.size(); ++work) touch(trace.works[work].accesses);
  return found;
}

TEST_CASE("a sequence keeps what work outside of graphs reads, byte by byte") {
  uint64_t outside = 0, broken = 0;
  for (uint64_t seed = RandomSeed(), end = seed + static_cast<uint64_t>(RandomRounds(600));
       seed < end; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomSequence(seed).Build();
    const Facts facts(trace);
    const Result<std::vector<GraphId>> steps = RecordedSequence(facts);
    REQUIRE(steps);
    const PlannedMemory plan = PlanSequence(facts, *steps, MarkerRule::kLastUse);
    REQUIRE(ValidateSequence(facts, plan).empty());
    REQUIRE(VerifyPlan(facts, plan, MarkerRule::kLastUse).empty());
    const auto apart = [](BlockId block) { return uint64_t{block.value} * 100; };
    const std::vector<uint64_t> expected = Finds(trace, apart);
    const auto with = [&](const PlannedMemory& of) {
      std::map<BlockId, uint64_t> places;
      for (const Placement& placement : of.placements) {
        places[BlockId(placement.block)] =
            placement.arena * 1000 + placement.offset / RandomSequence::kUnit;
      }
      return Finds(trace, [&](BlockId block) { return places.at(block); });
    };
    // A launch finds nothing of the first round there yet that later graphs of it leave.
    const auto same = [&](const std::vector<uint64_t>& found) {
      for (size_t i = 0; i < found.size(); ++i) {
        if (expected[i] != 0 && found[i] != expected[i]) return false;
      }
      return true;
    };
    REQUIRE(same(with(plan)));
    outside += trace.works.size();

    // The plan of the same launches without that work, where it breaks a read: refused.
    Ran silent = trace;
    silent.works.clear();
    const Facts without(silent);
    const PlannedMemory wrong = PlanSequence(without, *steps, MarkerRule::kLastUse);
    if (same(with(wrong))) continue;
    REQUIRE_FALSE(ValidateSequence(facts, wrong).empty());
    ++broken;
  }
  MESSAGE("seeds from " << RandomSeed() << ": " << outside << " reads outside of graphs, " << broken
                        << " plans that ignore them break one");
  CHECK(broken > 50);
}

}  // namespace
}  // namespace graphkit
