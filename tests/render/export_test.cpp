// The presenters of `graphkit export`.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "libgraphkit/analysis/trace_timeline.h"
#include "libgraphkit/render/export/export.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

using nlohmann::json;

//  main:  first ──────────── last          a block of 1 000 B from before first to after it,
//            └── copy: memset ──┘          deferred until the end; one launch
Trace Sample() {
  TraceBuilder t;
  const StreamId main = t.Stream("main"), copy = t.Stream("copy");
  t.BeginCapture(main, "step");
  const BlockId block = t.Alloc(main, 1000);
  t.SetStack(t.Stack({{"step", "step.cu", 42}}));
  t.Kernel(main, "_Z5firstPf");
  t.Order(main, copy);
  t.RequestFree(block);
  t.Memset(copy);
  t.Order(copy, main);
  t.Kernel(main, "=last,\"quoted\"\x1b");
  t.EndCapture(main);
  t.CompleteFree(block);
  t.Launch(t.Instantiate(GraphId(0u)), main);
  return t.Build();
}

// As a tracer records it: an exec whose copies of the nodes have other numbers, and another one of
// which only the id is known.
Trace NamedSample() {
  Trace trace = Sample();
  trace.graphs[0].tool_id = 3;
  trace.execs[0].tool_id = 4;
  trace.execs[0].node_ids = {0, 2};
  trace.tool_id_runs = {{NodeId(0u), 1, uint64_t{4} << 32},
                        {NodeId(1u), 2, (uint64_t{4} << 32) + 8}};
  trace.launches[0].correlation = 77;
  trace.execs.push_back(trace.execs[0]);
  trace.execs[1].tool_id = 6;
  trace.execs[1].node_ids = {};
  return trace;
}

template <typename Render>
std::string Rendered(Render render) {
  std::ostringstream out;
  render(out);
  return out.str();
}

TEST_CASE("a timeline has streams as tracks, nodes and launches as slices, memory as counters") {
  const Trace trace = Sample();
  const Timeline timeline = MakeTimeline(trace, TimeAxis::kOrder);
  CHECK(timeline.tracks == std::vector<std::string>{"stream 0 \"main\"", "stream 1 \"copy\"",
                                                    "stream 0 \"main\": launches"});
  REQUIRE(timeline.slices.size() == 4);
  const TimelineSlice& first = timeline.slices[0];
  CHECK(first.name == "first");
  CHECK(first.begin == trace.nodes[0].seq * 1000);
  CHECK(first.length == 1000);
  CHECK(first.out == std::vector{EdgeId(0u), EdgeId(1u)});
  CHECK(first.in.empty());
  CHECK(first.args[0] == TimelineArg{"node", uint64_t{0}});
  CHECK(first.args.back() == TimelineArg{"source", std::string("step.cu:42 step")});
  CHECK(timeline.slices[2].in == std::vector{EdgeId(1u), EdgeId(2u)});
  CHECK(timeline.slices[3].category == "launch");
  REQUIRE(timeline.counters.size() == 2);
  const Block& block = trace.blocks[0];
  CHECK(timeline.counters[0].samples ==
        std::vector<TimelineSample>{{block.allocated * 1000u, 1024},
                                    {block.free_requested * 1000u, 0}});
  CHECK(timeline.counters[1].samples ==
        std::vector<TimelineSample>{{block.free_requested * 1000u, 1024},
                                    {block.free_completed * 1000u, 0}});
}

TEST_CASE("host time rises strictly, and slices of one track don't overlap") {
  Trace trace = Sample();
  trace.times.assign(trace.records, 5000);  // a clock that stands still
  const Timeline timeline = MakeTimeline(trace, TimeAxis::kHost);
  std::map<uint32_t, Nanoseconds> end;
  for (const TimelineSlice& slice : timeline.slices) {
    CHECK(slice.begin >= end[slice.track]);
    CHECK(slice.length > 0);
    end[slice.track] = slice.begin + slice.length;
  }
}

TEST_CASE("the timeline is JSON with a slice for each node and launch") {
  const Timeline timeline = MakeTimeline(Sample(), TimeAxis::kOrder);
  const json root =
      json::parse(Rendered([&](std::ostream& out) { RenderPerfetto(timeline, out); }));
  std::map<std::string, int> phases;
  for (const json& event : root["traceEvents"]) ++phases[event["ph"].get<std::string>()];
  CHECK(phases == std::map<std::string, int>{{"M", 4}, {"X", 4}, {"s", 3}, {"f", 3}, {"C", 4}});
}

