#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"
#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/import/node_times.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/io/trace/trace_file.h"

namespace graphkit {
namespace {

Imported Read(const char* format, const std::string& text) {
  std::string bytes = text;
  bytes.reserve(text.size() + kReadPadding);
  Result<Imported> imported = FindFormat(format)->read(bytes);
  REQUIRE_MESSAGE(imported.has_value(), Describe(imported.error()));
  // Whatever is imported is a sound trace.
  const Result<std::string> written = FormatTrace(imported->trace);
  REQUIRE_MESSAGE(written.has_value(), Describe(written.error()));
  const Result<Trace> again = ParseTrace(*written, "test");
  REQUIRE_MESSAGE(again.has_value(), Describe(again.error()));
  CHECK(*again == imported->trace);
  return std::move(*imported);
}

Imported ReadSample(const std::string& name, const FileFormat* format = nullptr) {
  Result<Imported> imported = ImportFile(std::string(GRAPHKIT_TESTDATA) + "/" + name, format);
  REQUIRE_MESSAGE(imported.has_value(), Describe(imported.error()));
  return std::move(*imported);
}

Error ErrorIn(const char* format, const std::string& text) {
  std::string bytes = text;
  bytes.reserve(text.size() + kReadPadding);
  const Result<Imported> imported = FindFormat(format)->read(bytes);
  REQUIRE_FALSE(imported.has_value());
  return imported.error();
}

std::string ErrorOf(const char* format, const std::string& text) {
  return ErrorIn(format, text).message;
}

// "0 kernel a", "1 memcpy" and "0->1" of all graphs.
std::vector<std::string> Drawn(const Trace& trace) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    std::string line = std::to_string(i) + " " + NodeKindName(node.kind);
    if (node.kernel) line += " " + std::string(trace[trace[node.kernel].name]);
    lines.push_back(line);
  }
  for (const Edge& edge : trace.edges) {
    lines.push_back(std::to_string(edge.from.value) + "->" + std::to_string(edge.to.value));
  }
  return lines;
}

using Lines = std::vector<std::string>;

Lines SummaryOf(const Imported& imported) {
  REQUIRE(imported.trace.imported_from.size() == 1);
  return {std::string(imported.trace[imported.trace.imported_from[0].summary])};
}

const Lines kSample = {"0 kernel _Z6squarePfi",
                       "1 memcpy",
                       "2 kernel _Z3addPfS_i",
                       "3 event_record",
                       "0->1",
                       "0->2",
                       "1->3",
                       "2->3"};

TEST_CASE("the same graph is read from DOT and from PyTorch's graph data, with its tools ids") {
  for (const char* file : {"import/step.dot", "import/graph_data.pickle"}) {
    CAPTURE(file);
    const Imported imported = ReadSample(file);
    CHECK(Drawn(imported.trace) == kSample);
    CHECK(imported.trace.graphs[0].tool_id == 5);
    CHECK(imported.tool_ids.at(NodeId(2u)) == (uint64_t{5} << 32 | 2));
    const LaunchShape shape = imported.trace.shapes[imported.trace.nodes[0].shape];
    CHECK(shape == LaunchShape{{4, 2, 1}, {128, 1, 1}, 0});
  }
}

TEST_CASE("graph data of PyTorch 2.15 has the data of edges and the names of host functions") {
  const Trace trace = ReadSample("import/graph_edges.pickle").trace;
  REQUIRE(trace.edges.size() == 2);
  CHECK(trace.edges[0].full());
  CHECK(trace.edges[1].from == NodeId(0u));
  CHECK(trace.edges[1].to == NodeId(2u));
  CHECK(trace.edges[1].from_port == kPortProgrammatic);
  CHECK(trace.edges[1].type == EdgeType::kProgrammatic);
  CHECK(trace.shapes[trace.nodes[0].shape].shared_bytes == 1024);
  REQUIRE(RowsAt(trace.node_labels, trace.nodes[1].seq).size() == 1);
  CHECK(trace[RowsAt(trace.node_labels, trace.nodes[1].seq)[0].text] == "on_step(void*)");
  CHECK(IsComplete(trace));
}

