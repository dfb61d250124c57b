#include "libgraphkit/analysis/names/kernel_names.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

TEST_CASE("only a C++ name whose parameters are all numbers rules pointers out") {
  CHECK_FALSE(MayTakePointers("_Z5countm"));
  CHECK_FALSE(MayTakePointers("_Z5countv"));
  CHECK_FALSE(MayTakePointers("_Z4fillfijb"));
  CHECK(MayTakePointers("_Z5countPfm"));
  CHECK(MayTakePointers("_Z5count6Tensor"));
  CHECK(MayTakePointers("count"));
}

}  // namespace
}  // namespace graphkit
