// One arena of a lifetime problem, in the form that the planner works on: blocks that matter, times
// as ranks, and the load, which is the lower bound.
//
// A section is a time at which the set of live blocks is as large as it gets: from a birth after
// which no other comes before the next death. Two blocks conflict if they share a section. The load
// of a section is the sum of its blocks' sizes, the largest load a lower bound for every plan.
//
//   births and deaths   b b d b d d b b d d
//   sections             0   1     2
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

// [lower, upper), in ranks: any numbering of times that keeps the conflicts.
struct RankLifetime {
  int32_t lower = 0;
  int32_t upper = 0;
};

struct ArenaBlock {
  uint32_t block = 0;  // in the problem
  Bytes size = 0;
  Bytes alignment = 1;
  Bytes fixed = PlanBlock::kAnywhere;
  Bytes length = 0;   // of its lifetime, in the problem's times
  RankLifetime life;  // sections [lower, upper)
};

struct LifetimeArena {
  uint32_t arena = 0;
  std::vector<ArenaBlock> blocks;  // that have bytes and a lifetime
  std::vector<Bytes> loads;        // by section
  Bytes lower_bound = 0;           // the largest load, or the top of a fixed block above it
};

// The arenas of a problem, by number.
std::vector<LifetimeArena> SplitIntoArenas(const LifetimeProblem& problem);

// The parts of an arena that share no section: each can be planned by itself. Loads and bounds are
// theirs.
std::vector<LifetimeArena> SplitIntoComponents(const LifetimeArena& arena);

}  // namespace graphkit
