// A family of 200 placement problems by seed, that no planner was tuned to: lifetimes as models and
// captures have them, and rectangles that were cut into blocks, whose fit is known.
//
//   offset            cut: every byte of lifetime × offset is taken, so the least peak is the
//   height
//     | a |    b    |
//     |   |----|----|   models: the capacity is the largest load, or some thousandths more, and
//     |   | c  |    |   whether they fit isn't known
//     |--------| d  |
//     |    e   |    |
//     +-------------- time
//
// Seeds 2k-1 and 2k have one shape. Planners are worked on with odd seeds and judged with even
// ones: docs/performance.md.
#pragma once

#include <cstdint>
#include <string>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

struct FamilyProblem {
  std::string shape;
  LifetimeProblem problem;
  Bytes capacity = 0;
  bool fits = false;  // is known to
};

inline constexpr uint64_t kFamilySize = 200;

// Seeds 1 to kFamilySize; the blocks of a shape grow from 40 to some thousands with the seed.
FamilyProblem MakeFamilyProblem(uint64_t seed);

}  // namespace graphkit
