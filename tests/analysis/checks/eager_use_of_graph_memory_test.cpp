#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/analysis/launches/launches.h"
#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A graph with a block that its capture frees, in a pool with one segment.
struct FreedBlock : TwoStreams {
  PoolId pool = t.Pool(PoolKind::kPrivate);
  BlockId memory = t.Alloc({}, 1 << 20);  // from the driver, for the pool
  SegmentId segment;
  Address base = t.trace()[memory].address;
  GraphId graph;
  BlockId own;
  NodeId scale;
  ExecId exec;

  FreedBlock() {
    segment = t.Segment(pool, 1 << 20);
    t.SetPool(pool);
    graph = t.BeginCapture(a, "step");
    own = t.AllocAt(a, 4096, base, segment);
    scale = t.Kernel(a, "scale", {Writes(own)});
    t.Kernel(a, "sum", {Reads(own)});
    t.Free(own);
    t.EndCapture(a);
    exec = t.Instantiate(graph);
  }
};

TEST_CASE("eager-use-of-graph-memory names what was allocated where a graph works") {
  FreedBlock s;
  const BlockId backup = s.t.AllocAt(s.a, 4096, s.base, s.segment);
  s.t.Work(s.a, NodeKind::kMemcpy, {Writes(backup)});
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.a, NodeKind::kMemcpy, {Reads(backup)});
  const Finding finding = RunForOne("eager-use-of-graph-memory", &s.t);
  CHECK(finding.message ==
        "block 2 (4 KiB), allocated outside of captures, lies where graph 0 'step' works: node 0 "
        "(scale) writes over it, and a memcpy reads it afterwards");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.blocks == std::vector{backup});
}

TEST_CASE("eager-use-of-graph-memory says nothing of what isn't needed after a launch") {
  FreedBlock s;
  for (int i = 0; i < 3; ++i) {
    const BlockId scratch = s.t.AllocAt(s.a, 4096, s.base, s.segment);
    s.t.Work(s.a, NodeKind::kMemcpy, {Writes(scratch)});
    s.t.Work(s.a, NodeKind::kMemcpy, {Reads(scratch)});
    s.t.Free(scratch);
    s.t.Launch(s.exec, s.a);
  }
  CHECK(Run("eager-use-of-graph-memory", &s.t).empty());
}

TEST_CASE("eager-use-of-graph-memory notes what was there at a launch, though nothing uses it") {
  FreedBlock s;
  const BlockId there = s.t.AllocAt(s.a, 4096, s.base, s.segment);
  s.t.Launch(s.exec, s.a);
  const Finding finding = RunForOne("eager-use-of-graph-memory", &s.t);
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.blocks == std::vector{there});
}

// The segment's memory as such, as the tracer saw it where the allocator had no block.
struct LooseUse : FreedBlock {
  std::vector<Finding> RunWith(Access access) {
    t.Launch(exec, a);
    t.Work(a, "poke", {access});
    Ran trace = t.Build();
    trace.segments[segment.index()].address = base;
    trace.segments[segment.index()].block = memory;
    return Run("eager-use-of-graph-memory", std::move(trace));
  }
};

TEST_CASE("eager-use-of-graph-memory names work on memory that the capture freed") {
  LooseUse s;
  const std::vector<Finding> findings = s.RunWith(Writes(s.memory, 512));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "poke writes block 1 (4 KiB) outside of graphs, which was freed in the capture of graph 0 "
        "'step' and is written by its launches");
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(LooseUse().RunWith(Reads(BlockId(0u), 512))[0].severity == Severity::kNote);
  CHECK(LooseUse().RunWith(Touches(BlockId(0u), 512)).empty());  // it may do neither
  CHECK(LooseUse().RunWith(Writes(BlockId(0u), 8192)).empty());  // no graph was ever there
}

// As graph trees of PyTorch do: the capture frees an input's copy, and each launch's input is
// copied to its place.
TEST_CASE("eager-use-of-graph-memory leaves out an input whose memory its capture used again") {
  for (const bool reads : {true, false}) {
    LooseUse s;
    const BlockId input = s.t.AllocAt(s.a, 4096, s.base, s.segment);
    s.graph = s.t.BeginCapture(s.a, "tree");
    s.t.Kernel(s.a, "begin", {reads ? Touches(input) : Touches(s.own)});
    s.t.Free(input);
    s.own = s.t.AllocAt(s.a, 4096, s.base, s.segment);
    s.t.Kernel(s.a, "end", {Writes(s.own)});
    s.t.Free(s.own);
    s.t.EndCapture(s.a);
    s.exec = s.t.Instantiate(s.graph);
    CHECK(s.RunWith(Writes(s.memory, 512)).empty() == reads);
  }
}

