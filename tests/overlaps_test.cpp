#include "libgraphkit/interval.h"
#include "libgraphkit/interval_map.h"

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
TEST_CASE("an index of ranges finds those that have a part in some bytes, by where they begin") {
  RangeIndex<char> index;
  CHECK(index.empty());
  index.Add({30, 40}, 'c');
  index.Add({0, 100}, 'a');
  index.Add({20, 20}, 'x');  // has no bytes
  index.Add({10, 20}, 'b');
  index.Add({10, 12}, 'd');
  index.Sort();
  const auto in = [&](Address begin, Address end) {
    std::string found;
    index.Visit({begin, end}, [&](Interval<Address>, char value) { found += value; });
    return found;
  };
  CHECK(in(15, 31) == "abc");
  CHECK(in(11, 12) == "abd");  // those that begin alike in the order in which they were added
  CHECK(in(20, 30) == "a");
  CHECK(in(100, 110) == "");
}

TEST_CASE("of a range stays what others leave, which may overlap") {
  using Range = Interval<Address>;
  const std::vector<Range> others = {{0, 12}, {15, 20}, {16, 18}, {25, 40}};
  std::vector<Range> left;
  CHECK(Subtract(Range{10, 30}, std::span<const Range>(others), &left) == others.size());
  CHECK(left == std::vector<Range>{{12, 15}, {20, 25}});
  CHECK(Common(Range{0, 12}, Range{10, 30}) == Range{10, 12});
  CHECK(Common(Range{0, 12}, Range{12, 30}).empty());
}

}  // namespace graphkit
