#include "libgraphkit/compare/diff.h"

#include <doctest/doctest.h>

#include <functional>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

TraceDiff Diff(const Ran& before, const Ran& after) { return DiffTraces(before, {}, after, {}); }

// The only graph's difference.
GraphDiff OnlyGraph(const TraceDiff& diff) {
  CHECK(diff.removed_graphs.empty());
  CHECK(diff.added_graphs.empty());
  REQUIRE(diff.graphs.size() == 1);
  return diff.graphs[0];
}

// Five kernels of one name in a row, and what a change makes of them.
Ran Row(int count, const std::function<void(TraceBuilder&, StreamId, int)>& each = {}) {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < count; ++i) {
    if (each) {
      each(t, a, i);
    } else {
      t.Kernel(a, "k");
    }
  }
  t.EndCapture(a);
  return t.Build();
}

TEST_CASE("a trace equals itself") {
  const Ran trace = Row(5);
  const TraceDiff diff = Diff(trace, trace);
  CHECK(diff.equal());
  CHECK(OnlyGraph(diff).matched_nodes == 5);
}

TEST_CASE("a trace equals itself where a graph without nodes has findings") {
  TraceBuilder t;
  t.BeginCapture(t.Stream("a"));
  const Ran trace = t.Build();
  Report report;
  report.findings = {{.check = "open-capture", .message = "open", .graph = GraphId(0u)}};
  CHECK(DiffTraces(trace, report, trace, report).equal());
}

TEST_CASE("of a row of the same kernels one less is one removed") {
  const GraphDiff diff = OnlyGraph(Diff(Row(5), Row(4)));
  CHECK(diff.matched_nodes == 4);
  CHECK(diff.removed_nodes.size() == 1);
  CHECK(diff.added_nodes.empty());
  CHECK(diff.lost_edges.empty());
  CHECK(diff.gained_edges.empty());
}

TEST_CASE("a kernel put in the middle is one added, and the edge around it is lost") {
  const auto plain = [](TraceBuilder& t, StreamId a, int i) {
    t.Kernel(a, "k" + std::to_string(i));
  };
  const auto more = [](TraceBuilder& t, StreamId a, int i) {
    if (i == 2) t.Kernel(a, "extra");
    t.Kernel(a, "k" + std::to_string(i));
  };
  const GraphDiff diff = OnlyGraph(Diff(Row(5, plain), Row(5, more)));
  CHECK(diff == GraphDiff{.before = GraphId(0u),
                          .after = GraphId(0u),
                          .matched_nodes = 5,
                          .added_nodes = {NodeId(2u)},
                          .lost_edges = {EdgeId(1u)}});
}

TEST_CASE("changes at both ends leave the middle matched") {
  const auto before = [](TraceBuilder& t, StreamId a, int i) {
    t.Kernel(a, i == 0 ? "head" : i == 99 ? "tail" : "k");
  };
  const auto after = [](TraceBuilder& t, StreamId a, int i) {
    t.Kernel(a, i == 0 ? "other head" : i == 99 ? "other tail" : "k");
  };
  const GraphDiff diff = OnlyGraph(Diff(Row(100, before), Row(100, after)));
  CHECK(diff.matched_nodes == 98);
  CHECK(diff.removed_nodes == std::vector{NodeId(0u), NodeId(99u)});
  CHECK(diff.added_nodes == std::vector{NodeId(0u), NodeId(99u)});
}

TEST_CASE("parameters of every node may change and the nodes still match") {
  Ran before = Row(5), after = Row(5);
  after.shapes[0] = {.grid = {8, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 64};
  const GraphDiff diff = OnlyGraph(Diff(before, after));
  CHECK(diff.matched_nodes == 5);
  REQUIRE(diff.parameters.size() == 15);
  CHECK(diff.parameters[0] == ParameterChange{{NodeId(0u), NodeId(0u)}, "grid", "1x1x1", "8x1x1"});
  CHECK(diff.parameters[2] == ParameterChange{{NodeId(0u), NodeId(0u)}, "shared bytes", "0", "64"});
}

TEST_CASE("that launches are given other parameters is a parameter, how often it isn't") {
  const auto changed = [](int times) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    const GraphId graph = t.BeginCapture(a);
    const NodeId node = t.Kernel(a, "k");
    t.EndCapture(a);
    const ExecId exec = t.Instantiate(graph);
    for (int i = 0; i < times; ++i) t.Change(node, exec, NodeChangeKind::kParams);
    return t.Build();
  };
  CHECK(Diff(changed(1), changed(5)).equal());
  const GraphDiff diff = OnlyGraph(Diff(changed(0), changed(1)));
  CHECK(diff.parameters ==
        std::vector<ParameterChange>{
            {{NodeId(0u), NodeId(0u)}, "launches", "as made", "parameters set later"}});
}

TEST_CASE("what a copy touches is a parameter, the block's address and id are not") {
  const auto copy = [](Bytes length, int blocks) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    BlockId block;
    for (int i = 0; i < blocks; ++i) block = t.Alloc({}, 4096);
    t.BeginCapture(a);
    t.Memcpy(a, {Writes(block, 0, length)});
    t.EndCapture(a);
    return t.Build();
  };
  CHECK(Diff(copy(512, 1), copy(512, 3)).equal());
  const GraphDiff diff = OnlyGraph(Diff(copy(512, 1), copy(1024, 1)));
  CHECK(diff.parameters == std::vector<ParameterChange>{{{NodeId(0u), NodeId(0u)},
                                                         "access 0",
                                                         "writes 512 B of 4 KiB",
                                                         "writes 1 KiB of 4 KiB"}});
}

