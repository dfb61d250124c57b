// A placement problem: blocks, and when each of them is needed.
//
//   time      0  1  2  3  4  5  6
//   block 0   |--------|              [0, 3)  4 bytes
//   block 1            |--------|     [3, 6)  4 bytes: may lie where 0 lay
//   block 2      |-----------|        [1, 5)  2 bytes: conflicts with both
//
//   LifetimeProblem{.blocks = {{.size = 4}, {.size = 4}, {.size = 2}},
//                   .lifetimes = {{0, 3}, {3, 6}, {1, 5}}}
//
// Blocks that conflict may not overlap in memory. What a plan minimises is the highest byte used.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct PlanBlock {
  static constexpr Bytes kAnywhere = ~Bytes{0};

  Bytes size = 0;
  Bytes alignment = 1;      // of the offset; not 0
  Bytes fixed = kAnywhere;  // the offset that it must have
  // Blocks of different arenas never share memory: one arena per pool, and per key of blocks that
  // may be reused by their like only.
  uint32_t arena = 0;
  bool operator==(const PlanBlock&) const = default;
};

using Lifetime = Interval<int64_t>;

// Two blocks of an arena conflict if their lifetimes overlap. A block with an empty lifetime or no
// bytes conflicts with none.
struct LifetimeProblem {
  std::vector<PlanBlock> blocks;
  std::vector<Lifetime> lifetimes;  // lifetimes[i]: of blocks[i]
  bool operator==(const LifetimeProblem&) const = default;
};

// Where each block lies.

// One arena's part of a plan.
struct ArenaPlan {
  uint32_t arena = 0;
  Bytes peak = 0;         // the highest byte used
  Bytes lower_bound = 0;  // no plan of this arena can have a smaller peak
  bool operator==(const ArenaPlan&) const = default;
};

struct Plan {
  std::vector<Bytes> offsets;     // offsets[i]: of block i, in its arena
  std::vector<ArenaPlan> arenas;  // by arena
  Bytes peak = 0;                 // sum over the arenas
  Bytes lower_bound = 0;          // sum over the arenas
  bool operator==(const Plan&) const = default;

  bool optimal() const { return peak == lower_bound; }
};

}  // namespace graphkit
