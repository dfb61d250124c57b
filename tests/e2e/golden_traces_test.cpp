// The reader understands every golden trace in full: what it read, written again, is the same file.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

const fs::path kTraces = fs::path(GRAPHKIT_TESTDATA) / "traces";

// Of the software device (soft) and of an H200 (cuda).
std::vector<fs::path> GoldenTraces() {
  std::vector<fs::path> paths;
  for (const char* device : {"soft", "cuda"}) {
    for (const auto& entry : fs::directory_iterator(kTraces / device)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The records of a trace file, one JSON value each: the order of keys says nothing. The counts of
// the end record are optional; the reader has compared those that are there. A trace that is read
// forgets its run's number.
nlohmann::json Records(const std::string& text) {
  nlohmann::json records = nlohmann::json::parse(text).at("records");
  records.back() = {{"type", records.back().at("type")}};
  for (nlohmann::json& record : records) {
    if (record.at("type") == "process") record.erase("run");
  }
  return records;
}

TEST_CASE("every golden trace is read without loss, and what is read is written as it was") {
  REQUIRE(!GoldenTraces().empty());
  for (const fs::path& path : GoldenTraces()) {
    CAPTURE(path.filename().string());
    const std::string golden = Text(path);
    const Result<Trace> trace = ParseTrace(golden, path.filename().string());
    REQUIRE_MESSAGE(trace.has_value(), (trace.has_value() ? "" : trace.error().message));
    CHECK(IsComplete(*trace));
    const Result<std::string> written = FormatTrace(*trace);
    REQUIRE_MESSAGE(written.has_value(), (written.has_value() ? "" : written.error().message));

    const nlohmann::json expected = Records(golden);
    const nlohmann::json got = Records(*written);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) CHECK(got[i].dump() == expected[i].dump());
    CHECK(ParseTrace(*written, "written again").value() == *trace);
  }
}

TEST_CASE("a GPU's traces have the graphs of the software device's") {
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(kTraces / "cuda")) {
    if (entry.path().extension() != ".json") continue;
    const fs::path name = entry.path().filename();
    CAPTURE(name.string());
    const Trace gpu = ParseTrace(Text(entry.path()), name.string()).value();
    const Trace soft = ParseTrace(Text(kTraces / "soft" / name), name.string()).value();
    REQUIRE(gpu.nodes.size() == soft.nodes.size());
    for (size_t i = 0; i < gpu.nodes.size(); ++i) {
      CHECK(gpu.nodes[i].kind == soft.nodes[i].kind);
      CHECK(gpu.nodes[i].graph == soft.nodes[i].graph);
    }
    REQUIRE(gpu.edges.size() == soft.edges.size());
    for (size_t i = 0; i < gpu.edges.size(); ++i) {
      const Edge one = gpu.edges[i], other = soft.edges[i];
      CHECK(one.from == other.from);
      CHECK(one.to == other.to);
      CHECK(one.from_port == other.from_port);
      CHECK(one.type == other.type);
    }
    CHECK(gpu.graphs.size() == soft.graphs.size());
    CHECK(gpu.launches.size() == soft.launches.size());
    ++compared;
  }
  CHECK(compared == 8);
}

}  // namespace
}  // namespace graphkit
