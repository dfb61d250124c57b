#include "libgraphkit/alloc/chunks/sorted_chunks.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

namespace graphkit {
namespace {

std::vector<int> All(const SortedChunks<int>& set) {
  std::vector<int> keys;
  for (auto at = set.begin(); at != set.end(); at = set.next(at)) keys.push_back(set[at]);
  return keys;
}

TEST_CASE("an empty set has no place but its end") {
  const SortedChunks<int> set;
  CHECK(set.empty());
  CHECK(set.begin() == set.end());
  CHECK(set.LowerBound(3) == set.end());
}

TEST_CASE("keys come in order, forwards and backwards") {
  SortedChunks<int> set;
  for (int key : {5, 1, 9, 3}) set.Insert(key);
  CHECK(All(set) == std::vector<int>{1, 3, 5, 9});
  CHECK(set[set.LowerBound(4)] == 5);
  CHECK(set[set.previous(set.LowerBound(5))] == 3);
  CHECK(set[set.previous(set.end())] == 9);
  set.Erase(5);
  CHECK(set[set.LowerBound(4)] == 9);
}

TEST_CASE("it does what std::set does") {
  const unsigned seed = 7;
  CAPTURE(seed);
  std::mt19937 random(seed);
  SortedChunks<int> set;
  std::set<int> reference;
  for (int step = 0; step < 40000; ++step) {
    const int key = static_cast<int>(random() % 3000);
    const bool grow = (step / 4000) % 2 == 0;
    if (reference.contains(key)) {
      if (!grow || random() % 4 == 0) {
        set.Erase(key);
        reference.erase(key);
      }
    } else if (grow || random() % 4 == 0) {
      set.Insert(key);
      reference.insert(key);
    }
    const int probe = static_cast<int>(random() % 3000);
    const auto expected = reference.lower_bound(probe);
    const auto got = set.LowerBound(probe);
    REQUIRE((got == set.end()) == (expected == reference.end()));
    if (expected != reference.end()) REQUIRE(set[got] == *expected);
    REQUIRE(set.size() == reference.size());
  }
  CHECK(All(set) == std::vector<int>(reference.begin(), reference.end()));
}

}  // namespace
}  // namespace graphkit
