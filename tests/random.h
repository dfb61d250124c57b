// Helpers of random cross-checks: one seed to print and to give back, and one way to make them run
// longer.
//
//   const uint64_t seed = RandomSeed();
//   CAPTURE(seed);
//   std::mt19937_64 random(seed);
//   for (int round = 0; round < RandomRounds(200); ++round) …
//
// tools/test.sh --all sets both variables and runs the tests labelled "random".
#pragma once

#include <cstdint>
#include <cstdlib>

namespace graphkit {

// GRAPHKIT_TEST_SEED, or a fixed seed, so that an ordinary run is the same everywhere.
inline uint64_t RandomSeed() {
  const char* text = std::getenv("GRAPHKIT_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 0) : 20240811;
}

// The usual number of rounds times GRAPHKIT_TEST_ROUNDS (1 where it isn't set).
inline int RandomRounds(int usual) {
  const char* text = std::getenv("GRAPHKIT_TEST_ROUNDS");
  return text ? usual * std::atoi(text) : usual;
}

}  // namespace graphkit
