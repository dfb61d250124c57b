#include <doctest/doctest.h>

#include <utility>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> EightOn(bool one_block) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  std::vector<BlockId> blocks;
  for (size_t i = 0; i < 8; ++i) blocks.push_back(t.Alloc(a, 4096));
  t.BeginCapture(a);
  for (size_t i = 0; i < 8; ++i) t.Memset(a, {Writes(blocks[one_block ? 0 : i], 0, 4096)});
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.nodes.ChangeAll([](Node& node) { node.accesses_complete = true; });
  return Run("serialized-branches", std::move(trace));
}

TEST_CASE("serialized-branches: nothing that the nodes touch orders them") {
  const std::vector<Finding> findings = EightOn(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "all 8 nodes of graph 0 run one after another on stream 0 'a'; data dependencies need a "
        "chain "
        "of only 1");
}

TEST_CASE("serialized-branches finds nothing where each node needs the one before") {
  CHECK(EightOn(true).empty());
}

}  // namespace
}  // namespace graphkit
