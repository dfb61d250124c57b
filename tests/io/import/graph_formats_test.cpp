#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/io/import/read_format.h"

namespace graphkit {
namespace {

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
