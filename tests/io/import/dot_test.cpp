// Drawings in DOT, of the driver and of others.
#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/io/import/dot.h"
#include "tests/io/import/read_format.h"

namespace graphkit {
namespace {

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

// "kernel k 64,4,49152": kind, name, grid x, block y, shared bytes; then the graphs inside.
std::string DescribeNode(const DotAttributes& attributes) {
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
  const auto record = [](const char* label) { return DescribeNode({label, "record", "solid"}); };
  const auto plain = [](const char* label) { return DescribeNode({label, {}, {}}); };
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
  CHECK(DescribeNode({"0\n_Z5saxpyifPfS_\n", "octagon", "bold"}) == "kernel _Z5saxpyifPfS_ 1,1,0");
  CHECK(DescribeNode({"10\nhost\n", "octagon", "bold"}) == "kernel host 1,1,0");
  CHECK(DescribeNode({"10\ngraph_7\n", "octagon", "bold"}) == "kernel graph_7 1,1,0");
  CHECK(DescribeNode({"1\nvoid a::k<int, 2>({lambda(int)#1}|x)\n", "octagon", "bold"}) ==
        "kernel void a::k<int, 2>({lambda(int)#1}|x) 1,1,0");
  CHECK(DescribeNode({"4\n_Z1kv\n", "ellipse", "bold"}) == "kernel _Z1kv 1,1,0");
  CHECK(DescribeNode({"4\ngraph_131\n", "rectangle", "solid"}) == "graph  1,1,0 graph_131");
  CHECK(DescribeNode({"4\nEXT_SEMAS_WAIT\n", "rectangle", "solid"}) == "semaphore_wait  1,1,0");
  CHECK(DescribeNode({"4\nMEMCPY\n(HtoD,4096)\n", "trapezium", "solid"}) == "memcpy  1,1,0");
  CHECK(DescribeNode({"4\n", "invtrapezium", "solid"}) == "memset  1,1,0");
  CHECK(DescribeNode({"4\nCONDITIONAL\ngraph_2\ngraph_3\n", "rectangle", "solid"}) ==
        "conditional  1,1,0 graph_2 graph_3");
  CHECK(DescribeNode({"4\nsomething new\n", "rectangle", "solid"}) == "unknown  1,1,0");
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

TEST_CASE("a drawn conditional is of the type that a word of it says, and else of none") {
  const auto type = [](const char* label) {
    return ReadDrawnNode({label, "record", "solid"}).node.conditional;
  };
  CHECK(type("{WHILE\n| {ID | 1}}") == ConditionalType::kWhile);
  CHECK(type("{CONDITIONAL\n| {ID | 1} | {type | SWITCH}}") == ConditionalType::kSwitch);
  CHECK(type("{CONDITIONAL\n| {ID | 1} | {graph | graph_2}}") == ConditionalType::kUnknown);
}

}  // namespace
}  // namespace graphkit
