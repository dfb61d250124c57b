#include "tools/graphkit/files/gate_files.h"

#include <doctest/doctest.h>

#include <sstream>

#include "libgraphkit/io/files/json_file.h"
#include "tests/io/files/written_file.h"

namespace graphkit {
namespace {

Baseline Sample() {
  BaselineTrace full;
  full.trace = "rank0 \"quoted\".json";
  full.peak_outside_graphs_bytes = 2 << 20;
  full.graphs = {{.name = "step",
                  .peak_live_bytes = 1,
                  .deferred_bytes = 2,
                  .never_freed_bytes = 3,
                  .launched = true},
                 {.name = "step",
                  .ordinal = 1,
                  .content = GraphContent{.hash = 0xab, .sample = {1, 0xffffffff}}}};
  full.findings = {
      {.check = "exec-leak", .fingerprint = "00ff", .count = 2, .bytes = 512},
      {.check = "exec-leak", .fingerprint = "00ff", .count = 1, .leaks = 5, .graph = 1}};
  return {{full, {.trace = "empty.json"}}};
}

std::string Written(const Baseline& baseline) {
  std::ostringstream out;
  WriteBaseline(baseline, out);
  return out.str();
}

std::string WrongBaseline(const std::string& text) {
  const WrittenFile file(text);
  const auto baseline = ReadWith(ParseBaseline, file.path());
  INFO(text);
  REQUIRE_FALSE(baseline);
  return baseline.error().message;
}

TEST_CASE("a baseline comes back as it was written") {
  const WrittenFile file(Written(Sample()));
  const auto baseline = ReadWith(ParseBaseline, file.path());
  REQUIRE(baseline);
  CHECK(*baseline == Sample());
}

TEST_CASE("a baseline has a line for each graph and each finding") {
  CHECK(Written(Sample()) == R"({"schema": "graphkit-baseline", "version": 2, "traces": [
  {"trace": "rank0 \"quoted\".json", "peak_outside_graphs_bytes": 2097152,
   "graphs": [
    {"name":"step","ordinal":0,"peak_live_bytes":1,"deferred_bytes":2,"never_freed_bytes":3,"launched":1},
    {"name":"step","ordinal":1,"peak_live_bytes":0,"deferred_bytes":0,"never_freed_bytes":0,"content":"00000000000000ab:00000001ffffffff"}],
   "findings": [
    {"check":"exec-leak","fingerprint":"00ff","count":2,"bytes":512},
    {"check":"exec-leak","fingerprint":"00ff","count":1,"bytes":0,"leaks":5,"graph":1}]},
  {"trace": "empty.json",
   "graphs": [],
   "findings": []}
]}
)");
}

TEST_CASE("a baseline of version 1 is read, one of a later version isn't") {
  const WrittenFile file(R"({"schema": "graphkit-baseline", "version": 1, "traces": [
    {"trace": "a", "peak_reserved_bytes": 7, "graphs": [{"name": "", "ordinal": 3, "peak_live_bytes": 1, "deferred_bytes": 2,
      "never_freed_bytes": 3}]}]})");
  const auto baseline = ReadWith(ParseBaseline, file.path());
  REQUIRE(baseline);
  const BaselineGraph expected = {
      .ordinal = 3, .peak_live_bytes = 1, .deferred_bytes = 2, .never_freed_bytes = 3};
  CHECK(baseline->traces[0].graphs == std::vector{expected});
  CHECK(baseline->traces[0].peak_outside_graphs_bytes == 7);
  CHECK(WrongBaseline(R"({"schema": "graphkit-baseline", "version": 3, "traces": []})") ==
        "the file: \"version\" is not 1 to 2");
}

TEST_CASE("contents and graphs of findings that can't be are refused") {
  const std::string head =
      R"({"schema": "graphkit-baseline", "version": 2, "traces": [{"trace": "a", )";
  const auto content = [&](const std::string& text) {
    return WrongBaseline(head +
                         R"("graphs": [{"name": "", "peak_live_bytes": 1, "deferred_bytes": 2,
      "never_freed_bytes": 3, "content": ")" +
                         text + R"("}]}]})");
  };
  const std::string zeros(16, '0');
  const std::string wrong[] = {"",
                               zeros,
                               "x" + zeros.substr(1) + ":",
                               zeros + ":1",
                               zeros + ":0000000200000001",
                               zeros + ":" + std::string(17 * 8, '0'),
                               zeros + ":-0000001"};
  for (const std::string& text : wrong) {
    CHECK(content(text) == "traces[0].graphs[0]: \"content\" is not what graphkit writes there");
  }
  CHECK(WrongBaseline(head + R"("findings": [{"check": "b", "fingerprint": "0", "count": 1,
      "bytes": 0, "graph": 0}]}]})") ==
        "traces[0].findings[0]: \"graph\" names a graph that isn't there");
}

TEST_CASE("a baseline that lacks something is refused") {
  const std::string head = R"({"schema": "graphkit-baseline", "version": 1, "traces": [)";
  CHECK(WrongBaseline(R"({"traces": []})") == "the file: \"schema\" is not \"graphkit-baseline\"");
  CHECK(WrongBaseline(head + "{}]}") == "traces[0] has no \"trace\"");
  CHECK(WrongBaseline(head + R"({"trace": "a", "graphs": [{"name": "b"}]}]})") ==
        "traces[0].graphs[0] has no \"peak_live_bytes\"");
  CHECK(
      WrongBaseline(head + R"({"trace": "a", "findings": [{"check": "b", "fingerprint": 7}]}]})") ==
      "traces[0].findings[0]: \"fingerprint\" is not a string");
}

TEST_CASE("a number of a baseline isn't cut: ordinal 2^32 isn't ordinal 0") {
  const std::string head = R"({"schema": "graphkit-baseline", "version": 1, "traces": [)";
  const auto graph = [&](const std::string& ordinal, const std::string& peak) {
    return WrongBaseline(head + R"({"trace": "a", "graphs": [{"name": "b", "ordinal": )" + ordinal +
                         R"(, "peak_live_bytes": )" + peak +
                         R"(, "deferred_bytes": 0, "never_freed_bytes": 0}]}]})");
  };
  CHECK(graph("4294967296", "0") ==
        "traces[0].graphs[0]: \"ordinal\" is not a whole number below 4294967295");
  CHECK(graph("0", "18446744073709551616") ==
        "traces[0].graphs[0]: \"peak_live_bytes\" is not a whole number");
  CHECK(graph("0", "1e3") == "traces[0].graphs[0]: \"peak_live_bytes\" is not a whole number");
}

}  // namespace
}  // namespace graphkit
