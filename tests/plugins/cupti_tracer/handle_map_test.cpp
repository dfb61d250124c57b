// The map of handles against std::map, and the list of edges against a vector, at random.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/recorder/edge_list.h"

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

TEST_CASE("the edge that was added last between two nodes goes first") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    EdgeList list;
    std::vector<std::pair<NodeId, NodeId>> reference;  // by edge
    std::vector<bool> gone;
    for (int step = 0; step < 2000; ++step) {
      const NodeId from(static_cast<uint32_t>(random() % 7));
      const NodeId to(static_cast<uint32_t>(random() % 7));
      if (random() % 2 == 0) {
        list.Add(from, to, EdgeId(reference.size()));
        reference.emplace_back(from, to);
        gone.push_back(false);
        continue;
      }
      EdgeId last;
      for (size_t i = 0; i < reference.size(); ++i) {
        if (!gone[i] && reference[i] == std::pair(from, to)) last = EdgeId(i);
      }
      if (last.valid()) gone[last.index()] = true;
      REQUIRE(list.Take(from, to) == last);
    }
  }
}

// Work, not time.
TEST_CASE("edges are looked at a few times, however many of them are taken out") {
  constexpr uint32_t kEdges = 4096;
  EdgeList list;
  for (uint32_t i = 0; i < kEdges; ++i) list.Add(NodeId(i), NodeId(i + 1), EdgeId(i));
  for (uint32_t i = 0; i < kEdges; ++i) {
    REQUIRE(list.Take(NodeId(i), NodeId(i + 1)) == EdgeId(i));
  }
  CHECK(list.looks() <= 3 * kEdges);
}

}  // namespace
}  // namespace graphkit