TEST_CASE("launch stacks and annotations of PyTorch are read, by node") {
  const Imported stacks = ReadSample("import/node_stacks.json");
  REQUIRE(stacks.origins.size() == 3);
  CHECK(stacks.origins[0].tool_id == (uint64_t{5} << 32));
  CHECK(stacks.origins[0].stack == stacks.origins[1].stack);
  const Trace& trace = stacks.trace;
  REQUIRE(trace.stacks.size() == 2);
  const StackFrame& frame =
      trace.stack_frames[trace.stacks[stacks.origins[0].stack.index()].frames.first];
  CHECK(trace[frame.file] == "/app/model.py");
  CHECK(frame.line == 12);
  CHECK(trace[frame.function] == "forward");

  const Imported annotations = ReadSample("import/node_annotations.json");
  REQUIRE(annotations.origins.size() == 2);
  CHECK(annotations.origins[0].label == "attention");
  const std::string& label = annotations.origins[1].label;
  CHECK(label.find("mlp") != std::string::npos);
  CHECK(label.find("layer 3") != std::string::npos);
  const Result<Imported> pickled =
      ImportFile(std::string(GRAPHKIT_TESTDATA) + "/import/node_annotations.pickle",
                 FindFormat("torch-nodes"));
  REQUIRE(pickled.has_value());
  REQUIRE(pickled->origins.size() == 2);
  CHECK(pickled->origins[0] == annotations.origins[0]);
  CHECK(pickled->origins[1].tool_id == annotations.origins[1].tool_id);

  CHECK(ErrorOf("torch-nodes", "{}").starts_with("no launch stacks or annotations of PyTorch"));
  CHECK(ErrorOf("torch-nodes", R"({"7": "a.py:1:f", "x": "b"})") ==
        "no launch stacks or annotations of PyTorch: 'x' isn't a node's id");
}

TEST_CASE("launch stacks that aren't JSON, cut off or nested without end are errors with a place") {
  CHECK(Describe(ErrorIn("torch-nodes", R"({"7": x})"))
            .starts_with("no launch stacks or annotations of PyTorch: it isn't JSON at byte 6"));
  CHECK(Describe(ErrorIn("torch-nodes", R"({"7": "a.py:1:f")")) ==
        "the JSON ends in the middle at byte 16; the file was cut off: write it again");
  const size_t deep = 200'000;
  CHECK(ErrorOf("torch-nodes", R"({"7": {"shape": )" + std::string(deep, '[') + "1e999" +
                                   std::string(deep, ']') + "}}") ==
        "no launch stacks or annotations of PyTorch: a number is out of range");
  const std::string nested =
      R"({"7": {"shape": )" + std::string(deep, '[') + std::string(deep, ']') + "}}";
  CHECK(Read("torch-nodes", nested).origins.size() == 1);
}

TEST_CASE("drawings that the driver made are read") {
  const Trace trace = ReadSample("dot/cuda_graph.dot").trace;
  CHECK(Drawn(trace) ==
        Lines{"0 kernel _Z10exp_kernelPKfPfi", "1 kernel _Z11relu_kernelPKfPfi", "0->1"});
  CHECK(trace.shapes[0] == LaunchShape{{390625, 1, 1}, {256, 1, 1}, 0});
  CHECK(ReadSample("dot/cuda_graph_km.dot").trace.nodes.size() == 2);
}

// A graph with a node of every type, as an H200 with driver 580.159.04 drew it.
TEST_CASE("drawings of every type of node are read alike at every flag") {
  const Lines expected = {"0 mem_alloc",
                          "1 memset",
                          "2 kernel _Z5TouchPf",
                          "3 memcpy",
                          "4 host",
                          "5 event_record",
                          "6 event_wait",
                          "7 graph",
                          "8 semaphore_signal",
                          "9 semaphore_wait",
                          "10 batch_mem_op",
                          "11 conditional",
                          "12 empty",
                          "13 mem_free",
                          "14 graph",
                          "15 empty",
                          "16 kernel _Z5TouchPf",
                          "17 empty",
                          "18 kernel _Z5TouchPf",
                          "0->1",
                          "0->2",
                          "1->2",
                          "2->3",
                          "3->4",
                          "4->5",
                          "5->6",
                          "6->7",
                          "7->8",
                          "8->9",
                          "9->10",
                          "9->11",
                          "10->12",
                          "11->12",
                          "12->13",
                          "15->16"};
  for (const char* file :
       {"h200_plain", "h200_verbose", "h200_all_flags", "h200_handles_and_shapes"}) {
    CAPTURE(file);
    const Trace trace = ReadSample("dot/" + std::string(file) + ".dot").trace;
    CHECK(Drawn(trace) == expected);
    REQUIRE(trace.graphs.size() == 5);
    CHECK(trace.graphs[1].parent == NodeId(7u));
    CHECK(trace.graphs[2].parent == NodeId(14u));
    CHECK(trace.graphs[3].origin == GraphOrigin::kBody);
    CHECK(trace.graphs[4].parent == NodeId(11u));
    CHECK(trace.graphs[4].body == 1);
    if (file != std::string("h200_plain"))
      CHECK(trace.shapes[0] == LaunchShape{{16, 10, 2}, {8, 4, 1}, 256});
  }
}