TEST_CASE("CSV quotes what it must, and no field is a formula") {
  CHECK(CsvField("plain") == "plain");
  CHECK(CsvField("a,\"b\"\n") == "\"a,\"\"b\"\"\\n\"");
  CHECK(CsvField("=1+1") == "'=1+1");
  const std::string nodes =
      Rendered([](std::ostream& out) { RenderCsv(Sample(), CsvTable::kNodes, out); });
  std::istringstream lines(nodes);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] ==
        "node,graph,kind,name,stream,seq,destroyed,grid,block_size,shared_bytes,block,duration_ns,"
        "source,tool_id");
  CHECK(rows[1] == "0,0,kernel,first(float*),0,10,,1x1x1,1x1x1,0,,,step.cu:42 step,");
  CHECK(rows[3].find("\"'=last,\"\"quoted\"\"\\x1b\"") != std::string::npos);
  for (const CsvTable table :
       {CsvTable::kEdges, CsvTable::kBlocks, CsvTable::kLaunches, CsvTable::kExecNodes}) {
    const std::string text =
        Rendered([table](std::ostream& out) { RenderCsv(Sample(), table, out); });
    const auto commas =
        std::count(text.begin(), text.begin() + static_cast<long>(text.find('\n')), ',');
    CHECK(std::ranges::count(text, ',') == commas * std::ranges::count(text, '\n'));
  }
}

TEST_CASE("the JSON holds each graph with its nodes and edges") {
  const json root =
      json::parse(Rendered([](std::ostream& out) { RenderGraphsJson(Sample(), out); }));
  CHECK(root["schema"] == "graphkit-graphs");
  const json& graph = root["graphs"][0];
  CHECK(graph["name"] == "step");
  CHECK(graph["nodes"].size() == 3);
  CHECK(graph["nodes"][0]["name"] == "first(float*)");
  CHECK(
      graph["edges"][2] ==
      json{{"id", 2}, {"from", 1}, {"to", 2}, {"from_port", 0}, {"to_port", 0}, {"edge_type", 0}});
}

TEST_CASE(
    "every format has CUPTI's ids of nodes, in their graph and in its execs, and of launches") {
  const Trace trace = NamedSample();
  CHECK(Rendered([&](std::ostream& out) { RenderCsv(trace, CsvTable::kExecNodes, out); }) ==
        "exec,graph,node,tool_id,exec_tool_id,recorded\n"
        "0,0,0,17179869184,4,1\n"
        "0,0,1,17179869192,4,1\n"
        "0,0,2,17179869193,4,1\n"
        "1,0,0,25769803776,6,0\n"
        "1,0,1,25769803777,6,0\n"
        "1,0,2,25769803778,6,0\n");
  CHECK(Rendered([&](std::ostream& out) { RenderCsv(trace, CsvTable::kLaunches, out); }) ==
        "launch,exec,graph,stream,seq,exec_tool_id,correlation\n0,0,0,0,27,4,77\n");
  const json root = json::parse(Rendered([&](std::ostream& out) { RenderGraphsJson(trace, out); }));
  CHECK(root["graphs"][0]["nodes"][1]["tool_id"] == 12884901889);
  CHECK(root["execs"] ==
        json::parse(R"([{"id": 0, "graph": 0, "tool_id": 4, "flags": 0, "recorded": true,
                         "node_ids": [[0, 1, 17179869184], [1, 2, 17179869192]]},
                        {"id": 1, "graph": 0, "tool_id": 6, "flags": 0, "recorded": false,
                         "node_ids": [[0, 3, 25769803776]]}])"));
  CHECK(root["launches"] ==
        json::parse(R"([{"id": 0, "exec": 0, "stream": 0, "seq": 27, "correlation": 77}])"));
  const Timeline timeline = MakeTimeline(trace, TimeAxis::kOrder);
  const auto has = [](const TimelineSlice& slice, std::string_view key, uint64_t value) {
    return std::ranges::count(slice.args, TimelineArg{key, value}) == 1;
  };
  CHECK(has(timeline.slices[1], "tool_id", 12884901889));
  CHECK(has(timeline.slices[1], "exec_node_tool_id", 17179869192));
  CHECK(has(timeline.slices[3], "correlation", 77));
  CHECK(has(timeline.slices[3], "exec_tool_id", 4));
}

}  // namespace
}  // namespace graphkit
