#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"
#include "tests/analysis/checks/two_devices.h"

namespace graphkit {
namespace {

TEST_CASE("collective-size compares the ranks of one process") {
  const auto findings = Run("collective-size", TwoDevices(true, 16));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "rank 1 runs all_reduce of 16 fp32 as operation 1 on communicator 0x1 of 2 ranks, where "
        "rank 0 runs all_reduce of 8 fp32");
  CHECK(Run("collective-size", TwoDevices(true)).empty());
}

}  // namespace
}  // namespace graphkit