TEST_CASE("a file without sizes of memory says so") {
  const auto why = [](const char* file) { return ReadSample(file).trace.process.unknown_memory; };
  CHECK(why("import/step.dot") == "a drawing has no sizes of memory");
  CHECK(why("import/graph_data.pickle") == "PyTorch's graph data has no memory");
  CHECK(why("import/profile.json") == "a profile has no memory");
  for (const char* file : {"import/snapshot.pickle", "import/rmm.csv", "import/trace.json"}) {
    CAPTURE(file);
    CHECK(why(file).empty());
  }
}

// "kernel k 64,4,49152": kind, name, grid x, block y, shared bytes; then the graphs inside.
std::string Read(const DotAttributes& attributes) {
  const DrawnNode drawn = ReadDrawnNode(attributes);
  const DraftNode& node = drawn.node;
  std::string text = std::string(NodeKindName(node.kind)) + " " + node.kernel + " " +
                     std::to_string(node.shape.grid[0]) + "," +
                     std::to_string(node.shape.block[1]) + "," +
                     std::to_string(node.shape.shared_bytes);
  for (const std::string& graph : drawn.graphs) text += " " + graph;
  return text;
}

TEST_CASE("a label says kind, kernel and shape, in long and in short") {
  const auto record = [](const char* label) { return Read({label, "record", "solid"}); };
  const auto plain = [](const char* label) { return Read({label, {}, {}}); };
  CHECK(record("{KERNEL\n| {ID | 15 (topoId: 4) | k\\<\\<\\<64,\\{32,4\\},49152\\>\\>\\>}}") ==
        "kernel k 64,4,49152");
  CHECK(plain("0\\nk\\<\\<\\<2,1,0\\>\\>\\>") == "kernel k 2,1,0");
  CHECK(record("{KERNEL | {ID | 3 | _Z1kv}}") == "kernel _Z1kv 1,1,0");
  CHECK(record("{MEM_ALLOC\n| {{ID | node handle} | {1 | 0x0}}}") == "mem_alloc  1,1,0");
  CHECK(record("{\nMEMCPY\n| {{ID | node handle} | {2 (topoId: 1) | 0x0}}\n| {kind | DtoD}}") ==
        "memcpy  1,1,0");
  CHECK(plain("3\\nMEMSET\\n") == "memset  1,1,0");
  CHECK(plain("") == "unknown  1,1,0");
}

TEST_CASE("without flags a kernel is an octagon, and its name is on the second line") {
  CHECK(Read({"0\n_Z5saxpyifPfS_\n", "octagon", "bold"}) == "kernel _Z5saxpyifPfS_ 1,1,0");
  CHECK(Read({"10\nhost\n", "octagon", "bold"}) == "kernel host 1,1,0");
  CHECK(Read({"10\ngraph_7\n", "octagon", "bold"}) == "kernel graph_7 1,1,0");
  CHECK(Read({"1\nvoid a::k<int, 2>({lambda(int)#1}|x)\n", "octagon", "bold"}) ==
        "kernel void a::k<int, 2>({lambda(int)#1}|x) 1,1,0");
  CHECK(Read({"4\n_Z1kv\n", "ellipse", "bold"}) == "kernel _Z1kv 1,1,0");
  CHECK(Read({"4\ngraph_131\n", "rectangle", "solid"}) == "graph  1,1,0 graph_131");
  CHECK(Read({"4\nEXT_SEMAS_WAIT\n", "rectangle", "solid"}) == "semaphore_wait  1,1,0");
  CHECK(Read({"4\nMEMCPY\n(HtoD,4096)\n", "trapezium", "solid"}) == "memcpy  1,1,0");
  CHECK(Read({"4\n", "invtrapezium", "solid"}) == "memset  1,1,0");
  CHECK(Read({"4\nCONDITIONAL\ngraph_2\ngraph_3\n", "rectangle", "solid"}) ==
        "conditional  1,1,0 graph_2 graph_3");
  CHECK(Read({"4\nsomething new\n", "rectangle", "solid"}) == "unknown  1,1,0");
}

