#include "libgraphkit/checked_number.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace graphkit {
namespace {

TEST_CASE("what doesn't fit a type is nothing, or the nearest that does") {
  CHECK(Narrow<uint32_t>(uint64_t{0xffffffff}) == 0xffffffffu);
  CHECK_FALSE(Narrow<uint32_t>(uint64_t{1} << 32));
  CHECK_FALSE(Narrow<uint32_t>(int64_t{-1}));
  CHECK_FALSE(Narrow<uint16_t>(65536));
  CHECK(Saturate<uint32_t>(uint64_t{1} << 32) == 0xffffffffu);
  CHECK(Saturate<uint32_t>(int64_t{-1}) == 0);
  CHECK(Saturate<int32_t>(std::numeric_limits<int64_t>::min()) ==
        std::numeric_limits<int32_t>::min());
}

TEST_CASE("an id is below 2^32 - 1") {
  CHECK(ToId<GraphId>(4294967294u) == GraphId(4294967294u));
  CHECK_FALSE(ToId<GraphId>(4294967295u));
  CHECK_FALSE(ToId<GraphId>(uint64_t{1} << 32));
}

TEST_CASE("a number with a fraction becomes a whole one that fits") {
  CHECK(SaturateWhole(1.9) == 1);
  CHECK(SaturateWhole(-1) == 0);
  CHECK(SaturateWhole(std::numeric_limits<double>::quiet_NaN()) == 0);
  CHECK(SaturateWhole(1e30) == std::numeric_limits<uint64_t>::max());
  CHECK(SaturateWhole(std::numeric_limits<double>::infinity()) ==
        std::numeric_limits<uint64_t>::max());
}

TEST_CASE("a sum of memory stops where there can't be more") {
  MemorySum sum;
  CHECK(sum.Add(kMostMemory));
  CHECK(sum.Add(0));
  CHECK_FALSE(sum.Add(1));
  CHECK_FALSE(sum.Add(~Bytes{0}));
  CHECK_FALSE(sum.Add(0));
  CHECK(sum.total() == kMostMemory);
}

}  // namespace
}  // namespace graphkit
