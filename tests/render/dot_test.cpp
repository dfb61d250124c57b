// Everything that is drawn is read back by libcgraph, and counted there.
#include "libgraphkit/render/dot/dot.h"

#include <doctest/doctest.h>
#include <graphviz/cgraph.h>

#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/dot/labels.h"
#include "libgraphkit/render/dot/style.h"
#include "tests/build_trace.h"

namespace graphkit {

namespace {

std::string parse_errors;

int KeepError(char* text) {
  parse_errors += text;
  return 0;
}

struct Parsed {
  std::unique_ptr<Agraph_t, decltype(&agclose)> graph{nullptr, agclose};
  int nodes = 0;
  int edges = 0;
};

Parsed Parse(const std::string& dot) {
  parse_errors.clear();
  agseterrf(KeepError);
  Parsed parsed;
  parsed.graph.reset(agmemread(dot.c_str()));
  CHECK(parse_errors == "");
  REQUIRE(parsed.graph != nullptr);
  parsed.nodes = agnnodes(parsed.graph.get());
  parsed.edges = agnedges(parsed.graph.get());
  return parsed;
}

std::string Dot(const Ran& trace, const DotOptions& options = {}) {
  std::ostringstream out;
  RenderDot(trace, options, out);
  return out.str();
}

std::string Attribute(const Parsed& parsed, const char* node, const char* name) {
  char* id = const_cast<char*>(node);
  Agnode_t* found = agnode(parsed.graph.get(), id, 0);
  REQUIRE(found != nullptr);
  return agget(found, const_cast<char*>(name));
}

Ran WithNames(const std::string& name) {
  TraceBuilder t;
  const StreamId a = t.Stream(name);
  t.BeginCapture(a, name);
  t.SetStack(t.Stack({{name, name, 3}}));
  t.Kernel(a, name);
  t.Kernel(a, name);
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.process.program = name;
  return trace;
}

}  // namespace

TEST_CASE("each node, edge, stream and graph is there") {
  TraceBuilder t;
  const StreamId a = t.Stream("main"), b = t.Stream();
  t.BeginCapture(a, "step");
  t.Kernel(a, "produce");
  t.Order(a, b);
  t.Memset(b);
  t.ProgrammaticKernel(a, "consume");
  t.Order(b, a);
  const NodeId holder = t.Conditional(a, ConditionalType::kWhile);
  const GraphId body = t.Body(holder);
  t.Add(body, NodeKind::kEmpty);
  t.EndCapture(a);
  const Parsed parsed = Parse(Dot(t.Build()));
  CHECK(parsed.nodes == 5);
  CHECK(parsed.edges == 4 + 1);  // and the link from the conditional node to its body
  Agraph_t* graph = agsubg(parsed.graph.get(), const_cast<char*>("cluster_g0"), 0);
  CHECK(agsubg(graph, const_cast<char*>("cluster_g0_s0"), 0) != nullptr);
  CHECK(agsubg(graph, const_cast<char*>("cluster_g0_s1"), 0) != nullptr);
  CHECK(agsubg(graph, const_cast<char*>("cluster_g1"), 0) != nullptr);
}

TEST_CASE("edges can be told apart without colours") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  const EventId event = t.Event();
  t.BeginCapture(a);
  t.KernelWithEvent(a, event, kPortLaunchCompletion);
  t.Wait(b, event);
  t.Kernel(b);
  t.ProgrammaticKernel(a);
  t.Kernel(a);
  t.EndCapture(a);
  const Parsed parsed = Parse(Dot(t.Build()));
  std::string styles;
  for (Agnode_t* n = agfstnode(parsed.graph.get()); n; n = agnxtnode(parsed.graph.get(), n)) {
    for (Agedge_t* e = agfstout(parsed.graph.get(), n); e; e = agnxtout(parsed.graph.get(), e)) {
      styles += std::string(agnameof(aghead(e))) + "<-" + agnameof(agtail(e)) + " " +
                agget(e, const_cast<char*>("style")) + "\n";
    }
  }
  CHECK(styles == "n2<-n0 dashed\nn1<-n0 dotted\nn3<-n2 solid\n");
}

