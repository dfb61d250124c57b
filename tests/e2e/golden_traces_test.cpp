// The reader understands every golden trace in full: what it read, written again, is the same file.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/io/trace/trace_file.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> GoldenTraces() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(fs::path(GRAPHKIT_TESTDATA) / "traces" / "soft")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
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
// the end record are optional; the reader has compared those that are there.
nlohmann::json Records(const std::string& text) {
  nlohmann::json records = nlohmann::json::parse(text).at("records");
  records.back() = {{"type", records.back().at("type")}};
  return records;
}

TEST_CASE("every golden trace is read without loss, and what is read is written as it was") {
  REQUIRE(!GoldenTraces().empty());
  for (const fs::path& path : GoldenTraces()) {
    CAPTURE(path.filename().string());
    const std::string golden = Text(path);
    const Result<Trace> trace = ParseTrace(golden, path.filename().string());
    REQUIRE_MESSAGE(trace.has_value(), (trace.has_value() ? "" : trace.error().message));
    CHECK(trace->completeness.complete());
    const Result<std::string> written = FormatTrace(*trace);
    REQUIRE_MESSAGE(written.has_value(), (written.has_value() ? "" : written.error().message));

    const nlohmann::json expected = Records(golden);
    const nlohmann::json got = Records(*written);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) CHECK(got[i].dump() == expected[i].dump());
    CHECK(ParseTrace(*written, "written again").value() == *trace);
  }
}

}  // namespace
}  // namespace graphkit