// As MLX writes them (MLX_SAVE_CUDA_GRAPHS_DOT_FILE): flags 0, a child graph in a child graph.
constexpr const char* kNested = R"(digraph dot {
subgraph cluster_3 {
label="graph_3" graph[style="dashed"];
"graph_3_node_0"[style="bold" shape="octagon" label="0
_Z4copyPf
"];

"graph_3_node_1"[style="solid" shape="rectangle" label="1
graph_4
"];

"graph_3_node_2"[style="solid" shape="rectangle" label="2
MEM_ALLOC
"];

"graph_3_node_0" -> "graph_3_node_1";
"graph_3_node_1" -> "graph_3_node_2";
}
subgraph cluster_4 {
label="graph_4" graph[style="dashed"];
"graph_4_node_0"[style="solid" shape="rectangle" label="0
graph_5
"];

}
subgraph cluster_5 {
label="graph_5" graph[style="dashed"];
"graph_5_node_0"[style="bold" shape="octagon" label="0
cudnn_sdpa_fprop_kernel0_0
"];

}
}
)";

TEST_CASE("DOT: a drawing without flags gives kernels, and graphs where nodes name them") {
  const Imported imported = Read("dot", kNested);
  const Trace& trace = imported.trace;
  CHECK(Drawn(trace) == Lines{"0 kernel _Z4copyPf", "1 graph", "2 mem_alloc", "3 graph",
                              "4 kernel cudnn_sdpa_fprop_kernel0_0", "0->1", "1->2"});
  REQUIRE(trace.graphs.size() == 3);
  CHECK(trace.graphs[1].parent == NodeId(1u));
  CHECK(trace.graphs[2].parent == NodeId(3u));
  CHECK(trace.graphs[2].origin == GraphOrigin::kChild);
  CHECK(SummaryOf(imported) == Lines{"3 graphs, 5 nodes, 2 edges"});
}

TEST_CASE("DOT: an inner graph that stands first comes after the node that holds it") {
  const Trace trace = Read("dot", R"(digraph dot {
    subgraph cluster_2 { label="graph_2"; "graph_2_node_0"[shape="octagon" label="0\nk"]; }
    subgraph cluster_3 { label="graph_3"; }
    subgraph cluster_1 { label="graph_1";
      "graph_1_node_0"[shape="record" label="{CONDITIONAL|{ID|0}|{graph|graph_3}|{graph|graph_2}}"];
    }})")
                          .trace;
  CHECK(Drawn(trace) == Lines{"0 conditional", "1 kernel k"});
  REQUIRE(trace.graphs.size() == 3);
  CHECK(trace[trace.graphs[1].name] == "graph_3");
  CHECK(trace.graphs[1].body == 0);
  CHECK(trace.graphs[2].origin == GraphOrigin::kBody);
  CHECK(trace.graphs[2].body == 1);
  CHECK(trace.graphs[2].parent == NodeId(0u));
}

TEST_CASE("DOT: graphs that hold each other, one held twice and one that isn't drawn are said") {
  const Imported imported = Read("dot", R"(digraph dot {
    subgraph cluster_1 { label="graph_1";
      "graph_1_node_0"[shape="rectangle" label="0\ngraph_2"];
      "graph_1_node_1"[shape="rectangle" label="1\ngraph_2"];
      "graph_1_node_2"[shape="rectangle" label="2\ngraph_9"]; x[label="?"] }
    subgraph cluster_2 { label="graph_2";
      "graph_2_node_0"[shape="rectangle" label="0\ngraph_1"]; }})");
  CHECK(imported.trace.graphs.size() == 2);
  CHECK_FALSE(imported.trace.graphs[0].parent.valid());
  CHECK(imported.trace.graphs[1].parent == NodeId(0u));
  CHECK(SummaryOf(imported) ==
        Lines{"2 graphs, 5 nodes, 0 edges; the kind of 1 node isn't known; passed over: 3 lines or "
              "names that would hold one graph in another"});
}

TEST_CASE("DOT: nodes may come after their edges, in any order, and without labels") {
  CHECK(Drawn(Read("dot", "digraph g { b -> c; a -> b -> d; a [label=\"HOST\"] }").trace) ==
        Lines{"0 host", "1 unknown", "2 unknown", "3 unknown", "1->2", "1->3", "0->1"});
  CHECK(ErrorOf("dot", "digraph g { a -> b; b -> a }") ==
        "the edges of graph '' go round in a circle");
  CHECK(ErrorOf("dot", "digraph g { a -> b;") == "the DOT text ends in the middle");
}

TEST_CASE("DOT: a line into another cluster embeds its graph") {
  const Trace trace = Read("dot", R"(digraph dot {
    subgraph cluster_1 { label="outer";
      "graph_1_node_0"[label="{GRAPH|{ID|0}}"];
      subgraph cluster_2 { label="inner"; "graph_2_node_0"[label="{EMPTY|{ID|0}}"]; }
    }
    "graph_1_node_0" -> "graph_2_node_0";
  })")
                          .trace;
  REQUIRE(trace.graphs.size() == 2);
  CHECK(trace[trace.graphs[1].name] == "inner");
  CHECK(trace.graphs[1].parent == NodeId(0u));
  CHECK(trace.graphs[1].origin == GraphOrigin::kChild);
  CHECK(trace.edges.empty());
}

