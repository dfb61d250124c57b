// The traces in testdata/traces: what reads, what it means, and what must not read.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(GRAPHKIT_TESTDATA) / "traces";

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> Samples(bool bad) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const fs::path& path = entry.path();
    const bool is_bad = path.filename().string().starts_with("bad-");
    if (path.extension() == ".json" && is_bad == bad) paths.push_back(path);
  }
  std::ranges::sort(paths);
  return paths;
}

Trace Sample(const char* name) {
  Result<Trace> trace = ParseTrace(ReadText(kFolder / name), name);
  REQUIRE_MESSAGE(trace, Describe(trace.error()));
  return std::move(*trace);
}

TEST_CASE("whole samples are written back byte for byte") {
  const std::vector<fs::path> samples = Samples(false);
  CHECK(samples.size() >= 2);
  for (const fs::path& path : samples) {
    CAPTURE(path.string());
    const std::string text = ReadText(path);
    const Result<Trace> trace = ParseTrace(text, path.filename());
    REQUIRE_MESSAGE(trace, Describe(trace.error()));
    const std::string written = FormatTrace(*trace).value();
    if (trace->completeness.truncated) {
      CHECK(text.starts_with(written));
    } else {
      CHECK(written == text);
    }
  }
}

TEST_CASE("each bad sample gives the one line beside it") {
  const std::vector<fs::path> samples = Samples(true);
  CHECK(samples.size() >= 20);
  for (const fs::path& path : samples) {
    const Result<Trace> trace = ParseTrace(ReadText(path), path.filename());
    REQUIRE_MESSAGE(!trace, path.string());
    CHECK(Describe(trace.error()) + "\n" == ReadText(fs::path(path).replace_extension("error")));
  }
}

// The figures are worked out in hand_fork_join.md.
TEST_CASE("the hand-made fork and join means what its page says") {
  const Trace trace = Sample("hand_fork_join.json");
  CHECK(IsComplete(trace));
  CHECK(trace.records == 37);
  CHECK(trace.process.program == "build/workloads/hand_fork_join");
  CHECK(trace.times.size() == 35);
  CHECK(trace.times[34] == 12000);

  REQUIRE(trace.nodes.size() == 6);
  CHECK(trace.nodes[0].kind == NodeKind::kMemAlloc);
  CHECK(trace.nodes[5].kind == NodeKind::kMemFree);
  CHECK(trace[trace.kernels[trace.nodes[2].kernel.index()].name] == "_Z4leftPKfi");
  CHECK(trace.shapes.size() == 3);
  CHECK(trace.shapes[trace.nodes[3].shape].shared_bytes == 4096);

  Block block;
  block.address = 0x7f4000000000;
  block.size = 1048576;
  block.pool = PoolId(0u);
  block.stream = StreamId(1u);
  block.graph = GraphId(0u);
  block.alloc_node = NodeId(0u);
  block.free_node = NodeId(5u);
  block.free_stream = StreamId(1u);
  block.allocated = 10;
  block.free_requested = block.free_completed = 30;
  REQUIRE(trace.blocks.size() == 1);
  CHECK(trace.blocks[0] == block);

  Edge programmatic;
  programmatic.from = NodeId(1u);
  programmatic.to = NodeId(2u);
  programmatic.from_port = kPortProgrammatic;
  programmatic.type = EdgeType::kProgrammatic;
  programmatic.seq = 20;
  CHECK(trace.edges[1] == programmatic);
  CHECK(trace.captures[0].status == CaptureStatus::kCompleted);
  CHECK(trace.execs[0].destroyed == 35);
  CHECK(trace.graphs[0].destroyed == 36);
}

TEST_CASE("a cut sample holds its whole lines") {
  const Trace trace = Sample("hand_truncated.json");
  CHECK(trace.completeness.truncated);
  CHECK(trace.records == 20);
  CHECK(trace.nodes.size() == 3);
  CHECK(trace.captures[0].status == CaptureStatus::kOpen);
}

}  // namespace
}  // namespace graphkit