TEST_CASE("hostile names are data") {
  const std::string names[] = {"\"];} evil [label=\"",
                               "a\nb\r\t\x1b[31m",
                               "<b>&amp;</b>",
                               "\\N\\G\\l\\",
                               "\xff\xfe\x80 \xed\xa0\x80",
                               std::string(10000, '<'),
                               "x::y<" + std::string(10000, 'T') + ">::z(int)",
                               "\xef\xbf\xbf",
                               std::string("nul\0byte", 8),
                               "-->",
                               "]]>",
                               ""};
  for (const std::string& name : names) {
    CAPTURE(name);
    const Parsed parsed = Parse(Dot(WithNames(name)));
    CHECK(parsed.nodes == 2);
    CHECK(parsed.edges == 1);
  }
  const Parsed quoted = Parse(Dot(WithNames("q\"\\n")));
  CHECK(Attribute(quoted, "n0", "tooltip") ==
        R"(node 0, kernel: q"\\n; 1 block of 1; q"/n:3 q"\\n)");
}

TEST_CASE("random bytes as names never break the drawing") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::string name(random() % 60, ' ');
    for (char& c : name) c = static_cast<char>(random());
    CHECK(Parse(Dot(WithNames(name))).nodes == 2);
  }
}

TEST_CASE("one graph can be picked, with what lies inside it") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a, "first");
  t.Kernel(a);
  t.EndCapture(a);
  t.BeginCapture(a, "second");
  t.Kernel(a);
  t.Body(t.Conditional(a, ConditionalType::kIf));
  t.EndCapture(a);
  const Ran trace = t.Build();
  CHECK(Parse(Dot(trace, {.select = {.graph = GraphId(0u)}})).nodes == 1);
  CHECK(Parse(Dot(trace, {.select = {.graph = GraphId(1u)}})).nodes ==
        2 + 1);  // and "no nodes" in the body
}

TEST_CASE("colours, details, a focus and a path are in the drawing") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  const BlockId block = t.Alloc(a, 4096);
  t.Kernel(a, "first", {Writes(block)});
  t.Order(a, b);
  t.Kernel(b, "second", {Reads(block)});
  t.Order(b, a);
  t.Kernel(a, "third");
  t.EndCapture(a);
  const Ran trace = t.Build();
  const Finding finding{.severity = Severity::kError, .nodes = {NodeId(1u)}};
  const Parsed parsed = Parse(Dot(trace, {.select = {.focus = NodeId(0u)},
                                          .colour = ColourBy::kFinding,
                                          .details = {true, true, true},
                                          .path = {NodeId(0u), NodeId(1u), NodeId(2u)},
                                          .findings = {finding}}));
  CHECK(Attribute(parsed, "n0", "label").find("writes block 0") != std::string::npos);
  CHECK(Attribute(parsed, "n0", "label").find("parameters unknown") != std::string::npos);
  CHECK(Attribute(parsed, "n0", "peripheries") == "2");
  CHECK(Attribute(parsed, "n0", "penwidth") == "2.6");
  CHECK(Attribute(parsed, "n1", "fillcolor") == "#f9d9d6");
  CHECK(Attribute(parsed, "n2", "fillcolor") == "#ffffff");
  for (const ColourBy by : {ColourBy::kStream, ColourBy::kPool}) {
    CHECK(Parse(Dot(trace, {.colour = by})).nodes == 3);
  }
}

TEST_CASE("a box says what was changed of its node later") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const GraphId graph = t.BeginCapture(a);
  const NodeId first = t.Memset(a), second = t.Host(a);
  t.Host(a);
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Change(first, exec, NodeChangeKind::kDisabled);
  t.Change(first, {}, NodeChangeKind::kParams);
  t.Change(second, exec, NodeChangeKind::kEnabled);
  const std::string dot = Dot(t.Build(), {.fold = Fold::kNone});
  const size_t said = dot.find("parameters set later, switched off later");
  CHECK(said < dot.find("id=\"node1\""));
  CHECK(dot.find(" later", dot.find("id=\"node1\"")) == std::string::npos);
}

