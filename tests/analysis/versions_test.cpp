// Verdicts are about the versions of graphs that launches ran, whatever was done to them later.
#include "libgraphkit/ran/resolve.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// The messages of missing-order.
std::vector<std::string> Races(const Ran& trace) {
  std::vector<std::string> messages;
  const Result<Report> report = Analyze(trace, {.checks = {"missing-order"}});
  REQUIRE(report);
  for (const Finding& finding : report->findings) messages.push_back(finding.message);
  return messages;
}

// Two nodes that write block 0 of 1 KiB, and others to take their place.
struct TwoWriters {
  TraceBuilder t;
  StreamId stream = t.Stream("a");
  BlockId x = t.Alloc({}, 1024), y = t.Alloc({}, 1024);
  GraphId graph = t.Graph();
  NodeId a = Add({}, x), b;

  NodeId Add(std::initializer_list<NodeId> after, BlockId block) {
    return t.Add(graph, NodeKind::kMemset, after, {Writes(block, 0, 1024)});
  }
  ExecId Run() {
    const ExecId exec = t.Instantiate(graph);
    t.Launch(exec, stream);
    return exec;
  }
};

const std::string kRace =
    "nothing orders node 0 (memset) and node 1 (memset), which touch the same bytes of block 0 "
    "(1 KiB), and one writes";

TEST_CASE("an edge that was added after the instantiation orders nothing that ran") {
  for (const bool launched : {false, true}) {
    TwoWriters f;
    f.b = f.Add({}, f.x);
    const ExecId exec = f.t.Instantiate(f.graph);
    f.t.Connect(f.a, f.b);
    if (launched) f.t.Launch(exec, f.stream);
    CHECK(Races(f.t.Build()) == std::vector<std::string>{kRace});
  }
}

TEST_CASE("an edge that was removed after the instantiation ordered what ran") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  const EdgeId edge = f.t.Connect(f.a, f.b);
  const ExecId exec = f.t.Instantiate(f.graph);
  f.t.Remove(edge);
  f.t.Launch(exec, f.stream);
  f.t.Destroy(f.graph);
  CHECK(Races(f.t.Build()).empty());
}

TEST_CASE("a node that was added after the instantiation didn't run, one that was destroyed did") {
  TwoWriters added;
  added.Run();
  added.b = added.Add({}, added.x);
  CHECK(Races(added.t.Build()).empty());

  TwoWriters gone;
  gone.b = gone.Add({}, gone.x);
  gone.Run();
  gone.t.Destroy(gone.b);
  CHECK(Races(gone.t.Build()) == std::vector<std::string>{kRace});
}

TEST_CASE("parameters that were set after the instantiation didn't run, the old ones did") {
  for (const bool apart : {false, true}) {
    TwoWriters f;
    f.b = f.Add({}, apart ? f.y : f.x);
    f.Run();
    f.t.Change(f.b, {}, NodeChangeKind::kParams, {Writes(apart ? f.x : f.y, 0, 1024)});
    CHECK(Races(f.t.Build()).empty() == apart);
  }
}

TEST_CASE("a node that was switched off in the exec ran in no launch after that") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  const ExecId exec = f.t.Instantiate(f.graph);
  f.t.Change(f.b, exec, NodeChangeKind::kDisabled);
  f.t.Launch(exec, f.stream);
  CHECK(Races(f.t.Build()).empty());
}

TEST_CASE("an exec runs the graph that it was updated to as that was then") {
  for (const bool removed : {false, true}) {
    TwoWriters f;
    f.b = f.Add({f.a}, f.x);
    const ExecId exec = f.Run();
    const GraphId other = f.graph = f.t.Graph();
    const NodeId c = f.Add({}, f.x), d = f.Add({}, f.x);
    const EdgeId edge = removed ? f.t.Connect(c, d) : EdgeId();
    f.t.Update(exec, other);
    f.t.Launch(exec, f.stream);
    if (removed) f.t.Remove(edge);
    if (!removed) f.t.Connect(c, d);
    CHECK(Races(f.t.Build()).empty() == removed);
  }
}

TEST_CASE("an update that CUDA refused takes nothing over") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  const ExecId exec = f.Run();
  f.t.Connect(f.a, f.b);
  f.t.Update(exec, f.graph, 1);
  f.t.Launch(exec, f.stream);
  CHECK(Races(f.t.Build()) == std::vector<std::string>{kRace});
}

TEST_CASE("a clone, and an embedded graph, is what its original was when it was made") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  f.t.BeginCapture(f.stream);
  f.t.ChildGraph(f.stream, f.graph);
  const GraphId outer = f.t.trace().captures.back().graph;
  f.t.EndCapture(f.stream);
  f.t.Connect(f.a, f.b);
  f.t.Launch(f.t.Instantiate(outer), f.stream);
  const std::vector<std::string> races = Races(f.t.Build());
  REQUIRE(races.size() == 1);
  CHECK(races[0].starts_with("nothing orders node 3 (memset) and node 4 (memset)"));
}

