#include "libgraphkit/alloc/plan/greedy.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace graphkit {
namespace {

Bytes Length(const ArenaBlock& b) { return static_cast<Bytes>(b.life.upper - b.life.lower); }

// The largest load of the sections that a block lives in, by block. Sparse table over the sections.
std::vector<Bytes> LargestLoads(const LifetimeArena& arena) {
  std::vector<std::vector<Bytes>> table = {arena.loads};
  for (size_t width = 2; width <= arena.loads.size(); width *= 2) {
    const std::vector<Bytes>& half = table.back();
    std::vector<Bytes> row(arena.loads.size() - width + 1);
    for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(half[i], half[i + width / 2]);
    table.push_back(std::move(row));
  }
  std::vector<Bytes> largest;
  for (const ArenaBlock& b : arena.blocks) {
    const auto length = static_cast<size_t>(b.life.upper - b.life.lower);
    size_t level = 0;
    while ((size_t{2} << level) <= length) ++level;
    const std::vector<Bytes>& row = table[level];
    largest.push_back(std::max(row[static_cast<size_t>(b.life.lower)],
                               row[static_cast<size_t>(b.life.upper) - (size_t{1} << level)]));
  }
  return largest;
}

struct OrderAndFit {
  GreedyOrder order;
  Fit fit;
};

// The most successful first: most problems need no more than a few.
constexpr std::array<OrderAndFit, 8> kOrdersAndFits = {{
    {GreedyOrder::kSize, Fit::kFirst},
    {GreedyOrder::kLifetime, Fit::kBest},
    {GreedyOrder::kSize, Fit::kBest},
    {GreedyOrder::kArea, Fit::kFirst},
    {GreedyOrder::kLifetime, Fit::kFirst},
    {GreedyOrder::kBirth, Fit::kBest},
    {GreedyOrder::kLoad, Fit::kFirst},
    {GreedyOrder::kEnd, Fit::kFirst},
}};

}  // namespace

std::vector<uint32_t> OrderBlocks(const LifetimeArena& arena, GreedyOrder order) {
  const std::vector<Bytes> loads =
      order == GreedyOrder::kLoad ? LargestLoads(arena) : std::vector<Bytes>();
  // The larger comes first.
  const auto key = [&](uint32_t i) -> std::array<Bytes, 3> {
    const ArenaBlock& b = arena.blocks[i];
    const Bytes late = ~static_cast<Bytes>(b.life.lower);
    switch (order) {
      case GreedyOrder::kSize:
        return {b.size, ~Bytes{b.block}, 0};
      case GreedyOrder::kArea:
        return {b.size * Length(b), b.size, late};
      case GreedyOrder::kLifetime:
        return {Length(b), b.size, late};
      case GreedyOrder::kBirth:
        return {late, b.size, Length(b)};
      case GreedyOrder::kLoad:
        return {loads[i], b.size, Length(b)};
      case GreedyOrder::kEnd:
        return {static_cast<Bytes>(b.life.upper), b.size, Length(b)};
    }
    return {};
  };
  std::vector<std::pair<std::array<Bytes, 3>, uint32_t>> keyed;
  keyed.reserve(arena.blocks.size());
  for (uint32_t i = 0; i < arena.blocks.size(); ++i) keyed.emplace_back(key(i), ~i);
  std::sort(keyed.begin(), keyed.end(), std::greater<>());
  std::vector<uint32_t> result;
  result.reserve(keyed.size());
  for (const auto& entry : keyed) result.push_back(~entry.second);
  return result;
}

GreedyPlan PlaceInOrder(const LifetimeArena& arena, std::span<const uint32_t> order, Fit fit,
                        Bytes limit) {
  GreedyPlan plan;
  plan.offsets.resize(arena.blocks.size());
  PlacedByOffset placed;
  const auto put = [&](uint32_t i, Bytes offset) {
    const ArenaBlock& b = arena.blocks[i];
    plan.offsets[i] = offset;
    plan.peak = std::max(plan.peak, offset + b.size);
    placed.Insert(offset, b.size, b.life);
  };
  for (const uint32_t i : order) {
    if (arena.blocks[i].fixed != PlanBlock::kAnywhere) put(i, arena.blocks[i].fixed);
  }
  for (const uint32_t i : order) {
    const ArenaBlock& b = arena.blocks[i];
    if (b.fixed != PlanBlock::kAnywhere) continue;
    const Bytes offset = placed.FindGap(b.size, b.alignment, b.life, fit, limit);
    if (offset + b.size < offset || offset + b.size >= limit) {
      plan.peak = kNoPlan;
      return plan;
    }
    put(i, offset);
  }
  return plan;
}

GreedyPlan PlaceByPortfolio(const LifetimeArena& arena) {
  GreedyPlan best{.offsets = {}, .peak = kNoPlan};
  for (const OrderAndFit& attempt : kOrdersAndFits) {
    GreedyPlan plan =
        PlaceInOrder(arena, OrderBlocks(arena, attempt.order), attempt.fit, best.peak);
    if (plan.peak < best.peak) best = std::move(plan);
    if (best.peak <= arena.lower_bound) break;
  }
  return best;
}

}  // namespace graphkit
