#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> Chain(bool shortcut, int more = 0) {
  TraceBuilder t;
  const GraphId graph = t.Graph("g");
  const NodeId a = t.Add(graph, NodeKind::kMemset);
  const NodeId b = t.Add(graph, NodeKind::kMemset, {a});
  const NodeId c = t.Add(graph, NodeKind::kMemset, {b});
  for (NodeId last = c; more > 0; --more) last = t.Add(graph, NodeKind::kMemset, {last});
  if (shortcut) t.Connect(a, c);
  return Run("redundant-edge", &t);
}

TEST_CASE("redundant-edge names an edge that a path implies") {
  const std::vector<Finding> findings = Chain(true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message == "1 edge of graph 0 'g' is implied by others");
  CHECK(findings[0].evidence[0].edges == std::vector{EdgeId(uint32_t{2})});
}

TEST_CASE("redundant-edge leaves out what is fewer than one in 25 of the graph's edges") {
  CHECK(Chain(true, 22).size() == 1);
  CHECK(Chain(true, 23).empty());
}

TEST_CASE("redundant-edge finds nothing in a chain") { CHECK(Chain(false).empty()); }

}  // namespace
}  // namespace graphkit