TEST_CASE("a node says what it exchanges, and over which communicator") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const CommunicatorId world = t.Communicator(8, 3), pair = t.Communicator(2, 1);
  t.BeginCapture(stream);
  const NodeId reduce = t.Kernel(stream, "ncclAllReduce");
  t.Collect(pair, CollectiveKind::kAllReduce, 1 << 20, ElementType::kBf16);
  const NodeId group = t.Kernel(stream, "ncclGroupEnd");
  t.Collect(world, CollectiveKind::kSend, 8, ElementType::kFp32, 2);
  t.Collect(world, CollectiveKind::kReceive, 8, ElementType::kFp32, 4);
  t.EndCapture(stream);
  const Ran trace = t.Build();
  CHECK(NameOf(trace, reduce) ==
        "node 0 (ncclAllReduce(count 1048576, bf16, communicator 1 of 2 ranks))");
  CHECK(NameOf(trace, group) ==
        "node 1 (ncclGroupEnd(send count 8, fp32, to 2, communicator 0 of 8 ranks and 1 more))");
  const std::string dot = Dot(trace);
  CHECK(dot.find("count 1048576, bf16, communicator 1 of 2 ranks") != std::string::npos);
}

TEST_CASE("in a grid the names of streams are nodes above it, where no edge runs") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a);
  t.Order(a, b);
  t.Kernel(b);
  t.Order(b, a);
  t.EndCapture(a);
  const Parsed grid = Parse(Dot(t.Build(), {.fold = Fold::kStreams}));
  CHECK(grid.nodes == 2 + 2);
  CHECK(grid.edges == 1 + 2);
  CHECK(Attribute(grid, "title_g0_s0", "shape") == "plaintext");
  CHECK(agedge(grid.graph.get(), agnode(grid.graph.get(), const_cast<char*>("title_g0_s1"), 0),
               agnode(grid.graph.get(), const_cast<char*>("n1"), 0), nullptr, 0) != nullptr);
}

TEST_CASE("many graphs stand in rows and columns, and those left out are counted") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  for (int i = 0; i < 18; ++i) {
    t.BeginCapture(a);
    t.Kernel(a);
    t.EndCapture(a);
  }
  const Ran trace = t.Build();
  CHECK(Parse(Dot(trace)).nodes == 18 + 12);  // in 6 columns, and points between the rows
  CHECK(Parse(Dot(trace)).edges == 2 * 12);
  CHECK(Parse(Dot(trace, {.select = {.most_graphs = 8}})).nodes == 8);
  std::ostringstream out;
  const DotSummary summary = RenderDot(trace, {.select = {.most_graphs = 8}}, out);
  CHECK(summary.graphs_left_out == 10);
  CHECK(summary.notes.back() == "the 8 graphs with the most nodes, of 18");
}

TEST_CASE("folding is said") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 1000; ++i) t.Kernel(a);
  t.EndCapture(a);
  const Ran trace = t.Build();
  std::ostringstream out;
  const DotSummary summary = RenderDot(trace, {}, out);
  CHECK(summary == DotSummary{1000,
                              1,
                              Fold::kChains,
                              {"recorded on the software device (simulated)",
                               "1,000 nodes folded into 1 group, straight chains"}});
  CHECK(out.str().find("1,000 nodes folded into 1 group") != std::string::npos);
}

TEST_CASE("an empty trace is an empty drawing") { CHECK(Parse(Dot(Ran{})).nodes == 0); }

