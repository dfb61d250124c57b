#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("event-stream-leak counts what was never destroyed, the default stream apart") {
  TraceBuilder t;
  t.Stream("legacy", StreamKind::kLegacyDefault);
  t.Stream("copy");
  t.Event();
  t.Event();
  CHECK(RunForOne("event-stream-leak", &t).message ==
        "1 stream (stream 1 'copy') and 2 events were never destroyed");
}

TEST_CASE("event-stream-leak finds nothing when all is destroyed") {
  TraceBuilder t;
  t.Destroy(t.Stream());
  t.Destroy(t.Event());
  CHECK(Run("event-stream-leak", &t).empty());
}

TEST_CASE("event-stream-leak leaves out many streams of which few are used: a library's pool") {
  for (const bool with_event : {false, true}) {
    TraceBuilder t;
    const StreamId used = t.Stream();
    for (int i = 0; i < 3; ++i) t.Stream();
    if (with_event) t.Event();
    t.BeginCapture(used);
    t.Kernel(used);
    t.EndCapture(used);
    const std::vector<Finding> findings = Run("event-stream-leak", &t);
    REQUIRE(findings.size() == (with_event ? 1 : 0));
    if (with_event) CHECK(findings[0].message == "1 event was never destroyed");
  }
}

TEST_CASE("event-stream-leak lets a Python program's variables hold some to its end") {
  const auto found = [](int events, std::string_view program, std::string_view executable) {
    TraceBuilder t;
    t.SetProgram(program, executable);
    for (int i = 0; i < events; ++i) t.Event();
    return Run("event-stream-leak", &t);
  };
  CHECK(found(100, "/usr/bin/python3.11", "").empty());
  CHECK(found(101, "/usr/bin/python3.11", "").size() == 1);
  CHECK(found(100, "VLLM::EngineCore", "/usr/bin/python3.11").empty());
  CHECK(found(100, "VLLM::EngineCore", "").size() == 1);
}

}  // namespace
}  // namespace graphkit
