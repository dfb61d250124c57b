#include <doctest/doctest.h>

#include "tests/analysis/checks/frozen_steps.h"

namespace graphkit {
namespace {

TEST_CASE("frozen-grid names the extent, and the arguments that vary with it stay unnamed") {
  const Steps steps{.pass = [](Scalars& to, int step) {
    if (step >= 0) to.Pass(Scalar::kGrid, static_cast<uint32_t>(step + 1));
    to.Pass(2, step < 0 ? 100 : static_cast<uint32_t>(step));
  }};
  CHECK(One("frozen-grid", steps).message ==
        "graph 0 'step' always launches Update with a grid of 1 in x; the same line launched it "
        "with 1, 2 and 3 in 3 launches outside of graphs");
  CHECK(Run("frozen-argument", steps.Build()).empty());
}

}  // namespace
}  // namespace graphkit