TEST_CASE("what was captured in one NVTX range on one stream is one box") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.SetThread(t.Thread());
  t.BeginCapture(a);
  for (int i = 0; i < 4; ++i) t.Kernel(a, "k");
  t.Order(a, b);
  t.Kernel(b, "k");
  t.Order(b, a);
  for (int i = 0; i < 2; ++i) t.Kernel(a, "k");
  t.EndCapture(a);
  Ran trace = t.Build();
  const auto seq = [&](uint32_t node) { return trace.nodes[node].seq; };
  const auto range = [&](std::string_view name, uint32_t first, uint32_t last) {
    trace.nvtx_ranges.push_back({.thread = ThreadId(0u),
                                 .name = trace.strings.Intern(name),
                                 .begin = seq(first) - 1,
                                 .end = seq(last) + 1});
  };
  range("layer 0", 1, 5);
  range("attention", 2, 3);
  const FoldedGraphs folded = FoldGraphs(trace, std::vector<bool>(7, true), Fold::kNvtx);
  std::vector<std::vector<NodeId>> boxes;
  for (const Box& box : folded.boxes) boxes.push_back(box.nodes);
  const auto ids = [](std::initializer_list<uint32_t> list) {
    return std::vector<NodeId>(list.begin(), list.end());
  };
  CHECK(boxes ==
        std::vector<std::vector<NodeId>>{ids({0}), ids({1, 5}), ids({2, 3}), ids({4}), ids({6})});
  const Parsed parsed = Parse(Dot(trace, {.fold = Fold::kNvtx}));
  CHECK(parsed.nodes == 5);
  CHECK(Attribute(parsed, "n2", "label").find("attention") != std::string::npos);
}

TEST_CASE("ranked by capture, every box is below the one before it") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a, "k");
  t.Order(a, b);
  for (int i = 0; i < 3; ++i) t.Kernel(i % 2 == 0 ? a : b, "k");
  t.Order(b, a);
  t.Kernel(a, "k");
  t.EndCapture(a);
  const Parsed parsed = Parse(Dot(t.Build(), {.rank = RankBy::kCapture}));
  std::set<std::string> chain;
  for (Agnode_t* n = agfstnode(parsed.graph.get()); n; n = agnxtnode(parsed.graph.get(), n)) {
    for (Agedge_t* e = agfstout(parsed.graph.get(), n); e; e = agnxtout(parsed.graph.get(), e)) {
      if (std::string(agget(e, const_cast<char*>("style"))) != "invis") continue;
      chain.insert(std::string(agnameof(agtail(e))) + "->" + agnameof(aghead(e)));
    }
  }
  CHECK(chain == std::set<std::string>{"n0->n1", "n1->n2", "n2->n3", "n3->n4"});
}

TEST_CASE("by duration, a box has the colour of its longest node") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  for (int i = 0; i < 4; ++i) t.Kernel(a, "k");
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.nodes.Change(1, [](Node& node) { node.duration_ns = 999; });
  trace.nodes.Change(2, [](Node& node) { node.duration_ns = 2'000'000; });
  const DotOptions options{.colour = ColourBy::kDuration};
  CHECK(ColourNodes(trace, options) == std::vector<uint32_t>{0, 1, 5, 0});
  const Box box{.nodes = {NodeId(0u), NodeId(2u)}};
  CHECK(KeyOfBox(box, {0, 1, 5, 0}, ColourBy::kDuration) == 5);
}

TEST_CASE("links are filled in, and lead nowhere when there is no source") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.Kernel(a, "k");
  t.SetStack(t.Stack({{"step", "src/a b\"<.cu", 7}}));
  t.Kernel(a, "k");
  t.EndCapture(a);
  const Ran trace = t.Build();
  const std::string link = "https://example.org/{file}#L{line}";
  const Parsed parsed = Parse(Dot(trace, {.link = link}));
  CHECK(Attribute(parsed, "n1", "URL") == "https://example.org/src/a%20b%22%3C.cu#L7");
  CHECK(Attribute(parsed, "n0", "URL") == "");
  CHECK(NodeLink("report.html#node={node}", trace, NodeId(1u)) == "report.html#node=1");
  CHECK(NodeLink("x?a=\"<&\xff>'&n={node}", trace, NodeId(1u)) ==
        "x?a=%22%3C&amp;%FF%3E%27&amp;n=1");
}

}  // namespace graphkit
