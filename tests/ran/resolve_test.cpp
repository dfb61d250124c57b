#include "libgraphkit/ran/resolve.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr NodeChangeKind kSet = NodeChangeKind::kParams;
constexpr NodeChangeKind kOff = NodeChangeKind::kDisabled;
constexpr NodeChangeKind kOn = NodeChangeKind::kEnabled;

// Graphs of one fill each, of block 0, and blocks to fill instead.
struct Fills {
  TraceBuilder t;
  StreamId stream = t.Stream("a");
  BlockId as_made = t.Alloc({}, 64), p1 = t.Alloc({}, 64), p2 = t.Alloc({}, 64),
          p3 = t.Alloc({}, 64);
  GraphId graph = t.Graph();
  NodeId fill = t.Add(graph, NodeKind::kMemset, {}, {Writes(as_made)});

  GraphId Another(NodeId* node) {
    const GraphId other = t.Graph();
    *node = t.Add(other, NodeKind::kMemset, {}, {Writes(as_made)});
    return other;
  }
};

// The blocks that a node may touch.
std::set<BlockId> TouchedBy(const Ran& trace, NodeId node) {
  std::set<BlockId> blocks;
  const Slice slice = trace[node].accesses;
  for (uint32_t i = 0; i < slice.count; ++i) blocks.insert(trace.accesses[slice.first + i].block);
  return blocks;
}

using Blocks = std::set<BlockId>;

TEST_CASE("an exec runs what the graph's nodes do when it is made") {
  Fills f;
  f.t.Change(f.fill, {}, kSet, {Writes(f.p1)});
  f.t.Change(f.fill, {}, kSet, {Writes(f.p2)});
  const ExecId exec = f.t.Instantiate(f.graph);
  f.t.Change(f.fill, {}, kSet, {Writes(f.p3)});
  f.t.Launch(exec, f.stream);
  const Ran trace = f.t.Build();
  CHECK(TouchedBy(trace, f.fill) == Blocks{f.p2});
  REQUIRE(trace.changed_nodes.size() == 1);
  CHECK(trace.changed_nodes[0].node == f.fill);
  CHECK_FALSE(trace.changed_nodes[0].varies);
  CHECK(IsComplete(trace));
}

TEST_CASE("versions count that a launch runs, and the last one of an exec that is there") {
  for (const bool destroyed : {false, true}) {
    Fills f;
    const ExecId exec = f.t.Instantiate(f.graph);
    f.t.Change(f.fill, exec, kSet, {Writes(f.p1)});  // never runs
    f.t.Change(f.fill, exec, kSet, {Writes(f.p2)});
    f.t.Launch(exec, f.stream);
    f.t.Change(f.fill, exec, kSet, {Writes(f.p3)});
    if (destroyed) f.t.Destroy(exec);
    const Ran trace = f.t.Build();
    CHECK(TouchedBy(trace, f.fill) == (destroyed ? Blocks{f.p2} : Blocks{f.p2, f.p3}));
  }
}

TEST_CASE("a graph without execs does what it was told last") {
  Fills f;
  f.t.Change(f.fill, {}, kSet, {Writes(f.p1)});
  f.t.Change(f.fill, {}, kSet, {Writes(f.p2)});
  CHECK(TouchedBy(f.t.Build(), f.fill) == Blocks{f.p2});
}

TEST_CASE("what several execs run counts together") {
  Fills f;
  const ExecId first = f.t.Instantiate(f.graph);
  f.t.Change(f.fill, {}, kSet, {Writes(f.p1)});
  const ExecId second = f.t.Instantiate(f.graph);
  f.t.Change(f.fill, second, kSet, {Writes(f.p2)});
  f.t.Launch(first, f.stream);
  f.t.Launch(second, f.stream);
  const Ran trace = f.t.Build();
  CHECK(TouchedBy(trace, f.fill) == Blocks{f.as_made, f.p2});
  CHECK(trace.changed_nodes[0].varies);
}

