#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/analysis/checks/run.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Address kWakesAt = 0x7e0000000000, kFilledAt = 0x7e0000800000;
constexpr Bytes kSlept = Bytes{2} << 20;

// A graph of one node that is launched once; then it sleeps.
struct Asleep {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Map(kWakesAt, kSlept);
  const BlockId to = t.Alloc({}, kSlept);
  GraphId graph = t.BeginCapture(a, "step");
  ExecId exec;

  void Sleep() {
    t.EndCapture(a);
    exec = t.Instantiate(graph);
    t.Launch(exec, a);
    t.Free(x);
  }
  Finding Launch() {
    t.Launch(exec, a);
    return RunForOne("read-after-wake", &t);
  }
};

struct CopyAsleep : Asleep {
  const NodeId read = t.Memcpy(a, {Reads(x, 0, kSlept), Writes(to, 0, kSlept)});
  CopyAsleep() { Sleep(); }
};

TEST_CASE("read-after-wake: new memory, read before it is written") {
  CopyAsleep s;
  s.t.SetStack(s.t.Stack({{"Wake", "sleep.cu", 9}}));
  const BlockId now = s.t.Map(kWakesAt, kSlept);
  const Finding finding = s.Launch();
  CHECK(finding.message ==
        "graph 0 'step' was launched after new memory was mapped in place of block 0 (2 MiB): "
        "nothing had written what it reads there");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.blocks == std::vector{s.x});
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[0].text ==
        "block 2 (2 MiB) was mapped in place of block 0 (2 MiB), after the capture of graph 0 "
        "'step'");
  CHECK(finding.evidence[0].blocks == std::vector{now, s.x});
  CHECK(finding.evidence[1].text ==
        "launch 1 of graph 0 'step' on stream 0 'a' runs node 0 (memcpy), which reads it");
}

TEST_CASE("read-after-wake: half of it is written") {
  CopyAsleep s;
  s.t.Work(s.a, NodeKind::kMemcpy, {Writes(s.t.Map(kWakesAt, kSlept), 0, kSlept / 2)});
  CHECK(s.Launch().severity == Severity::kError);
}

TEST_CASE("read-after-wake: content that is there") {
  CopyAsleep s;
  SUBCASE("the same memory") { s.t.Map(kWakesAt, kSlept, s.x); }
  SUBCASE("a copy") {
    s.t.Work(s.a, NodeKind::kMemcpy, {Writes(s.t.Map(kWakesAt, kSlept), 0, kSlept)});
  }
  SUBCASE("copies of both halves") {
    const BlockId now = s.t.Map(kWakesAt, kSlept);
    s.t.Work(s.a, NodeKind::kMemcpy, {Writes(now, 0, kSlept / 2)});
    s.t.Work(s.a, NodeKind::kMemset, {Writes(now, kSlept / 2, kSlept / 2)});
  }
  SUBCASE("a kernel that may write") {
    s.t.Work(s.a, "load", {Touches(s.t.Map(kWakesAt, kSlept))});
  }
  SUBCASE("memory that was filled at another address") {
    const BlockId other = s.t.Map(kFilledAt, kSlept);
    s.t.Free(other);
    s.t.Map(kWakesAt, kSlept, other);
  }
  SUBCASE("memory that is mapped at another address too") {
    s.t.Map(kFilledAt, kSlept, s.t.Map(kWakesAt, kSlept));
  }
  SUBCASE("memory of other processes as well") { s.t.Share(s.t.Map(kWakesAt, kSlept)); }
  SUBCASE("nothing, and nothing mapped") {}
  SUBCASE("of unknown work") {
    s.t.Map(kWakesAt, kSlept);
    s.t.Work(s.a, "unknown");
    Ran trace = s.t.Build();
    CHECK(Run("read-after-wake", std::move(trace)).empty());
    return;
  }
  CHECK(s.Launch() == Finding());
}

TEST_CASE("read-after-wake: a graph that writes it first") {
  Asleep s;
  SUBCASE("all of it") { s.t.Memset(s.a, {Writes(s.x, 0, kSlept)}); }
  SUBCASE("by a kernel, maybe") { s.t.Kernel(s.a, "fill", {Touches(s.x)}); }
  s.t.Memcpy(s.a, {Reads(s.x, 0, kSlept), Writes(s.to, 0, kSlept)});
  s.Sleep();
  s.t.Map(kWakesAt, kSlept);
  CHECK(s.Launch() == Finding());
}

TEST_CASE("read-after-wake: a graph that writes it afterwards") {
  Asleep s;
  s.t.Memcpy(s.a, {Reads(s.x, 0, kSlept), Writes(s.to, 0, kSlept)});
  s.t.Memset(s.a, {Writes(s.x, 0, kSlept)});
  s.Sleep();
  s.t.Map(kWakesAt, kSlept);
  CHECK(s.Launch().severity == Severity::kError);
}

TEST_CASE("read-after-wake: what a kernel does with a pointer") {
  Asleep s;
  Severity expected = Severity::kWarning;
  SUBCASE("to const") { s.t.Kernel(s.a, "read", {Reads(s.x), Touches(s.to)}); }
  SUBCASE("to non-const: it may write first") {
    s.t.Kernel(s.a, "step", {Touches(s.x)});
    expected = Finding().severity;
  }
  s.Sleep();
  s.t.Map(kWakesAt, kSlept);
  CHECK(s.Launch().severity == expected);
}

