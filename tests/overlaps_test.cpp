#include "libgraphkit/interval.h"

#include <doctest/doctest.h>

#include "libgraphkit/random.h"

namespace graphkit {
namespace {

using Ranges = std::vector<Interval<uint64_t>>;

std::vector<OverlapPair> EachPair(const Ranges& as, const Ranges& bs) {
  std::vector<OverlapPair> found;
  for (size_t a = 0; a < as.size(); ++a) {
    for (size_t b = 0; b < bs.size(); ++b) {
      if (Overlaps(as[a], bs[b])) found.push_back({a, b});
    }
  }
  return found;
}

TEST_CASE("overlaps are what a look at each pair finds") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Ranges ranges[2];
    for (Ranges& some : ranges) {
      for (uint64_t i = random.Below(30); i > 0; --i) {
        const uint64_t begin = random.Below(60);
        some.push_back({begin, begin + random.Below(seed % 3 == 0 ? 40 : 8)});
      }
    }
    REQUIRE(FindOverlaps<uint64_t>(ranges[0], ranges[1]) == EachPair(ranges[0], ranges[1]));
  }
}

// Work, not time.
TEST_CASE("the work of overlaps grows with the ranges and with the pairs that are found") {
  for (const uint64_t count : {1u, 4096u}) {
    Ranges captures;
    Ranges collections;
    for (uint64_t i = 0; i < count; ++i) {
      captures.push_back({10 * i, 10 * i + 8});
      collections.push_back({10 * i + 3, 10 * i + 5});
    }
    uint64_t looks = 0;
    CHECK(FindOverlaps<uint64_t>(captures, collections, &looks).size() == count);
    CHECK(looks <= 5 * count);
  }
}

}  // namespace
}  // namespace graphkit
