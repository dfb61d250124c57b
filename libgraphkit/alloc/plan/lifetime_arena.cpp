#include "libgraphkit/alloc/plan/lifetime_arena.h"

#include <compare>

#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

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

// A section begins at the first birth after a death.
void RankTimes(const LifetimeProblem& problem, LifetimeArena* arena) {
  struct Moment {
    int64_t time;
    bool birth;  // deaths come first
    uint32_t block;
    auto operator<=>(const Moment&) const = default;
  };
  std::vector<Moment> moments;
  moments.reserve(2 * arena->blocks.size());
  for (uint32_t i = 0; i < arena->blocks.size(); ++i) {
    const Lifetime& life = problem.lifetimes[arena->blocks[i].block];
    moments.push_back({life.begin, true, i});
    moments.push_back({life.end, false, i});
  }
  std::sort(moments.begin(), moments.end());
  int32_t section = -1;
  bool died = true;
  for (const Moment& moment : moments) {
    RankLifetime& life = arena->blocks[moment.block].life;
    if (!moment.birth) {
      life.upper = section + 1;
      died = true;
      continue;
    }
    if (died) ++section;
    died = false;
    life.lower = section;
  }
}

}  // namespace

std::vector<LifetimeArena> SplitIntoArenas(const LifetimeProblem& problem) {
  std::vector<LifetimeArena> arenas;
  std::vector<uint32_t> numbers;
  for (const PlanBlock& b : problem.blocks) numbers.push_back(b.arena);
  SortUnique(&numbers);
  for (const uint32_t number : numbers) arenas.emplace_back().arena = number;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    const PlanBlock& b = problem.blocks[i];
    if (b.size == 0 || problem.lifetimes[i].empty()) continue;
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), b.arena) - numbers.begin();
    const auto length = static_cast<Bytes>(problem.lifetimes[i].size());
    arenas[static_cast<size_t>(at)].blocks.push_back({i, b.size, b.alignment, b.fixed, length, {}});
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
