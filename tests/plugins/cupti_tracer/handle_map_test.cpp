// The map of handles against std::map, at random.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "plugins/cupti_tracer/handle_map.h"

namespace graphkit {
namespace {

TEST_CASE("handles come and go as in a std::map") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    HandleMap<int> map;
    std::map<uint64_t, int> reference;
    for (int step = 0; step < 2000; ++step) {
      uint64_t key = 1 + random() % 97;
      if (random() % 3 != 0) {
        map.Insert(key, step);
        reference[key] = step;
      } else {
        CHECK(map.Erase(key) == (reference.erase(key) == 1));
      }
      REQUIRE(map.size() == reference.size());
    }
    for (uint64_t key = 0; key < 100; ++key) {
      auto expected = reference.find(key);
      int* found = map.Find(key);
      REQUIRE((found != nullptr) == (expected != reference.end()));
      if (found != nullptr) CHECK(*found == expected->second);
    }
  }
}

TEST_CASE("what handles left behind is let go of") {
  HandleMap<int> map;
  for (uint64_t key = 1; key <= 100000; ++key) map.Insert(key, 7);
  for (uint64_t key = 1; key <= 99990; ++key) map.Erase(key);
  CHECK(map.size() == 10);
  CHECK(map.capacity() <= 128);
  for (uint64_t key = 99991; key <= 100000; ++key) CHECK(*map.Find(key) == 7);
}

}  // namespace
}  // namespace graphkit
