#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("reusable-never-reclaimed: the block's stream allocates no more, another one does") {
  CrossedBlock c;
  c.Request(c.x);
  c.t.Order(c.a, c.b);
  const BlockId taker = AllocUsed(c.t, c.b, 4096);
  c.Join();
  c.End();
  const Finding finding = RunForOne("reusable-never-reclaimed", &c.t);
  CHECK(finding.message ==
        "4 KiB in block 0 of graph 0 'step' could be reused by other streams, and their own never "
        "allocates again");
  CHECK(finding.evidence.front().blocks == std::vector{c.x, taker});
}

TEST_CASE("reusable-never-reclaimed finds nothing when the own stream could take it") {
  CrossedBlock c;
  c.Request(c.x);
  c.Join();
  c.Allocate(4096);
  c.End();
  CHECK(Run("reusable-never-reclaimed", &c.t).empty());
}

}  // namespace
}  // namespace graphkit