// Two graphs whose blocks lie in one place: what is there is what the last launch wrote.
TEST_CASE("eager-use-of-graph-memory names the graph that wrote what is used") {
  for (const bool first_graph : {true, false}) {
    LooseUse s;
    const GraphId other = s.t.BeginCapture(s.a, "other");
    const BlockId there = s.t.AllocAt(s.a, 4096, s.base, s.segment);
    s.t.Kernel(s.a, "fill", {Writes(there)});
    s.t.Free(there);
    s.t.EndCapture(s.a);
    const ExecId exec = s.t.Instantiate(other);
    s.t.Launch(first_graph ? exec : s.exec, s.a);
    if (!first_graph) s.exec = exec;  // launched last
    const std::vector<Finding> findings = s.RunWith(Reads(s.memory, 512));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].graph == (first_graph ? s.graph : other));
    CHECK(findings[0].blocks == std::vector{first_graph ? s.own : there});
  }
}

// A block that a capture keeps lies over one that another graph's capture freed, as outputs do
// whose addresses a program keeps. Then the length shows which of the two is read.
TEST_CASE("eager-use-of-graph-memory tells two blocks of one place by the bytes that are read") {
  for (const char* check : {"eager-use-of-graph-memory", "pool-clobbered-workspace"}) {
    for (const Bytes length : {4096u, 8192u}) {
      FreedBlock s;
      const GraphId keep = s.t.BeginCapture(s.a, "keep");
      const BlockId kept = s.t.AllocAt(s.a, 8192, s.base, s.segment);
      s.t.Kernel(s.a, "fill", {Writes(kept)});
      s.t.EndCapture(s.a);
      s.t.Launch(s.t.Instantiate(keep), s.a);
      s.t.Launch(s.exec, s.a);
      s.t.Work(s.a, NodeKind::kMemcpy, {Reads(kept, 0, length)});
      const std::vector<Finding> findings = Run(check, &s.t);
      const bool clobbered = length == 8192;
      REQUIRE(findings.size() == (clobbered == (check[0] == 'p') ? 1 : 0));
      if (findings.empty()) continue;
      CHECK(findings[0].severity == (clobbered ? Severity::kError : Severity::kNote));
      CHECK(findings[0].blocks == std::vector{clobbered ? kept : s.own});
    }
  }
}

// The same with a kept block over the end of the freed one: a copy of all of that begins before it.
TEST_CASE("eager-use-of-graph-memory takes a copy over several blocks for one use") {
  for (const char* check : {"eager-use-of-graph-memory", "pool-clobbered-workspace"}) {
    for (const bool whole : {true, false}) {
      FreedBlock s;
      const GraphId keep = s.t.BeginCapture(s.a, "keep");
      const BlockId kept = s.t.AllocAt(s.a, 2048, s.base + 2048, s.segment);
      s.t.Kernel(s.a, "fill", {Writes(kept)});
      s.t.EndCapture(s.a);
      s.t.Launch(s.t.Instantiate(keep), s.a);
      s.t.Launch(s.exec, s.a);
      if (whole) {
        s.t.Work(s.a, NodeKind::kMemcpy, {Reads(s.memory, 0, 2048), Reads(kept, 0, 2048)});
      } else {
        s.t.Work(s.a, NodeKind::kMemcpy, {Reads(kept, 0, 2048)});
      }
      const std::vector<Finding> findings = Run(check, &s.t);
      REQUIRE(findings.size() == (whole == (check[0] == 'e') ? 1 : 0));
      if (findings.empty()) continue;
      CHECK(findings[0].severity == (whole ? Severity::kNote : Severity::kError));
      CHECK(findings[0].blocks == std::vector{whole ? s.own : kept});
    }
  }
}

TEST_CASE("eager-use-of-graph-memory leaves out where one of a segment's blocks lay meanwhile") {
  LooseUse s;
  const BlockId there = s.t.AllocAt(s.a, 4096, s.base, s.segment);
  s.t.AllocAt(s.a, 4096, s.base + 8192, s.segment);
  const std::vector<Finding> findings = s.RunWith(Writes(s.memory, 512));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].blocks == std::vector{there});
}

// Random works and launches on one place of memory, which several blocks share. The slow way: who
// wrote it last, step by step.
TEST_CASE("overwrites are those that a replay of every step finds") {
  const auto seed = std::random_device()();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    FreedBlock s;
    const BlockId used = s.t.AllocAt(s.a, 4096, s.base, s.segment);
    bool content = false, lost = false, expected = false, expected_sure = false;
    for (int step = 0; step < 8; ++step) {
      if (random() % 3 == 0) {
        s.t.Launch(s.exec, s.a);
        lost = lost || content;
        continue;
      }
      const AccessMode mode = static_cast<AccessMode>(random() % 4);
      s.t.Work(s.a, "use", {{.block = used, .mode = mode}});
      if (lost && mode != AccessMode::kWrite) {
        expected = true;
        expected_sure = expected_sure || mode != AccessMode::kUnknown;
      }
      content = true;
      lost = false;
    }
    const std::vector<Finding> findings = Run("eager-use-of-graph-memory", &s.t);
    const bool told = std::ranges::any_of(
        findings, [](const Finding& f) { return f.severity != Severity::kNote; });
    CHECK(told == expected);
    if (told) CHECK((findings[0].severity == Severity::kError) == expected_sure);
  }
}

}  // namespace
}  // namespace graphkit
