#include "libgraphkit/compare/match_graphs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "tests/random.h"

namespace graphkit {
namespace {

using Places = std::vector<std::pair<uint32_t, uint32_t>>;

std::vector<uint64_t> Values(std::string_view text) { return {text.begin(), text.end()}; }

Places Common(std::string_view a, std::string_view b) {
  return CommonSubsequence(Values(a), Values(b));
}

TEST_CASE("what two sequences have in common, in order") {
  CHECK(Common("", "abc") == Places{});
  CHECK(Common("abc", "abc") == Places{{0, 0}, {1, 1}, {2, 2}});
  CHECK(Common("abcd", "axcd") == Places{{0, 0}, {2, 2}, {3, 3}});
  CHECK(Common("abxyc", "abc") == Places{{0, 0}, {1, 1}, {4, 2}});
  CHECK(Common("xaxbx", "ab").size() == 2);
  CHECK(Common("aab", "ab").size() == 2);
}

void CheckValid(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                const Places& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    REQUIRE(a[places[i].first] == b[places[i].second]);
    if (i == 0) continue;
    REQUIRE(places[i - 1].first < places[i].first);
    REQUIRE(places[i - 1].second < places[i].second);
  }
}

TEST_CASE("sequences too long for the table still give a valid answer, and a good one") {
  std::mt19937_64 random(7);
  std::vector<uint64_t> a, b;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t value = random() % 50;
    if (random() % 100 != 0) a.push_back(value);
    if (random() % 100 != 0) b.push_back(value);
  }
  const Places places = CommonSubsequence(a, b);
  CheckValid(a, b, places);
  CHECK(places.size() > 18'000);
}

size_t SlowLength(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  if (a.empty() || b.empty()) return 0;
  if (a[0] == b[0]) return 1 + SlowLength(a.subspan(1), b.subspan(1));
  return std::max(SlowLength(a.subspan(1), b), SlowLength(a, b.subspan(1)));
}

TEST_CASE("random sequences: as long as by trying everything") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(300); ++round) {
    std::vector<uint64_t> a(random() % 10), b(random() % 10);
    for (uint64_t& value : a) value = random() % 3;
    for (uint64_t& value : b) value = random() % 3;
    const Places places = CommonSubsequence(a, b);
    CheckValid(a, b, places);
    REQUIRE(places.size() == SlowLength(a, b));
  }
}

TEST_CASE("the longest rising run") {
  CHECK(LongestRising({}) == std::vector<uint32_t>{});
  const uint32_t values[] = {5, 1, 2, 9, 3, 4, 0};
  CHECK(LongestRising(values) == std::vector<uint32_t>{1, 2, 4, 5});
}

}  // namespace
}  // namespace graphkit
