// The presenters of `graphkit export`.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/build_trace.h"
#include "tools/graphkit/export/export.h"

namespace graphkit {
namespace {

using nlohmann::json;

//  main:  first ──────────── last          a block of 1 000 B from before first to after it,
//            └── copy: memset ──┘          deferred until the end; one launch
Ran Sample() {
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
Ran NamedSample() {
  Ran trace = Sample();
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

// The events of a trace's timeline of one phase: "X" of slices, "C" of counters.
std::vector<json> EventsOf(const Ran& trace, std::string_view phase,
                           TimeAxis axis = TimeAxis::kOrder) {
  const json root = json::parse(Rendered([&](std::ostream& out) {
    RenderExport(trace, {.format = ExportFormat::kPerfetto, .axis = axis}, out);
  }));
  std::vector<json> events;
  for (const json& event : root["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

TEST_CASE("a timeline has streams as tracks, nodes and launches as slices, memory as counters") {
  const Ran trace = Sample();
  std::vector<std::string> tracks;
  for (const json& name : EventsOf(trace, "M")) tracks.push_back(name["args"]["name"]);
  CHECK(tracks == std::vector<std::string>{"trace", "stream 0 \"main\"", "stream 1 \"copy\"",
                                           "stream 0 \"main\": launches"});
  const std::vector<json> slices = EventsOf(trace, "X");
  REQUIRE(slices.size() == 4);
  CHECK(slices[0]["name"] == "first");
  CHECK(slices[0]["ts"] == trace.nodes[0].seq);
  CHECK(slices[0]["dur"] == 1);
  CHECK(slices[0]["args"]["node"] == 0);
  CHECK(slices[0]["args"]["source"] == "step.cu:42 step");
  CHECK(slices[3]["cat"] == "launch");
  const Block& block = trace.blocks[0];
  std::vector<std::tuple<bool, double, int64_t>> samples;  // true: of live bytes
  for (const json& event : EventsOf(trace, "C")) {
    const bool live = event["name"].get<std::string>().ends_with(": live bytes");
    samples.emplace_back(live, event["ts"], event["args"]["bytes"]);
  }
  CHECK(samples ==
        std::vector<std::tuple<bool, double, int64_t>>{{true, block.allocated, 1024},
                                                       {true, block.free_requested, 0},
                                                       {false, block.free_requested, 1024},
                                                       {false, block.free_completed, 0}});
}

TEST_CASE("flows of a timeline lead from the slices where edges begin to those where they end") {
  const Ran trace = Sample();
  const auto ends = [&](std::string_view phase, const std::vector<uint32_t>& nodes) {
    const std::vector<json> flows = EventsOf(trace, phase);
    REQUIRE(flows.size() == nodes.size());
    for (const json& flow : flows) {
      CHECK(flow["ts"] == trace.nodes[nodes[flow["id"].get<size_t>()]].seq);
    }
  };
  ends("s", {0, 0, 1});
  ends("f", {1, 2, 2});
}

TEST_CASE("host time rises strictly, and slices of one track don't overlap") {
  Ran trace = Sample();
  trace.times.assign(trace.records, 5000);  // a clock that stands still
  std::map<uint32_t, double> end;
  for (const json& slice : EventsOf(trace, "X", TimeAxis::kHost)) {
    CHECK(slice["ts"] >= end[slice["tid"]]);
    CHECK(slice["dur"] > 0);
    end[slice["tid"]] = slice["ts"].get<double>() + slice["dur"].get<double>();
  }
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
  const Ran trace = NamedSample();
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
  const std::vector<json> slices = EventsOf(trace, "X");
  CHECK(slices[1]["args"]["tool_id"] == 12884901889);
  CHECK(slices[1]["args"]["exec_node_tool_id"] == 17179869192);
  CHECK(slices[3]["args"]["correlation"] == 77);
  CHECK(slices[3]["args"]["exec_tool_id"] == 4);
}

}  // namespace
}  // namespace graphkit
