#include "libgraphkit/alloc/lifetime_arena.h"

#include <algorithm>

namespace graphkit {
namespace {

int32_t RankOf(const std::vector<int64_t>& times, int64_t time) {
  return static_cast<int32_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
}

// Fills in loads and bound from the blocks.
void AddLoads(LifetimeArena* arena) {
  int32_t sections = 0;
  for (const ArenaBlock& b : arena->blocks) sections = std::max(sections, b.life.upper);
  std::vector<Bytes> change(static_cast<size_t>(sections) + 1);
  for (const ArenaBlock& b : arena->blocks) {
    change[static_cast<size_t>(b.life.lower)] += b.size;
    change[static_cast<size_t>(b.life.upper)] -= b.size;  // modulo 2^64: the running sum is right
    if (b.fixed != PlanBlock::kAnywhere) {
      arena->lower_bound = std::max(arena->lower_bound, b.fixed + b.size);
    }
  }
  Bytes load = 0;
  for (int32_t s = 0; s < sections; ++s) {
    load += change[static_cast<size_t>(s)];
    arena->loads.push_back(load);
    arena->lower_bound = std::max(arena->lower_bound, load);
  }
}

void RankTimes(const LifetimeProblem& problem, LifetimeArena* arena) {
  std::vector<int64_t> times;
  for (const ArenaBlock& b : arena->blocks) {
    times.push_back(problem.lifetimes[b.block].begin);
    times.push_back(problem.lifetimes[b.block].end);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (ArenaBlock& b : arena->blocks) {
    const Lifetime& life = problem.lifetimes[b.block];
    b.life = {RankOf(times, life.begin), RankOf(times, life.end)};
  }
}

}  // namespace

std::vector<LifetimeArena> SplitIntoArenas(const LifetimeProblem& problem) {
  std::vector<LifetimeArena> arenas;
  std::vector<uint32_t> numbers;
  for (const PlanBlock& b : problem.blocks) numbers.push_back(b.arena);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const uint32_t number : numbers) arenas.emplace_back().arena = number;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    const PlanBlock& b = problem.blocks[i];
    if (b.size == 0 || problem.lifetimes[i].empty()) continue;
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), b.arena) - numbers.begin();
    arenas[static_cast<size_t>(at)].blocks.push_back({i, b.size, b.alignment, b.fixed, {}});
  }
  for (LifetimeArena& arena : arenas) {
    RankTimes(problem, &arena);
    AddLoads(&arena);
  }
  return arenas;
}

std::vector<LifetimeArena> SplitIntoComponents(const LifetimeArena& arena) {
  std::vector<ArenaBlock> by_birth = arena.blocks;
  std::sort(by_birth.begin(), by_birth.end(), [](const ArenaBlock& a, const ArenaBlock& b) {
    return a.life.lower != b.life.lower ? a.life.lower < b.life.lower : a.block < b.block;
  });
  std::vector<LifetimeArena> parts;
  int32_t end = 0;
  int32_t first = 0;
  for (const ArenaBlock& b : by_birth) {
    if (parts.empty() || b.life.lower >= end) {
      parts.emplace_back().arena = arena.arena;
      first = b.life.lower;
    }
    end = std::max(end, b.life.upper);
    parts.back().blocks.push_back(b);
    parts.back().blocks.back().life = {b.life.lower - first, b.life.upper - first};
  }
  for (LifetimeArena& part : parts) AddLoads(&part);
  return parts;
}

}  // namespace graphkit