TEST_CASE("an edit inside an embedded graph is one of the graph that holds it") {
  TwoWriters f;
  f.t.BeginCapture(f.stream);
  const NodeId body = f.t.Conditional(f.stream, ConditionalType::kIf);
  const GraphId outer = f.t.trace().captures.back().graph;
  f.t.EndCapture(f.stream);
  f.graph = f.t.Body(body);
  const NodeId c = f.Add({}, f.x), d = f.Add({}, f.x);
  f.t.Launch(f.t.Instantiate(outer), f.stream);
  f.t.Connect(c, d);
  CHECK(Races(f.t.Build()).size() == 1);
}

TEST_CASE("each version that ran is judged on its own, by its name") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  f.Run();
  f.t.Connect(f.a, f.b);
  f.Run();
  CHECK(Races(f.t.Build()) ==
        std::vector<std::string>{kRace + " (graph 0 as instantiated as exec 0)"});

  TwoWriters updated;
  updated.b = updated.Add({updated.a}, updated.x);
  const ExecId exec = updated.Run();
  updated.t.Remove(EdgeId(0u));
  updated.t.Update(exec, updated.graph);
  updated.t.Launch(exec, updated.stream);
  const std::vector<std::string> races = Races(updated.t.Build());
  REQUIRE(races.size() == 1);
  CHECK(races[0].starts_with(kRace + " (graph 0 as exec 0 was updated to it at record "));

  TwoWriters both;
  both.b = both.Add({}, both.x);
  both.Run();
  both.Add({both.b}, both.y);
  both.Run();
  CHECK(Races(both.t.Build()) == std::vector<std::string>{kRace});
}

// a ─ b directly in one version, by c in the other; d is there instead of c at other times.
TEST_CASE("nodes of different versions never race, nor where each version orders in its own way") {
  TwoWriters f;
  f.b = f.Add({f.a}, f.x);
  const NodeId d = f.Add({f.a}, f.y);
  f.Run();
  f.t.Remove(EdgeId(0u));
  f.t.Destroy(d);
  const NodeId c = f.Add({f.a}, f.y);
  f.t.Connect(c, f.b);
  f.Run();
  CHECK(Races(f.t.Build()).empty());
}

TEST_CASE("a version that no launch ran says nothing where others ran") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  f.t.Instantiate(f.graph);
  f.t.Connect(f.a, f.b);
  f.Run();
  const Ran trace = f.t.Build();
  CHECK(trace.versions.size() == 1);
  CHECK(Races(trace).empty());
}

// Two blocks of 1 MiB that one edge keeps apart: a's memory is free before b's is allocated.
struct TwoBlocks {
  TraceBuilder t;
  StreamId left = t.Stream("left"), right = t.Stream("right");
  GraphId graph;
  NodeId free_x, alloc_y;

  TwoBlocks() {
    graph = t.BeginCapture(left);
    t.Order(left, right);
    const BlockId x = t.AllocNode(left, 1 << 20);
    t.Memset(left, {Writes(x)});
    free_x = t.FreeNode(left, x);
    const BlockId y = t.AllocNode(right, 1 << 20);
    alloc_y = t.last_node();
    t.Memset(right, {Writes(y)});
    t.FreeNode(right, y);
    t.Order(right, left);
    t.EndCapture(left);
  }
};

TEST_CASE("a plan holds for what ran: memory that an edge frees too late is not shared") {
  for (const bool before : {false, true}) {
    TwoBlocks f;
    if (before) f.t.Connect(f.free_x, f.alloc_y);
    const ExecId exec = f.t.Instantiate(f.graph);
    if (!before) f.t.Connect(f.free_x, f.alloc_y);
    f.t.Launch(exec, f.left);
    const Ran trace = f.t.Build();
    const Facts facts(trace);
    const PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse, {});
    CHECK(plan.peak == (before ? 1 << 20 : 2 << 20));
    CHECK(plan.lower_bound == plan.peak);
  }
}

TEST_CASE("a plan holds for every version that ran") {
  TwoBlocks f;
  f.t.Launch(f.t.Instantiate(f.graph), f.left);
  f.t.Connect(f.free_x, f.alloc_y);
  f.t.Launch(f.t.Instantiate(f.graph), f.left);
  const Ran trace = f.t.Build();
  CHECK(CountVersions(trace) == 2);
  const Facts facts(trace);
  CHECK(PlanTrace(facts, MarkerRule::kLastUse, {}).peak == 2 << 20);
}

TEST_CASE("versions are found anew where a trace is read, and don't get into a file") {
  TwoWriters f;
  f.b = f.Add({}, f.x);
  f.Run();
  f.t.Connect(f.a, f.b);
  f.t.Change(f.a, {}, NodeChangeKind::kParams, {Writes(f.y)});
  f.Run();
  const Ran trace = f.t.Build();
  CHECK(CountVersions(trace) == 2);
  const std::string written = FormatTrace(AsRecorded(trace)).value();
  CHECK(Resolve(ParseTrace(written, "versions").value()) == trace);
  CHECK(FormatTrace(AsRecorded(OfVersion(0, trace))).value() == written);
  CHECK(OfVersion(1, OfVersion(0, trace)) == OfVersion(1, trace));
}

}  // namespace
}  // namespace graphkit