TEST_CASE("graph data whose edges carry data that isn't known is incomplete") {
  // {'nodes': [{'node_type': 'empty', 'dependencies': [], 'edge_data': [1]}]}
  const std::string pickle =
      "\x80\x04}\x8c\x05nodes]}(\x8c\x09node_type\x8c\x05"
      "empty\x8c\x0c"
      "dependencies]\x8c\x09"
      "edge_data]K\x01"
      "auas.";
  CHECK_FALSE(IsComplete(Read("torch-graph", pickle).trace));
}

TEST_CASE("graph data with a dependency on nothing is an error") {
  // {'nodes': [{'node_type': 'empty', 'dependencies': [3]}]}
  const std::string pickle =
      "\x80\x04}\x8c\x05nodes]}(\x8c\x09node_type\x8c\x05"
      "empty\x8c\x0c"
      "dependencies]K\x03"
      "auas.";
  CHECK(ErrorOf("torch-graph", pickle) ==
        "not graph data of PyTorch: a dependency is no node of the graph");
}

TEST_CASE("a profile says how long nodes ran, from Kineto and from Nsight Systems alike") {
  const std::vector<NodeTime> times = {{uint64_t{5} << 32, "_Z6squarePfi", 2, 11'000},
                                       {uint64_t{5} << 32 | 1, "", 2, 4'000},
                                       {uint64_t{5} << 32 | 2, "_Z3addPfS_i", 2, 6'500}};
  for (const char* file : {"import/profile.json", "import/profile.sqlite"}) {
    CAPTURE(file);
    if (std::string(file).ends_with("sqlite") && !GRAPHKIT_SQLITE) continue;
    const Imported imported = ReadSample(file);
    CHECK(imported.times == times);
    CHECK(imported.trace.nodes[0].duration_ns == 5'500);
    CHECK(imported.trace.graphs[0].tool_id == 5);
    CHECK_FALSE(IsComplete(imported.trace));
  }
}

TEST_CASE("an export of Nsight Systems 2026 says when graphs were made and instantiated") {
  if (!GRAPHKIT_SQLITE) return;
  const Trace trace = ReadSample("import/graph_events.sqlite").trace;
  REQUIRE(trace.graphs.size() == 3);  // 7; 8, which is never launched; 9, which nobody made
  CHECK(trace.graphs[1].tool_id == 8);
  REQUIRE(trace.execs.size() == 3);
  CHECK(trace.execs[0].graph == GraphId(size_t{0}));
  CHECK(trace.execs[0].tool_id == 70);
  CHECK(trace.execs[1].tool_id == 80);
  REQUIRE(trace.launches.size() == 3);
  CHECK(trace.launches[0].exec == ExecId(size_t{0}));
  CHECK(trace.launches[2].exec == ExecId(size_t{2}));
  CHECK(trace.execs[1].created < trace.launches[0].seq);
}

TEST_CASE("a profile without the ids of nodes says what there is instead, whichever tool's it is") {
  const std::string instead =
      "the profile names no graph nodes: which of its 6 kernels, copies and sets ran in its 2 "
      "graph "
      "launches isn't known; ";
  const std::string summary =
      "6 kernels, copies and sets, none of them named as a run of a graph node; 2 graph launches";
  for (const char* file : {"import/no_nodes.json", "import/no_nodes.sqlite"}) {
    CAPTURE(file);
    if (std::string(file).ends_with("sqlite") && !GRAPHKIT_SQLITE) continue;
    const Imported imported = ReadSample(file);
    REQUIRE(imported.trace.completeness.notes.size() == 1);
    CHECK(imported.trace.completeness.notes[0].starts_with(instead));
    CHECK(SummaryOf(imported)[0].find(summary) != std::string::npos);
    CHECK(imported.times.empty());
  }
}

TEST_CASE("launches of graphs are counted by whatever name the API has, and once") {
  const auto launches = [](std::initializer_list<const char*> names) {
    GraphLaunchCalls calls;
    for (const char* name : names) calls.Take(name);
    return calls.count();
  };
  CHECK(launches({"hipGraphLaunch", "hipGraphLaunch", "hipLaunchKernel"}) == 2);
  CHECK(launches({"cudaGraphLaunch_v10000", "cudaGraphLaunch_ptsz_v10000", "cuGraphLaunch"}) == 2);
  CHECK(launches({"cuGraphLaunch", "cuGraphLaunch_ptsz"}) == 2);
  CHECK(launches({"cudaGraphLaunchSomethingElse", "torch.cudaGraphLaunch"}) == 0);
  const Imported imported = Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k","dur":1},
      {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch"}])");
  CHECK(SummaryOf(imported)[0].ends_with("; 1 graph launch"));
  CHECK(Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k"}])").trace.completeness.notes ==
        Lines{"the profile launches no graph, only 1 kernel, copy or set"});
  const Imported idle = Read("kineto", R"([{"ph":"X","cat":"cpu_op","name":"aten::add"}])");
  CHECK(SummaryOf(idle) == Lines{"1 event, no work on a GPU"});
  CHECK(idle.trace.completeness.notes == Lines{"the profile holds no work on a GPU"});
}

TEST_CASE("runs without a duration that can be don't count for a node's, and long ones are kept") {
  const Imported imported = Read("kineto", R"([
      {"ph":"X","cat":"kernel","name":"k","dur":5000000,"args":{"graph node id":12884901895}},
      {"ph":"X","cat":"kernel","name":"k","dur":-7,"args":{"graph node id":12884901895}},
      {"ph":"X","cat":"kernel","name":"k","dur":NaN,"args":{"graph node id":12884901895}}])");
  CHECK(imported.times == std::vector<NodeTime>{{uint64_t{3} << 32 | 7, "k", 1, 5'000'000'000}});
  CHECK(imported.trace.nodes[0].duration_ns == 5'000'000'000);
}

TEST_CASE("a node id inside its graph is joined with the graph's id") {
  const Imported imported = Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k","dur":1.5,
      "args":{"graph id":3,"graph node id":7}},
      {"ph":"X","cat":"kernel","name":"eager","dur":1,"args":{"graph id":0,"graph node id":0}}])");
  CHECK(imported.times == std::vector<NodeTime>{{uint64_t{3} << 32 | 7, "k", 1, 1500}});
}

TEST_CASE("profiles recorded on GPUs are read, compressed") {
  for (const char* file :
       {"critical_path__cuda_event_sync__event_sync_trace.json.gz",
        "critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz"}) {
    CHECK(ReadSample(std::string("kineto/") + file).times.empty());
  }
}

TEST_CASE("a profile that isn't JSON is an error, one that is cut off is incomplete") {
  CHECK(ErrorOf("kineto", "{\"traceEvents\": 3}").starts_with("not a profile of PyTorch: "));
  CHECK(ErrorOf("kineto", "[{\"ph\":\"X\"").starts_with("not a profile of PyTorch: "));
}

TEST_CASE("the rows of RMM's log are allocations, frees and failures") {
  const Imported imported = ReadSample("import/rmm.csv");
  const Trace& trace = imported.trace;
  REQUIRE(trace.blocks.size() == 2);
  CHECK(trace.blocks[0].freed());
  CHECK(trace[trace.blocks[1].stream].handle == 2);
  CHECK_FALSE(trace.blocks[1].freed());
  REQUIRE(trace.failures.size() == 1);
  CHECK(IsComplete(trace));
  // Past midnight.
  CHECK(trace.times[trace.blocks[1].allocated] - trace.times[trace.blocks[0].allocated] ==
        2'000'000);
}

TEST_CASE("RMM: columns may stand anywhere; what can't be read or matched is said") {
  const Trace trace = Read("rmm",
                           "Stream,Size,Pointer,Action,Time,Thread\n0,8,0x10,allocate,1:2:3,1\n"
                           "0,8,0x20,deallocate,1:2:4,1\nnonsense\n")
                          .trace;
  CHECK(trace.blocks.size() == 1);
  CHECK(trace.completeness.notes ==
        std::vector<std::string>{"1 row of the log could not be read",
                                 "the log lacks the other end of 1 allocation or free"});
  CHECK(ErrorOf("rmm", "Thread,Time\n") == "not a log of RMM: its first line lacks columns");
}

TEST_CASE("a log with a size that nothing has is refused") {
  const std::string head = "Thread,Time,Action,Pointer,Size,Stream\n";
  CHECK(ErrorOf("rmm", head + "1,1:2:3,allocate,0x10,18446744073709551615,0\n") ==
        "impossible sizes or addresses: block 0 has more than 2^56 bytes, which is more than there "
        "can be");
  CHECK(ErrorOf("rmm", head + "1,1:2:3,allocate,0xffffffffffffffff,8,0\n") ==
        "impossible sizes or addresses: block 0 ends beyond 2^64");
}

TEST_CASE("numbers of a profile aren't cut: device 2^32 isn't device 0") {
  TraceMaker make;
  CHECK(make.Stream(7, 1) != make.Stream(0, 1));
  CHECK(make.trace.streams[make.Stream(7, 1).index()].device == 7);
  CHECK(make.trace.streams[make.Stream(0xffffffffu, 1).index()].device == -1);
}

TEST_CASE("a drawn conditional is of the type that a word of it says, and else of none") {
  const auto type = [](const char* label) {
    return ReadDrawnNode({label, "record", "solid"}).node.conditional;
  };
  CHECK(type("{WHILE\n| {ID | 1}}") == ConditionalType::kWhile);
  CHECK(type("{CONDITIONAL\n| {ID | 1} | {type | SWITCH}}") == ConditionalType::kSwitch);
  CHECK(type("{CONDITIONAL\n| {ID | 1} | {graph | graph_2}}") == ConditionalType::kUnknown);
}

TEST_CASE("a file's first bytes tell what it is") {
  const auto guess = [](std::string_view head) {
    const FileFormat* format = GuessFormat(head);
    return std::string(format ? format->name : "none");
  };
  CHECK(guess("Thread,Time,Action,Pointer,Size,Stream\n") == "rmm");
  CHECK(guess("// made by hand\nstrict digraph {") == "dot");
  CHECK(guess("{\n \"schemaVersion\": 1, \"traceEvents\": [") == "kineto");
  CHECK(guess("\x80\x04}segments") == "torch-snapshot");
  CHECK(guess("\x80\x02}tools_id") == "torch-graph");
  CHECK(guess("{\"21474836480\": \"a.py:1:f") == "torch-nodes");
  CHECK(guess("{\n  \"21474836480\": [{\"name\": \"mlp\"}]") == "torch-nodes");
  CHECK(guess("{\"schema\": \"x\"") == "none");
  CHECK(guess(std::string_view("SQLite format 3\0 ", 17)) == "nsys");
  CHECK(guess("hello") == "none");
  CHECK(guess("") == "none");
}

}  // namespace
}  // namespace graphkit
