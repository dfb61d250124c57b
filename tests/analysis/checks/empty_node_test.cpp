#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> Around(int before, int after) {
  TraceBuilder t;
  const GraphId graph = t.Graph("g");
  std::vector<NodeId> first;
  for (int i = 0; i < before; ++i) first.push_back(t.Add(graph, NodeKind::kMemset));
  const NodeId empty = t.Add(graph, NodeKind::kEmpty);
  for (const NodeId node : first) t.Connect(node, empty);
  for (int i = 0; i < after; ++i) t.Add(graph, NodeKind::kMemset, {empty});
  return Run("empty-node", &t);
}

TEST_CASE("empty-node: between two nodes it does nothing") {
  const std::vector<Finding> findings = Around(1, 1);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message == "1 empty node of graph 0 'g' could be left out without more edges");
  CHECK(findings[0].nodes == std::vector{NodeId(uint32_t{1})});
}

TEST_CASE("empty-node: joining several with several, it saves edges") {
  CHECK(Around(3, 2).empty());
}

}  // namespace
}  // namespace graphkit
