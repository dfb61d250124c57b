// The frontier of a stream, against a list that is searched from its begin.
#include "plugins/cupti_tracer/recorder/frontier.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/random.h"

namespace graphkit {
namespace {

void SlowJoin(Frontier& frontier, const Frontier& more) {
  for (const FrontierEntry& entry : more) {
    const auto same = std::ranges::find(frontier, entry.node, &FrontierEntry::node);
    if (same == frontier.end()) {
      frontier.push_back(entry);
    } else if (StrengthOf(entry) > StrengthOf(*same)) {
      *same = entry;
    }
  }
}

TEST_CASE("a stream that joins many others has one entry of each node, the strongest") {
  constexpr uint32_t kNodes = 200;
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(20); ++round) {
    StreamFrontier frontier;
    Frontier slow;
    for (int join = 0; join < 60; ++join) {
      Frontier more;
      const size_t count = 1 + random() % 8;
      while (more.size() < count) {
        const NodeId node(static_cast<uint32_t>(random() % kNodes));
        const auto port = static_cast<uint8_t>(random() % 3);
        if (std::ranges::count(more, node, &FrontierEntry::node) == 0)
          more.push_back({node, port, static_cast<uint8_t>(random() % 2)});
      }
      frontier.Join(more);
      SlowJoin(slow, more);
      CHECK(frontier.entries() == slow);
      for (const FrontierEntry& entry : slow) CHECK(*frontier.Find(entry.node) == entry);
      CHECK(frontier.Find(NodeId(kNodes)) == nullptr);
    }
    frontier.Set({NodeId(3u), 0, 0});
    CHECK(frontier.entries().size() == 1);
    CHECK(frontier.Find(NodeId(4u)) == nullptr);
  }
}

}  // namespace
}  // namespace graphkit
