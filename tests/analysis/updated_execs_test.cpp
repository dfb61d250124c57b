// Graphs that ran only as what an exec was updated to, as programs do that capture anew for each
// step: capture, update the exec, launch it, destroy the graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/explain/where.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/analysis/order/topology.h"
#include "tests/analysis/pieces.h"

namespace graphkit {
namespace {

// Graph 0 is instantiated; graph 1, which touches x, is what its exec is updated to.
struct Updated : TwoStreams {
  BlockId x = t.Alloc(a, 4096);
  GraphId first, second;
  ExecId exec;
  NodeId fill;

  GraphId Capture(bool ordered) {
    const GraphId graph = t.BeginCapture(a);
    t.Order(a, b);
    t.Memset(a, {Writes(x, 0, 4096)});
    fill = t.last_node();
    if (ordered) t.Order(a, b);
    t.Memset(b, {Writes(x, 0, 4096)});
    t.Order(b, a);
    t.EndCapture(a);
    return graph;
  }
  Updated() {
    first = Capture(true);
    exec = t.Instantiate(first);
    t.Launch(exec, a);
    second = Capture(false);
    t.Update(exec, second);
  }
};

TEST_CASE("a finding about a graph that an exec was updated to names the exec") {
  Updated f;
  f.t.Launch(f.exec, f.a);
  f.t.Destroy(f.second);
  const Result<Report> report = Analyze(f.t.Build(), {.checks = {"missing-order"}});
  REQUIRE(report);
  REQUIRE(report->findings.size() == 1);
  CHECK(report->findings[0].evidence.back().text ==
        "exec 0 was updated to graph 1 after the capture of graph 1");
}

TEST_CASE("the table of graphs has the exec of one that was only updated to") {
  Updated f;
  const Report report = *Analyze(f.t.Build());
  CHECK_FALSE(report.graphs[f.first.index()].updated.valid());
  CHECK(report.graphs[f.second.index()].updated == f.exec);
}

TEST_CASE("an exec has a graph until it takes over another one") {
  Updated f;
  f.t.Launch(f.exec, f.a);
  f.t.Update(f.exec, f.first, 1);  // fails
  f.t.Destroy(f.exec);
  const Ran trace = f.t.Build();
  REQUIRE(trace.GraphsOf(f.exec).size() == 2);
  const ExecGraph before = trace.GraphsOf(f.exec)[0], after = trace.GraphsOf(f.exec)[1];
  CHECK(before.graph == f.first);
  CHECK(before.until == after.since);
  CHECK(after.graph == f.second);
  CHECK(after.until == trace[f.exec].destroyed);
  CHECK(trace.GraphBefore(f.exec, trace.launches[0].seq).graph == f.first);
  CHECK(trace.GraphBefore(f.exec, trace.launches[1].seq).graph == f.second);
  CHECK_FALSE(trace.GraphBefore(f.exec, before.since).graph.valid());
  CHECK(trace.GraphsOf(ExecId(1u)).empty());
}

TEST_CASE("a graph runs as long as an exec has it") {
  Updated f;
  f.t.Destroy(f.second);
  const Ran trace = f.t.Build();
  const Facts facts(trace);
  CHECK(GraphsThatRun(facts)[f.second.index()]);  // it wasn't launched, but may be
  CHECK(FindDestroyed(trace, facts.roots())[f.second.index()] == kNever);
}

TEST_CASE("where a trace breaks off, an update finishes a graph as an instantiation does") {
  for (const bool updated : {false, true}) {
    TraceBuilder t;
    const GraphId first = t.Graph(), second = t.Graph();
    t.Add(first, NodeKind::kEmpty, {}, {});
    const NodeId node = t.Add(second, NodeKind::kEmpty, {}, {});
    const ExecId exec = t.Instantiate(first);
    if (updated) t.Update(exec, second);
    t.Add(t.Graph(), NodeKind::kEmpty, {}, {});
    Trace recorded = t.Record();
    recorded.completeness.truncated = true;
    CHECK(FindUnfinished(Resolve(recorded))[node.index()] == !updated);
  }
}

TEST_CASE("an address's graphs run as the execs that were updated to them") {
  Updated f;
  f.t.Launch(f.exec, f.a);
  const Ran trace = f.t.Build();
  const Whereabouts found = FindWhere(Facts(trace), trace[f.x].address, {});
  const auto second = std::ranges::find(found.pointers, f.second, &AddressPointer::graph);
  REQUIRE(second != found.pointers.end());
  CHECK(second->execs == std::vector{f.exec});
  CHECK(second->launches == 1);
}

}  // namespace
}  // namespace graphkit
