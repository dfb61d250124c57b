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

TEST_CASE("event-stream-leak takes many streams of which few are used for a library's pool") {
  TraceBuilder t;
  const StreamId used = t.Stream();
  for (int i = 0; i < 3; ++i) t.Stream();
  t.BeginCapture(used);
  t.Kernel(used);
  t.EndCapture(used);
  const Finding finding = RunForOne("event-stream-leak", &t);
  CHECK(finding.message ==
        "kept until the end: 4 streams, 3 never used; typical of a library's stream pool");
  CHECK(finding.advice.empty());
}

TEST_CASE("event-stream-leak tells events apart from a library's pool of streams") {
  TraceBuilder t;
  for (int i = 0; i < 4; ++i) t.Stream();
  t.Event();
  const std::vector<Finding> findings = Run("event-stream-leak", &t);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message ==
        "kept until the end: 4 streams, 4 never used; typical of a library's stream pool");
  CHECK(findings[1].message == "1 event was never destroyed");
}

}  // namespace
}  // namespace graphkit
