// Greedy placement: one block after the other, each into a gap between those that are placed
// already. Which order is best differs from problem to problem, so a portfolio of them is tried.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/lifetime_arena.h"

namespace graphkit {

enum class GreedyOrder : uint8_t {
  kSize,      // largest first, of equals the first of the problem: mostly in program order
  kArea,      // largest size × lifetime first
  kLifetime,  // longest first
  kBirth,     // earliest first
  kLoad,      // at the largest load first, then the largest
  kEnd,       // latest end first
};

// The arena's blocks, in an order; other ties by size, lifetime, birth, number.
std::vector<uint32_t> OrderBlocks(const LifetimeArena& arena, GreedyOrder order);

struct GreedyPlan {
  std::vector<Bytes> offsets;  // by block of the arena
  Bytes peak = 0;
};

// Places blocks in the given order, blocks at fixed offsets before all others. Peak is kNoPlan as
// soon as it would reach `limit`.
inline constexpr Bytes kNoPlan = ~Bytes{0};
inline constexpr Bytes kUnplaced = ~Bytes{0};  // the offset of a block that lies nowhere
GreedyPlan PlaceInOrder(const LifetimeArena& arena, std::span<const uint32_t> order, Fit fit,
                        Bytes limit = kNoPlan);

// The best of the portfolio; stops at the lower bound.
GreedyPlan PlaceByPortfolio(const LifetimeArena& arena);

}  // namespace graphkit
