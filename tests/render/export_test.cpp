// The presenters of `graphkit export`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "libgraphkit/model/build_trace.h"
#include "libgraphkit/render/export/chrome_trace.h"
#include "libgraphkit/render/export/csv.h"
#include "libgraphkit/render/export/json.h"
#include "libgraphkit/render/export/perfetto.h"
#include "libgraphkit/render/export/protobuf_writer.h"
#include "libgraphkit/render/export/timeline.h"

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

// As much of a protobuf decoder as reading these back takes: fields by number, values as they are.
struct Field {
  uint64_t number = 0, value = 0;
  std::string bytes = {};
};

uint64_t TakeVarint(std::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0; !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::vector<Field> Decode(std::string_view in) {
  std::vector<Field> fields;
  while (!in.empty()) {
    const uint64_t tag = TakeVarint(in);
    Field field{.number = tag >> 3};
    if ((tag & 7) == 0) {
      field.value = TakeVarint(in);
    } else {
      REQUIRE(((tag & 7) == 1 || (tag & 7) == 2));
      const size_t length = (tag & 7) == 1 ? 8 : TakeVarint(in);
      REQUIRE(length <= in.size());
      field.bytes = in.substr(0, length);
      in.remove_prefix(length);
    }
    fields.push_back(field);
  }
  return fields;
}

const Field* Find(const std::vector<Field>& fields, uint64_t number) {
  const auto found = std::ranges::find(fields, number, &Field::number);
  return found == fields.end() ? nullptr : &*found;
}

TEST_CASE("protobuf's wire format") {
  ProtobufWriter inner, outer;
  inner.Varint(1, 150);
  outer.Message(3, inner);
  outer.String(2, "testing");
  outer.Fixed64(5, 0x0102030405060708);
  CHECK(outer.bytes() ==
        std::string("\x1a\x03\x08\x96\x01\x12\x07testing\x29\x08\x07\x06\x05\x04\x03\x02\x01"));
}

TEST_CASE("the Perfetto trace reads back: tracks, slices that begin and end, flows, counters") {
  const Timeline timeline = MakeTimeline(Sample(), TimeAxis::kOrder);
  const std::string bytes = Rendered([&](std::ostream& out) { RenderPerfetto(timeline, out); });
  std::map<uint64_t, uint64_t> events;  // by type
  std::vector<std::string> names, tracks;
  size_t flows = 0, terminating = 0;
  for (const Field& packet : Decode(bytes)) {
    REQUIRE(packet.number == 1);
    const std::vector<Field> fields = Decode(packet.bytes);
    CHECK(Find(fields, 10)->value == 1);
    if (const Field* descriptor = Find(fields, 60)) {
      const auto described = Decode(descriptor->bytes);
      if (const Field* name = Find(described, 2)) tracks.push_back(name->bytes);
    }
    if (const Field* event = Find(fields, 11)) {
      const auto parts = Decode(event->bytes);
      ++events[Find(parts, 9)->value];
      if (const Field* name = Find(parts, 23)) names.push_back(name->bytes);
      flows += static_cast<size_t>(std::ranges::count(parts, 47u, &Field::number));
      terminating += static_cast<size_t>(std::ranges::count(parts, 48u, &Field::number));
    }
  }
  CHECK(tracks.size() == timeline.tracks.size() + timeline.counters.size());
  CHECK(events == std::map<uint64_t, uint64_t>{{1, 4}, {2, 4}, {4, 4}});
  CHECK(names[0] == "first");
  CHECK(flows == 3);
  CHECK(terminating == 3);
}

TEST_CASE("the Chrome trace is JSON with a slice for each node and launch") {
  const Timeline timeline = MakeTimeline(Sample(), TimeAxis::kOrder);
  const json root =
      json::parse(Rendered([&](std::ostream& out) { RenderChromeTrace(timeline, out); }));
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

// For the test that reads it with Perfetto's own definitions: see perfetto_format.py.
TEST_CASE("a sample is written for validation") {
  const std::filesystem::path folder = GRAPHKIT_BUILD "/tests/export_samples";
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "sample.pftrace", std::ios::binary);
  RenderPerfetto(MakeTimeline(Sample(), TimeAxis::kOrder), out);
  CHECK(out.good());
}

}  // namespace
}  // namespace graphkit
