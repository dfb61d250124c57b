#include "libgraphkit/model/finding.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

Finding At(std::string check, std::vector<uint32_t> lines, std::string message = "m") {
  Finding finding{.check = std::move(check), .message = std::move(message)};
  for (const uint32_t line : lines) {
    finding.places.push_back({.line = {"step", "step.cu", line}});
  }
  return finding;
}

TEST_CASE("a row has the findings of one check at the same lines, a group the rows of one check") {
  const std::vector<Finding> findings = {At("race", {17, 18}), At("leak", {44}, "1 exec"),
                                         At("race", {30, 31}), At("race", {17, 18}, "of graph 7"),
                                         At("leak", {44}),     At("race", {17})};
  const std::vector<FindingGroup> expected = {{.rows = {{{0, 3}}, {{2}}, {{5}}}},
                                              {.rows = {{{1, 4}}}}};
  CHECK(GroupFindings(findings) == expected);
}

TEST_CASE("without lines a row has what says the same but for numbers") {
  const std::vector<Finding> findings = {
      At("leak", {}, "1 exec of graph 1"), At("leak", {}, "3 exec of graph 27"),
      At("leak", {}, "graph 1 isn't destroyed"), At("leak", {9})};
  const std::vector<FindingGroup> expected = {{.rows = {{{0, 1}}, {{2}}, {{3}}}}};
  CHECK(GroupFindings(findings) == expected);
}

TEST_CASE("severities, and what the caller keeps apart, are groups of their own") {
  std::vector<Finding> findings = {At("race", {17}), At("race", {17}), At("race", {17})};
  findings[1].severity = Severity::kNote;
  const std::vector<FindingGroup> by_severity = {{.rows = {{{0, 2}}}}, {.rows = {{{1}}}}};
  CHECK(GroupFindings(findings) == by_severity);
  const std::vector<const Finding*> all = {&findings[0], &findings[0], &findings[0]};
  const std::vector<uint32_t> statuses = {0, 1, 0};
  CHECK(GroupFindings(all, statuses) == by_severity);
}

}  // namespace
}  // namespace graphkit
