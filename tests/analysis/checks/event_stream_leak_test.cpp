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

}  // namespace
}  // namespace graphkit
