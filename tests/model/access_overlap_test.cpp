#include "libgraphkit/model/memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/random.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// Byte by byte.
std::vector<bool> TouchedBytes(const Access& access, size_t end) {
  std::vector<bool> touched(end);
  for (Bytes i = 0; i < access.length; ++i) {
    const auto [width, pitch, height, layer] = access.rows;
    const Bytes row = width != 0 ? i / pitch : 0;
    const bool in_row = width == 0 || i % pitch < width;
    const bool in_layer = width == 0 || height == 0 || row % layer < height;
    touched[access.offset + i] = in_row && in_layer;
  }
  return touched;
}

bool SlowOverlap(const Access& a, const Access& b) {
  const size_t end = std::max(a.offset + a.length, b.offset + b.length);
  const std::vector<bool> of_a = TouchedBytes(a, end), of_b = TouchedBytes(b, end);
  for (size_t i = 0; i < end; ++i) {
    if (of_a[i] && of_b[i]) return true;
  }
  return false;
}

Access RandomAccess(Random& random) {
  Access access{.offset = random.Below(64), .length = random.Below(40)};
  if (random.Chance(0.25)) return access;
  AccessRows& rows = access.rows;
  rows.pitch = static_cast<uint32_t>(1 + random.Below(random.Chance(0.5) ? 24 : 6));
  rows.width = static_cast<uint32_t>(1 + random.Below(rows.pitch));
  Bytes rows_before = random.Below(6);  // the last one
  if (random.Chance(0.5)) {
    rows.layer = static_cast<uint32_t>(1 + random.Below(5));
    rows.height = static_cast<uint32_t>(1 + random.Below(rows.layer));
    rows_before = random.Below(4) * rows.layer + rows.height - 1;
  }
  access.length = rows_before * rows.pitch + rows.width;
  return access;
}

TEST_CASE("accesses overlap where they touch a byte in common") {
  size_t meet = 0, apart = 0;
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < RandomRounds(40'000); ++round) {
    CAPTURE(round);
    const Access a = RandomAccess(random), b = RandomAccess(random);
    const bool expected = SlowOverlap(a, b);
    REQUIRE(Overlap(a, b) == (expected ? Ternary::kYes : Ternary::kNo));
    REQUIRE(Overlap(b, a) == Overlap(a, b));
    ++(expected ? meet : apart);
  }
  CHECK(meet > 10'000);
  CHECK(apart > 10'000);
}

TEST_CASE("accesses without an end may overlap all that ends behind their beginning") {
  const Access open{.offset = 100};
  CHECK(Overlap(open, {.offset = 0, .length = 100}) == Ternary::kNo);
  CHECK(Overlap(open, {.offset = 0, .length = 101}) == Ternary::kUnknown);
  CHECK(Overlap(open, {.offset = 200}) == Ternary::kUnknown);
}

TEST_CASE("columns of millions of rows are compared by their steps") {
  const Bytes rows = 10'000'000;
  const Access left{.offset = 0, .length = rows * 512, .rows = {256, 512}};
  const Access right{.offset = 256, .length = rows * 512, .rows = {256, 512}};
  const Access wider{.offset = 256, .length = rows * 512, .rows = {256, 1024}};
  CHECK(Overlap(left, right) == Ternary::kNo);
  CHECK(Overlap(left, wider) == Ternary::kNo);
  CHECK(Overlap(right, wider) == Ternary::kYes);
}

}  // namespace
}  // namespace graphkit