TEST_CASE("an edge that becomes programmatic is one whose data changed") {
  const auto full = [](TraceBuilder& t, StreamId a, int) { t.Kernel(a, "k"); };
  const auto programmatic = [](TraceBuilder& t, StreamId a, int i) {
    i == 2 ? t.ProgrammaticKernel(a, "k") : t.Kernel(a, "k");
  };
  const GraphDiff diff = OnlyGraph(Diff(Row(5, full), Row(5, programmatic)));
  CHECK(diff == GraphDiff{.before = GraphId(0u),
                          .after = GraphId(0u),
                          .matched_nodes = 5,
                          .changed_edges = {{EdgeId(1u), EdgeId(1u)}}});
}

//  a: root ─── left ─── join            the same with another stream for `right`
//        └──── right ────┘
Ran Fork(bool third_stream) {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream(), c = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a, "root");
  t.Order(a, b);
  t.Order(a, c);
  t.Kernel(a, "left");
  for (int i = 0; i < 3; ++i) t.Kernel(b, "right");
  t.Kernel(third_stream ? c : b, "far right");
  t.Order(b, a);
  t.Order(c, a);
  t.Kernel(a, "join");
  t.EndCapture(a);
  return t.Build();
}

TEST_CASE("a kernel on another stream moved, and its edges changed") {
  const GraphDiff diff = OnlyGraph(Diff(Fork(false), Fork(true)));
  CHECK(diff.matched_nodes == 7);
  CHECK(diff.moved_nodes == std::vector<NodePair>{{NodeId(5u), NodeId(5u)}});
  CHECK(diff.lost_edges.size() == 2);    // right → far right, root → join (what c waited for)
  CHECK(diff.gained_edges.size() == 2);  // root → far right, right → join
  CHECK(diff.removed_nodes.empty());
}

TEST_CASE("graphs are matched by name, others are removed or added") {
  const auto graphs = [](std::initializer_list<const char*> names) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    for (const char* name : names) {
      t.BeginCapture(a, name);
      t.Kernel(a, name);
      t.EndCapture(a);
    }
    return t.Build();
  };
  const TraceDiff diff = Diff(graphs({"one", "two", "three"}), graphs({"zero", "three", "one"}));
  CHECK(diff.removed_graphs == std::vector{GraphId(1u)});
  CHECK(diff.added_graphs == std::vector{GraphId(0u)});
  REQUIRE(diff.graphs.size() == 2);
  CHECK(diff.graphs[0].after == GraphId(2u));
  CHECK(diff.graphs[1].after == GraphId(1u));
  CHECK(diff.graphs[0].equal());
}

TEST_CASE("of graphs without names equal ones are matched first") {
  const auto graphs = [](std::initializer_list<const char*> kernels) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    for (const char* kernel : kernels) {
      t.BeginCapture(a);
      t.Kernel(a, kernel);
      t.EndCapture(a);
    }
    return t.Build();
  };
  const TraceDiff diff = Diff(graphs({"a", "b", "c"}), graphs({"b", "c"}));
  CHECK(diff.removed_graphs == std::vector{GraphId(0u)});
  CHECK(diff.graphs.size() == 2);
  CHECK(diff.graphs[0].equal());
}

TEST_CASE("the inside of a child graph is compared too") {
  const auto nested = [](const char* name) {
    TraceBuilder t;
    const StreamId a = t.Stream();
    const GraphId inner = t.Graph("inner");
    t.Add(inner, NodeKind::kMemset, {t.Add(inner, NodeKind::kEmpty)});
    t.BeginCapture(a, "outer");
    t.Kernel(a, "before");
    const NodeId child = t.ChildGraph(a, inner);
    t.Kernel(a, "after");
    t.EndCapture(a);
    if (*name != '\0') t.Add(t.Embedded(child), NodeKind::kHost);
    return t.Build();
  };
  const TraceDiff diff = Diff(nested(""), nested("changed"));
  REQUIRE(diff.graphs.size() == 3);
  CHECK(diff.graphs[0].equal());
  CHECK(diff.graphs[1].equal());
  CHECK(diff.graphs[2].added_nodes.size() == 1);
  CHECK(Diff(nested(""), nested("")).equal());
}

TEST_CASE("figures and findings before and after") {
  const Ran trace = Row(1);
  GraphSummary summary;
  summary.graph = GraphId(0u);
  summary.deferred_bytes = 512;
  Report before, after;
  before.graphs = after.graphs = {summary};
  after.graphs[0].deferred_bytes = 1024;
  Finding finding{.check = "late-free", .message = "block 0", .bytes = 512, .graph = GraphId(0u)};
  before.findings = {finding, finding};
  after.findings = {finding};
  const TraceDiff diff = DiffTraces(trace, before, trace, after);
  CHECK(diff.graphs[0].figures == std::vector<FigureChange>{{"deferred_bytes", 512, 1024}});
  CHECK(diff.findings ==
        std::vector<FindingChange>{{"late-free", Severity::kWarning, "block 0", 2, 1, 1024, 512}});
  CHECK_FALSE(diff.equal());
}

}  // namespace
}  // namespace graphkit
