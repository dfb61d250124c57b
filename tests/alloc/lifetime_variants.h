// Other problems of a problem's family: what holds for one of them should hold for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/random.h"

namespace graphkit {

// The same in other words: if it can be planned at its load, so can these, at theirs.
enum class Rewording : uint8_t {
  kShuffled,  // blocks in another order
  kReversed,  // time runs backwards
  kWarped,    // some of the times lie further apart
  kScaled,    // all sizes some times as large
  kAgain,     // twice, one after the other, backwards the second time
};
inline constexpr int kRewordings = 5;

inline void ReverseTime(std::vector<Lifetime>* lifetimes) {
  for (Lifetime& life : *lifetimes) life = {-life.end, -life.begin};
}

// Each time gets as much later as random gaps before it say.
inline void WarpTime(Random* random, std::vector<Lifetime>* lifetimes) {
  std::vector<int64_t> times;
  for (const Lifetime& life : *lifetimes) times.insert(times.end(), {life.begin, life.end});
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<int64_t> warped;
  int64_t at = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    warped.push_back(at += 1 + static_cast<int64_t>(random->Below(10)));
  }
  const auto moved = [&](int64_t time) {
    return warped[static_cast<size_t>(std::ranges::lower_bound(times, time) - times.begin())];
  };
  for (Lifetime& life : *lifetimes) life = {moved(life.begin), moved(life.end)};
}

inline void ShuffleBlocks(Random* random, LifetimeProblem* problem) {
  for (size_t i = problem->blocks.size(); i > 1; --i) {
    const size_t other = random->Below(i);
    std::swap(problem->blocks[i - 1], problem->blocks[other]);
    std::swap(problem->lifetimes[i - 1], problem->lifetimes[other]);
  }
}

inline LifetimeProblem Reworded(const LifetimeProblem& of, Rewording how, uint64_t seed) {
  Random random(seed);
  LifetimeProblem problem = of;
  if (how == Rewording::kReversed) ReverseTime(&problem.lifetimes);
  if (how == Rewording::kWarped) WarpTime(&random, &problem.lifetimes);
  if (how == Rewording::kScaled) {
    const Bytes factor = 2 + random.Below(1000);
    for (PlanBlock& block : problem.blocks) block.size *= factor;
  }
  if (how == Rewording::kAgain) {
    int64_t end = 0;
    for (const Lifetime& life : of.lifetimes) end = std::max(end, life.end);
    for (size_t i = 0; i < of.blocks.size(); ++i) {
      problem.blocks.push_back(of.blocks[i]);
      problem.lifetimes.push_back({2 * end - of.lifetimes[i].end, 2 * end - of.lifetimes[i].begin});
    }
  }
  ShuffleBlocks(&random, &problem);
  return problem;
}

// A neighbour: a tenth of the blocks are gone, and a fifth of the sizes is up to a quarter smaller.
inline LifetimeProblem Neighbour(const LifetimeProblem& of, uint64_t seed) {
  Random random(seed);
  LifetimeProblem problem;
  for (size_t i = 0; i < of.blocks.size(); ++i) {
    if (random.Chance(0.1)) continue;
    PlanBlock block = of.blocks[i];
    if (random.Chance(0.2)) block.size -= block.size * random.Below(256) / 1024;
    problem.blocks.push_back(block);
    problem.lifetimes.push_back(of.lifetimes[i]);
  }
  ShuffleBlocks(&random, &problem);
  return problem;
}

}  // namespace graphkit