TEST_CASE("read-after-wake: another graph writes it before the launch") {
  CopyAsleep s;
  const BlockId now = s.t.Map(kWakesAt, kSlept);
  const GraphId other = s.t.BeginCapture(s.a);
  s.t.Memset(s.a, {Writes(now, 0, kSlept)});
  s.t.EndCapture(s.a);
  const ExecId writes = s.t.Instantiate(other);
  bool before = false;
  SUBCASE("before") { before = true; }
  SUBCASE("after") {}
  if (before) s.t.Launch(writes, s.a);
  s.t.Launch(s.exec, s.a);
  if (!before) s.t.Launch(writes, s.a);
  CHECK(Run("read-after-wake", &s.t).size() == (before ? 0 : 1));
}

// Random sleeps, beside a simulation of each KiB: what is mapped, and whether it was written since
// its memory was made.
struct SleepModel {
  static constexpr size_t kRanges = 3, kParts = 4, kGraphs = 3;
  static constexpr Bytes kPart = 1024, kRange = kParts * kPart;
  static constexpr Address kFirst = 0x7e0000000000;

  struct Memory {
    BlockId first;  // mapping of it
    bool written[kParts] = {};
    bool shared = false;
  };
  struct Part {
    size_t range;
    size_t part;
    bool writes;
  };

  explicit SleepModel(uint64_t seed) : random(seed) {
    for (size_t range = 0; range < kRanges; ++range) MapNew(range);
    for (size_t graph = 0; graph < kGraphs; ++graph) AddGraph();
  }
  size_t Pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random); }

  void MapNew(size_t range) {
    now[range] = memories.size();
    block[range] = t.Map(kFirst + range * kRange, kRange);
    memories.push_back({.first = block[range]});
  }
  void Unmap(size_t range) {
    t.Free(block[range]);
    before[range] = now[range];
    now[range] = kNothing;
  }

  // Copies parts, one after the other.
  void AddGraph() {
    const GraphId graph = t.BeginCapture(a);
    auto& nodes = graphs.emplace_back();
    for (size_t i = 1 + Pick(4); i > 0; --i) {
      const Part part{Pick(kRanges), Pick(kParts), Pick(3) == 0};
      const Access access = part.writes ? Writes(block[part.range], part.part * kPart, kPart)
                                        : Reads(block[part.range], part.part * kPart, kPart);
      t.Memcpy(a, {access});
      nodes.push_back(part);
    }
    t.EndCapture(a);
    execs.push_back(t.Instantiate(graph));
  }

  void Launch(size_t graph) {
    t.Launch(execs[graph], a);
    for (const Part& part : graphs[graph]) {
      if (now[part.range] == kNothing) {
        unmapped.insert(graph);
        continue;
      }
      Memory& memory = memories[now[part.range]];
      if (!part.writes && !memory.written[part.part] && !memory.shared &&
          now[part.range] >= kRanges) {
        lost.insert(graph);
      }
      if (part.writes) memory.written[part.part] = true;
    }
  }

  void Step() {
    const size_t range = Pick(kRanges), part = Pick(kParts);
    switch (Pick(5)) {
      case 0:
        if (now[range] != kNothing) return Unmap(range);
        return Pick(2) == 0 ? MapNew(range) : MapAgain(range);
      case 1:
      case 2:
        if (now[range] == kNothing) return;
        t.Work(a, NodeKind::kMemset, {Writes(block[range], part * kPart, kPart)});
        memories[now[range]].written[part] = true;
        return;
      default:
        return Launch(Pick(kGraphs));
    }
  }
  void MapAgain(size_t range) {
    now[range] = before[range];
    Memory& memory = memories[now[range]];
    block[range] = t.Map(kFirst + range * kRange, kRange, memory.first);
    aliased.insert(now[range]);
  }

  static constexpr size_t kNothing = ~size_t{0};
  std::mt19937_64 random;
  TraceBuilder t;
  const StreamId a = t.Stream();
  std::vector<Memory> memories;
  size_t now[kRanges], before[kRanges];
  BlockId block[kRanges];
  std::vector<std::vector<Part>> graphs;
  std::vector<ExecId> execs;
  std::set<size_t> unmapped, lost, aliased;
};

std::set<size_t> GraphsOf(const std::vector<Finding>& findings) {
  std::set<size_t> graphs;
  for (const Finding& finding : findings) graphs.insert(finding.graph.index());
  return graphs;
}

TEST_CASE("random sleeps: found is what a simulation finds") {
  const uint64_t seed = RandomSeed();
  size_t lost = 0, unmapped = 0;
  for (int round = 0; round < RandomRounds(2000); ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    SleepModel model(seed + static_cast<uint64_t>(round));
    for (size_t i = 5 + model.Pick(30); i > 0; --i) model.Step();
    const Ran trace = model.t.Build();
    REQUIRE(GraphsOf(Run("still-unmapped", trace)) == model.unmapped);
    // Memory that is mapped several times isn't judged.
    const std::set<size_t> found = GraphsOf(Run("read-after-wake", trace));
    REQUIRE(std::ranges::includes(model.lost, found));
    if (model.aliased.empty()) REQUIRE(found == model.lost);
    lost += model.lost.size(), unmapped += model.unmapped.size();
  }
  CHECK(lost > 100);
  CHECK(unmapped > 100);
}

}  // namespace
}  // namespace graphkit
