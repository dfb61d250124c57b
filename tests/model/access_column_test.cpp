#include "libgraphkit/model/access_column.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "tests/random.h"

namespace graphkit {
namespace {

// Of few or many extents, half of them the default.
Access AnyAccess(std::mt19937_64& random, uint64_t extents) {
  Access access{.block = BlockId(static_cast<uint32_t>(random() % 100)),
                .mode = static_cast<AccessMode>(random() % 4)};
  if (random() % 2 == 0) return access;
  access.offset = random() % extents << 40;
  if (random() % 2 == 0) access.length = random() % extents;
  return access;
}

std::vector<Access> All(const AccessColumn& column) { return {column.begin(), column.end()}; }

TEST_CASE("accesses come back as they were put in, and set") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const uint64_t extents : {2u, 10u, 1000u}) {
    CAPTURE(extents);
    AccessColumn column, again;
    std::vector<Access> expected;
    for (int i = 0; i < 1000; ++i) {
      expected.push_back(AnyAccess(random, extents));
      column.push_back(expected.back());
    }
    for (int i = 0; i < 300; ++i) {
      const size_t at = random() % expected.size();
      column.Set(at, expected[at] = AnyAccess(random, extents));
    }
    CHECK(All(column) == expected);
    CHECK(again.Append(expected) == Slice{0, 1000});
    CHECK(again == column);  // with other extents behind it
    const AccessColumn::Range some = column.Of({100, 7});
    CHECK(std::vector<Access>(some.begin(), some.end()) ==
          std::vector<Access>(expected.begin() + 100, expected.begin() + 107));
    again.Truncate(999);
    CHECK_FALSE(again == column);
  }
}

TEST_CASE("a column is full when an index of it or of its extents would not fit") {
  constexpr size_t kRows = AccessColumn::kMostRows, kExtents = AccessColumn::kMostExtents;
  CHECK(AccessColumn::Fits(kRows - 1, 0, 1));
  CHECK_FALSE(AccessColumn::Fits(kRows - 1, 0, 2));
  CHECK(AccessColumn::Fits(kExtents, kExtents - 1, 1));
  CHECK_FALSE(AccessColumn::Fits(kExtents, kExtents - 1, 2));
}

}  // namespace
}  // namespace graphkit
