#include "libgraphkit/analysis/names/naming.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

TEST_CASE("only a C++ name whose parameters are all numbers rules pointers out") {
  CHECK(TakesNumbersOnly("_Z5countm"));
  CHECK(TakesNumbersOnly("_Z5countv"));
  CHECK(TakesNumbersOnly("_Z4fillfijb"));
  CHECK_FALSE(TakesNumbersOnly("_Z5countPfm"));
  CHECK_FALSE(TakesNumbersOnly("_Z5count6Tensor"));
  CHECK_FALSE(TakesNumbersOnly("count"));
  CHECK(TakesPlainPointers("_Z5countPfPKim"));
  CHECK_FALSE(TakesPlainPointers("_Z5countPPfm"));
  CHECK_FALSE(TakesPlainPointers("_Z5count6Tensor"));
  CHECK_FALSE(TakesPlainPointers("count"));
}

}  // namespace
}  // namespace graphkit