TEST_CASE("a node that is off touches nothing; switched on again, what it did") {
  Fills off;
  const ExecId exec = off.t.Instantiate(off.graph);
  off.t.Change(off.fill, exec, kOff);
  off.t.Launch(exec, off.stream);
  off.t.Destroy(exec);
  CHECK(TouchedBy(off.t.Build(), off.fill).empty());

  Fills on;
  const ExecId other = on.t.Instantiate(on.graph);
  on.t.Change(on.fill, other, kSet, {Writes(on.p1)});
  on.t.Change(on.fill, other, kOff);
  on.t.Launch(other, on.stream);
  on.t.Change(on.fill, other, kOn);
  on.t.Launch(other, on.stream);
  CHECK(TouchedBy(on.t.Build(), on.fill) == Blocks{on.p1});
}

TEST_CASE("an update takes over the other graph's parameters, and later changes are its nodes'") {
  Fills f;
  NodeId there;
  const GraphId other = f.Another(&there);
  f.t.Change(there, {}, kSet, {Writes(f.p1)});
  const ExecId exec = f.t.Instantiate(f.graph);
  f.t.Launch(exec, f.stream);
  f.t.Update(exec, other);
  f.t.Launch(exec, f.stream);
  f.t.Change(f.fill, exec, kSet, {Writes(f.p2)});  // named by the node that it was made of
  f.t.Launch(exec, f.stream);
  f.t.Change(f.fill, exec, kSet, {Writes(f.p3)});
  f.t.Update(exec, f.graph);
  f.t.Destroy(exec);
  const Ran trace = f.t.Build();
  CHECK(TouchedBy(trace, there) == Blocks{f.p1, f.p2});
  CHECK(TouchedBy(trace, f.fill) == Blocks{f.as_made});
  CHECK(IsComplete(trace));
}

TEST_CASE("a change that finds no node in the graph of an update makes the trace incomplete") {
  Fills f;
  const GraphId other = f.t.Graph("other");
  f.t.Add(other, NodeKind::kHost);
  const ExecId exec = f.t.Instantiate(f.graph);
  f.t.Update(exec, other);
  f.t.Change(f.fill, exec, kSet, {Writes(f.p1)});
  const Ran trace = f.t.Build();
  CHECK_FALSE(IsComplete(trace));
  CHECK(
      IncompleteBecause(trace) ==
      std::vector<std::string>{"graph 1: which node has the parameters set of node 0 isn't known, "
                               "for the graphs differ"});
}

TEST_CASE("a kernel that others may update is known only as long as nobody makes an exec of it") {
  for (const bool runs : {false, true}) {
    TraceBuilder t;
    const GraphId graph = t.Graph();
    const NodeId kernel = t.Add(graph, NodeKind::kKernel);
    t.Change(kernel, {}, NodeChangeKind::kUpdatable);
    if (runs) t.Instantiate(graph);
    const Ran trace = t.Build();
    CHECK(IsComplete(trace) == !runs);
    if (!runs) continue;
    CHECK(trace.completeness.unapplied ==
          std::vector<std::string>{"graph 0: kernels may change what node 0 does"});
  }
}

TEST_CASE("nodes of a graph in a graph are set in the exec of the outer one") {
  Fills f;
  const GraphId outer = f.t.BeginCapture(f.stream);
  const NodeId child = f.t.ChildGraph(f.stream, f.graph);
  f.t.EndCapture(f.stream);
  const GraphId embedded = f.t.Embedded(child);
  NodeId inside;
  for (size_t i = 0; i < f.t.trace().nodes.size(); ++i) {
    if (f.t.trace().nodes[i].graph == embedded) inside = NodeId(i);
  }
  const ExecId exec = f.t.Instantiate(outer);
  f.t.Change(inside, exec, kSet, {Writes(f.p1)});
  f.t.Launch(exec, f.stream);
  const Ran trace = f.t.Build();
  CHECK(TouchedBy(trace, inside) == Blocks{f.p1});
  CHECK(TouchedBy(trace, f.fill) == Blocks{f.as_made});
}

TEST_CASE("what was resolved is recorded as before, and resolved to the same again") {
  Fills f;
  f.t.Change(f.fill, {}, kSet, {Writes(f.p1)});
  const Trace recorded = f.t.Record();
  const Ran ran = Resolve(recorded);
  CHECK(TouchedBy(ran, f.fill) == Blocks{f.p1});
  CHECK(AsRecorded(ran) == recorded);
  CHECK(Resolve(AsRecorded(ran)) == ran);
}

}  // namespace
}  // namespace graphkit
