#include "tools/graphkit/files/gate_files.h"

#include <doctest/doctest.h>

#include "libgraphkit/io/files/json_file.h"
#include "tests/io/files/written_file.h"

namespace graphkit {
namespace {

GateConfigFile Config(const std::string& check) {
  const WrittenFile file(R"({"schema":"graphkit-config","version":1,"check":)" + check + "}");
  const auto config = ReadWith(ParseGateConfig, file.path());
  INFO(check);
  REQUIRE(config);
  return *config;
}

// The message and the hint for a whole file.
std::string WrongConfig(const std::string& text) {
  const WrittenFile file(text);
  const auto config = ReadWith(ParseGateConfig, file.path());
  INFO(text);
  REQUIRE_FALSE(config);
  CHECK(config.error().file == file.path());
  CHECK(config.error().kind == Error::Kind::kInput);
  return config.error().message + (config.error().hint.empty() ? "" : "; " + config.error().hint);
}

std::string WrongCheck(const std::string& check) {
  return WrongConfig(R"({"schema":"graphkit-config","version":1,"check":)" + check + "}");
}

TEST_CASE("every key of the configuration is read") {
  GateConfig expected;
  expected.fail_on_severity = Severity::kWarning;
  expected.fail_on_checks = {"empty-node"};
  expected.limits["max-deferred"] = 0;
  expected.limits["max-peak"] = 3 << 19;
  expected.limits["max-leaks"] = 2;
  expected.limits["max-reserved-over-allocated"] = 1.25;
  expected.allow_increase = 0.02;
  expected.suppressions = {{.check = "exec-leak",
                            .reason = "one for ever",
                            .trace = "rank0.json",
                            .graph = "decode",
                            .source = "engine.cpp",
                            .expires = Date{2026, 12, 31}}};
  const GateConfigFile file = Config(R"({
    "fail_on": ["warning", "error", "empty-node"], "max_deferred": 0, "max_peak": "1.5MiB",
    "max_leaks": 2, "max_reserved_over_allocated": 1.25, "allow_increase": "2%",
    "baseline": "/ci/baseline.json",
    "suppressions": [{"check": "exec-leak", "reason": "one for ever", "trace": "rank0.json",
      "graph": "decode", "source": "engine.cpp", "expires": "2026-12-31"}]})");
  CHECK(file == GateConfigFile{.config = expected, .baseline = "/ci/baseline.json"});
}

TEST_CASE("what isn't said keeps its default") {
  CHECK(Config("{}") == GateConfigFile());
  CHECK(Config(R"({"fail_on": ["none"]})").config.fail_on_severity == std::nullopt);
}

TEST_CASE("the least coverage is a percentage") {
  CHECK(Config(R"({"min_coverage": "90%"})").config.limits["min-coverage"] == 0.9);
}

TEST_CASE("paths are relative to the file") {
  const GateConfigFile file = Config(R"({"baseline": "a/b.json", "suppressions": "s.json"})");
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(file.baseline == folder + "/a/b.json");
  CHECK(file.suppressions == folder + "/s.json");
}

TEST_CASE("what would switch a limit off unseen is an error") {
  CHECK(WrongCheck(R"({"max_defered": 0})") ==
        "check has an unknown key \"max_defered\"; known are fail_on, max_deferred, max_peak, "
        "max_idle, max_exec_bytes, max_leaks, max_reserved_over_allocated, min_coverage, "
        "allow_increase, "
        "baseline, suppressions");
  CHECK(WrongCheck(R"({"max_peak": "1.2 GiBs"})") ==
        "check: \"max_peak\" is not a size, as 1048576 or \"1MiB\"");
  CHECK(WrongCheck(R"({"max_leaks": -1})") == "check: \"max_leaks\" is not a whole number");
  CHECK(WrongCheck(R"({"max_reserved_over_allocated": "x"})") ==
        "check: \"max_reserved_over_allocated\" is not a number of at least 0");
  CHECK(WrongCheck(R"({"min_coverage": "0.9"})") ==
        "check: \"min_coverage\" is not a percentage up to \"100%\", as \"90%\"");
  CHECK(WrongCheck(R"({"min_coverage": "100.1%"})").starts_with("check: \"min_coverage\" is not"));
  CHECK(WrongCheck(R"({"allow_increase": "2"})") ==
        "check: \"allow_increase\" is not a percentage, as \"2%\"");
  CHECK(WrongCheck(R"({"fail_on": "error"})") == "check: \"fail_on\" is not an array");
  CHECK(WrongCheck(R"({"fail_on": [1]})") ==
        "check: \"fail_on\" holds something that is no string");
  CHECK(WrongCheck("[]") == "check is not an object");
  CHECK(WrongCheck(R"({"suppressions": [{"check": "exec-leak"}]})") ==
        "suppressions[0] has no \"reason\"");
  CHECK(WrongCheck(R"({"suppressions": [{"check": "a", "reason": ""}]})") ==
        "suppressions[0]: \"reason\" is empty");
  CHECK(WrongCheck(R"({"suppressions": [{"check": "a", "reason": "b", "expires": "soon"}]})") ==
        "suppressions[0]: \"expires\" is not a date, as \"2026-12-31\"");
}

TEST_CASE("another file than a configuration is refused") {
  CHECK(WrongConfig("{}") == "the file: \"schema\" is not \"graphkit-config\"");
  CHECK(WrongConfig(R"({"schema":"graphkit-config","version":2})") ==
        "the file: \"version\" is not 1");
  CHECK(WrongConfig("[1]") == "the file is not an object");
  CHECK(WrongConfig(R"({"schema":"graphkit-config","version":1,"chek":{}})") ==
        "the file has an unknown key \"chek\"; known are schema, version, check");
}

TEST_CASE("a syntax error names its line") {
  const WrittenFile file("{\n\"schema\": \"graphkit-config\",\n oops }");
  const auto config = ReadWith(ParseGateConfig, file.path());
  REQUIRE_FALSE(config);
  CHECK(config.error().message.starts_with("not JSON: syntax error"));
  CHECK(config.error().line == 3);
}

TEST_CASE("a file that isn't there is the system's error") {
  const auto config = ReadWith(ParseGateConfig, "/nowhere/graphkit.json");
  REQUIRE_FALSE(config);
  CHECK(Describe(config.error()) ==
        "/nowhere/graphkit.json: can't be opened: No such file or directory");
}

TEST_CASE("suppressions stand in a file of their own too") {
  const WrittenFile file(R"({"schema": "graphkit-suppressions", "version": 1,
    "suppressions": [{"check": "a", "reason": "b"}]})");
  const auto suppressions = ReadWith(ParseSuppressions, file.path());
  REQUIRE(suppressions);
  CHECK(*suppressions == std::vector<Suppression>{{.check = "a", .reason = "b"}});
}

TEST_CASE("a percentage has its sign") {
  CHECK(ParsePercent("2%") == 0.02);
  CHECK(ParsePercent("0.5 %") == 0.005);
  CHECK(ParsePercent("0%") == 0);
  for (const char* wrong : {"", "%", "2", "-2%", "2%%", "two%", "1e400%", "nan%", "inf%", " 2%"}) {
    CAPTURE(wrong);
    CHECK_FALSE(ParsePercent(wrong));
  }
}

}  // namespace
}  // namespace graphkit
