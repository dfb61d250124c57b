// The presenters of `graphkit check`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "libgraphkit/render/text_layout.h"
#include "tests/render/sample_gate.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {
namespace {

using nlohmann::json;

template <typename Render>
std::string Rendered(Render render) {
  std::ostringstream out;
  render(out);
  return out.str();
}

std::string Text(const GateRun& run) {
  return Rendered([&](std::ostream& out) { RenderCheckText(run, {{}, out}); });
}
std::string Json(const GateRun& run) {
  return Rendered([&](std::ostream& out) { RenderCheckJson(run, out); });
}
std::string Sarif(const GateRun& run) {
  return Rendered([&](std::ostream& out) { RenderSarif(run, "0.1.0", out); });
}
std::string Junit(const GateRun& run) {
  return Rendered([&](std::ostream& out) { RenderJunit(run, out); });
}
std::string Github(const GateRun& run) {
  return Rendered([&](std::ostream& out) { RenderGithubAnnotations(run, out); });
}

TEST_CASE("the text says the outcome first, then why") {
  CHECK(Text(SampleRun()) ==
        R"(out/trace.json: 1 graph, 3 nodes, 2 blocks, recorded on the software device (simulated)

failed: 2 reasons
  - out/trace.json: max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
  - findings at 1 place, below

Limits
  over  max-deferred:  1 MiB,  limit  0 B  out/trace.json graph 0 step
  ok    max-leaks:         1,  limit    5  out/trace.json

Findings: 1 failing, 1 reported and 1 suppressed
  fails step.cu:42: error: block 1 of 1 MiB is never freed [block-leak]
      step.cu:50: graph 0 is launched
      → free it before the capture ends
      to accept this: {"check":"block-leak","reason":"WHY","source":"step.cu:42"}
  - graph 0 step/block 0: warning: block 0 is freed late [late-free]
note: the suppression of late-free (old) expired on 2020-01-01
)");
}

TEST_CASE("the JSON holds the verdict, the measures and every finding with its status") {
  const json root = json::parse(Json(SampleRun()));
  CHECK(root["schema"] == "graphkit-check");
  CHECK(root["passed"] == false);
  CHECK(root["exit_code"] == 1);
  CHECK(root["reasons"][1] ==
        json{{"kind", "budget"},
             {"trace", "out/trace.json"},
             {"text", "max-deferred: graph 0 step: 1 MiB deferred, limit 0 B"}});
  CHECK(root["measures"][0] == json{{"rule", "max-deferred"},
                                    {"trace", "out/trace.json"},
                                    {"subject", "graph 0 step"},
                                    {"unit", "bytes"},
                                    {"value", 1048576},
                                    {"limit", 0},
                                    {"passed", false}});
  REQUIRE(root["findings"].size() == 3);
  CHECK(root["findings"][0]["status"] == "failing");
  CHECK(root["findings"][0]["stack"][1] ==
        json{{"function", "_Z4stepv"}, {"file", "/src/app/step.cu"}, {"line", 42}});
  CHECK(root["findings"][0]["line"] == 42);
  CHECK(root["findings"][0]["also"] == json::array({json{{"file", "/src/app/step.cu"},
                                                         {"line", 50},
                                                         {"function", "step()"},
                                                         {"about", "graph 0 is launched"}}}));
  CHECK(root["findings"][2]["suppressed"] == "lives as long as the process");
  CHECK(root["groups"] == json::parse("[[[0]], [[1]], [[2]]]"));
}

TEST_CASE("findings of one place are one row in every format") {
  GateRun run = SampleRun();
  std::vector<Finding>& findings = run.subjects[0].report.findings;
  findings.push_back(findings[0]);
  findings.back().message = "block 2 of 512 KiB is never freed";
  findings.push_back(findings[0]);
  findings.back().places[0].line.line = 43;
  run.verdict = JudgeGate(run.subjects, {.fail_on_severity = Severity::kError}, {});
  CHECK(json::parse(Json(run))["groups"] == json::parse("[[[0, 1], [2]], [[3]], [[4]]]"));
  CHECK(Rendered([&](std::ostream& out) { RenderCheckConcise(run, out); }) ==
        R"(step.cu:42: error: block 1 of 1 MiB is never freed [block-leak] (×2)
step.cu:43: error: block 1 of 1 MiB is never freed [block-leak]
trace: error: exec 0 stays [exec-leak]
)");
  CHECK(Text(run).find("is never freed [block-leak] (×2)\n") != std::string::npos);
  CHECK(
      Github(run).starts_with("::error file=step.cu,line=42,title=block-leak::block 1 of 1 MiB is "
                              "never freed (×2); step.cu:50: graph 0 is launched; "));
  const json results = json::parse(Sarif(run))["runs"][0]["results"];
  REQUIRE(results.size() == 4);
  CHECK(results[0]["occurrenceCount"] == 2);
  CHECK(results[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 50);
  CHECK(results[0]["relatedLocations"][0]["message"]["text"] == "graph 0 is launched");
  CHECK(Junit(run).find("failures=\"2\"") != std::string::npos);  // a case for each check
}

// Where no line is known: the beginning of a file, which code scanning needs of each result.
json BeginningOf(const char* file) {
  return json{{"artifactLocation", {{"uri", file}, {"uriBaseId", "%SRCROOT%"}}},
              {"region", {{"startLine", 1}}}};
}

TEST_CASE("a SARIF result lies at its source frame, or at the beginning of the trace") {
  const json run = json::parse(Sarif(SampleRun()))["runs"][0];
  CHECK(run["invocations"][0]["executionSuccessful"] == true);
  CHECK(run["invocations"][0]["exitCode"] == 1);
  const json& leak = run["results"][0];
  CHECK(leak["ruleId"] == "block-leak");
  CHECK(leak["level"] == "error");
  CHECK(leak["locations"][0]["physicalLocation"] ==
        json{{"artifactLocation", {{"uri", "step.cu"}, {"uriBaseId", "%SRCROOT%"}}},
             {"region", {{"startLine", 42}}}});
  CHECK(leak["stacks"][0]["frames"].size() == 2);
  const json& late = run["results"][1];
  CHECK(
      late["locations"] ==
      json::array({json{
          {"physicalLocation", BeginningOf("out/trace.json")},
          {"logicalLocations",
           json::array({json{{"fullyQualifiedName", "out/trace.json/graph 0 step/block 0"}}})}}}));
  CHECK(run["results"][2]["suppressions"][0]["justification"] == "lives as long as the process");
  CHECK(run["results"][3]["ruleId"] == "max-deferred");
  for (const json& result : run["results"]) {
    const size_t index = result["ruleIndex"];
    CHECK(run["tool"]["driver"]["rules"][index]["id"] == result["ruleId"]);
  }
}

TEST_CASE("what has no source frame lies in the settings that the gate was given") {
  GateRun sample = SampleRun();
  sample.settings = "/src/app/ci/graphkit.json";
  sample.verdict.reasons.push_back({.kind = GateReason::Kind::kBaseline, .text = "baseline: gone"});
  const json results = json::parse(Sarif(sample))["runs"][0]["results"];
  for (size_t i : {1u, 3u, 4u}) {
    CHECK(results[i]["locations"][0]["physicalLocation"] == BeginningOf("ci/graphkit.json"));
  }
  CHECK(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 42);
  CHECK(Github(sample).find("\n::error file=ci/graphkit.json,line=1,title=max-deferred::") !=
        std::string::npos);
}

TEST_CASE("a SARIF rule has its page where a result names it") {
  GateRun sample = SampleRun();
  for (GateCheck& check : sample.checks) check.page = "# " + check.id;
  sample.checks.push_back({.id = "unsafe-reuse", .page = "# unsafe-reuse"});  // found nothing
  const json run = json::parse(Sarif(sample))["runs"][0];
  size_t helped = 0;
  for (const json& rule : run["tool"]["driver"]["rules"]) {
    const bool named = std::ranges::any_of(
        run["results"], [&](const json& result) { return result["ruleId"] == rule["id"]; });
    const bool is_check = !rule["id"].get<std::string>().starts_with("max-");
    CHECK(rule.contains("help") == (named && is_check));
    if (!rule.contains("help")) continue;
    ++helped;
    CHECK(rule["help"]["markdown"] == "# " + rule["id"].get<std::string>());
  }
  CHECK(helped >= 2);
}

TEST_CASE("a refused run isn't a successful execution in SARIF, and an error in JUnit") {
  const json run = json::parse(Sarif(RefusedRun()))["runs"][0];
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  CHECK(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] ==
        "out/trace.json: incomplete: the file is cut off");
  CHECK(Junit(RefusedRun()).find("<error message=\"incomplete: the file is cut off\"") !=
        std::string::npos);
}

TEST_CASE("two findings of one fingerprint stay two results") {
  GateRun run = SampleRun();
  run.verdict.findings.push_back(run.verdict.findings[0]);
  run.verdict.groups.push_back({.rows = {{.findings = {3}}}});
  const json results = json::parse(Sarif(run))["runs"][0]["results"];
  CHECK(results[0]["partialFingerprints"] != results[3]["partialFingerprints"]);
}

TEST_CASE("JUnit has a case for completeness, each check that says something and each limit") {
  CHECK(Junit(SampleRun()) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="graphkit check" tests="6" failures="2" errors="0" time="0">
  <testsuite name="out/trace.json" tests="6" failures="2" errors="0" time="0">
    <testcase classname="out/trace.json" name="complete" time="0"/>
    <testcase classname="out/trace.json" name="block-leak" time="0">
      <failure message="step.cu:42: error: block 1 of 1 MiB is never freed; step.cu:50: graph 0 is launched; free it before the capture ends" type="block-leak">
step.cu:42: error: block 1 of 1 MiB is never freed; step.cu:50: graph 0 is launched; free it before the capture ends
</failure>
    </testcase>
    <testcase classname="out/trace.json" name="exec-leak" time="0">
      <system-out>
suppressed: trace: error: exec 0 stays
</system-out>
    </testcase>
    <testcase classname="out/trace.json" name="late-free" time="0">
      <system-out>
reported: graph 0 step/block 0: warning: block 0 is freed late
</system-out>
    </testcase>
    <testcase classname="out/trace.json" name="max-deferred" time="0">
      <failure message="max-deferred: graph 0 step: 1 MiB deferred, limit 0 B" type="max-deferred">
max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
</failure>
    </testcase>
    <testcase classname="out/trace.json" name="max-leaks" time="0"/>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("GitHub shows failing findings as errors at their line") {
  CHECK(
      Github(SampleRun()) ==
      R"(::error file=step.cu,line=42,title=block-leak::block 1 of 1 MiB is never freed; step.cu:50: graph 0 is launched; free it before the capture ends (out/trace.json, graph 0 step/block 1)
::error file=out/trace.json,line=1,title=max-deferred::out/trace.json: max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
::warning file=out/trace.json,line=1,title=late-free::block 0 is freed late (out/trace.json, graph 0 step/block 0)
graphkit check failed: 2 reasons
)");
}

TEST_CASE("hostile names stay data in every format") {
  const GateRun run = HostileRun();
  CHECK(json::accept(Json(run)));
  CHECK(json::accept(Sarif(run)));
  for (const std::string& text : {Text(run), Junit(run), Github(run)}) {
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\xff') == std::string::npos);
  }
  std::istringstream lines(Github(run));
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((line.starts_with("::error file=") || line.starts_with("graphkit check failed")));
  }
  CHECK(Junit(run).find("<script>") == std::string::npos);
  CHECK(Junit(run).find("]]>") == std::string::npos);
}

TEST_CASE("paths become URIs") {
  CHECK(PathUri("src/a b%c:d#é.cu") == "src/a%20b%25c%3Ad%23%C3%A9.cu");
  CHECK(RelativeTo("/src/app/", "/src/app/a.cu") == "a.cu");
  CHECK(RelativeTo("/src/app", "/src/application/a.cu") == "/src/application/a.cu");
  CHECK(RelativeTo("", "/a.cu") == "/a.cu");
}

// For the tests that read these with other programs' eyes: see check_formats.py.
TEST_CASE("the samples are written for validation") {
  const std::filesystem::path folder = GRAPHKIT_BUILD "/tests/check_samples";
  std::filesystem::create_directories(folder);
  const std::pair<const char*, GateRun> runs[] = {
      {"sample", SampleRun()}, {"hostile", HostileRun()}, {"refused", RefusedRun()}};
  for (const auto& [name, run] : runs) {
    std::ofstream(folder / (std::string(name) + ".sarif")) << Sarif(run);
    std::ofstream(folder / (std::string(name) + ".xml")) << Junit(run);
    CHECK(std::filesystem::file_size(folder / (std::string(name) + ".sarif")) > 0);
  }
}

}  // namespace
}  // namespace graphkit
