#include "tools/graphkit/files/pack_ranks.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/compare/sample_subject.h"

namespace graphkit {
namespace {

GateSubject FullSubject() {
  GateSubject subject = CleanSubject("full");
  AddFinding(subject, "pool-leak", Severity::kError, 100, {{"f", "f.cu", 3}});
  subject.report.findings[0].evidence = {
      {"because", {NodeId(1u)}, {EdgeId(2u)}, {BlockId(3u)}, StackId(4u)}};
  subject.report.findings[0].streams = {StreamId(5u)};
  subject.report.incomplete_because = {"cut off"};
  subject.report.complete = false;
  GraphSummary& graph = subject.report.graphs[0];
  graph.unknown_memory = "no sizes";
  graph.peak_live_bytes = std::nullopt;
  subject.report.memory = std::nullopt;
  graph.pools = {{.pool = PoolId(1u), .blocks = 2}};
  graph.reuse = {{BlockId(1u), BlockId(2u), 3, Assumption::kArguments}};
  graph.peak_blocks = {BlockId(9u)};
  subject.report.totals.findings = {1, 2, 3};
  subject.contents = {{.hash = 9, .sample = {1, 2, 3}}};
  subject.peak_reserved_bytes = 12;
  return subject;
}

TEST_CASE("what the processes of a job tell each other comes back as it was") {
  const GateSubject subject = FullSubject();
  CHECK(UnpackSubject(PackSubject(subject)) == subject);
}

TEST_CASE("bytes that aren't what they should be give nothing") {
  const std::string bytes = PackSubject(FullSubject());
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(UnpackSubject(std::string_view(bytes).substr(0, size)).has_value());
  }
  CHECK_FALSE(UnpackSubject(bytes + "x").has_value());
}

}  // namespace
}  // namespace graphkit
