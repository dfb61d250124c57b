#include "libgraphkit/alloc/plan/greedy.h"

namespace graphkit {
namespace {

// The choice of a gap: the lowest, or the one with the least to spare (the lowest of equals).
enum class Fit : uint8_t { kFirst, kBest };

// The blocks placed so far, by offset, with their lifetimes; finds the gaps that a block fits into.
// Flat chunks in offset order; a query looks at each chunk's lifetimes in one straight loop.
class PlacedByOffset {
 public:
  void Insert(Bytes offset, Bytes size, RankLifetime life);
  // The offset of a gap for a block; above all that it conflicts with when none is large enough.
  // Gives up and returns `limit` when that would end above `limit`.
  Bytes FindGap(Bytes size, Bytes alignment, RankLifetime life, Fit fit, Bytes limit) const;

 private:
  static constexpr uint32_t kChunk = 64;
  struct Place {
    Bytes offset = 0;
    Bytes top = 0;
  };
  struct Chunk {
    uint32_t size = 0;
    RankLifetime span{INT32_MAX, INT32_MIN};  // from the least lower to the greatest upper of all
    std::array<RankLifetime, kChunk> lives;
    std::array<Place, kChunk> places;

    void Add(uint32_t at, RankLifetime life, Place place) {
      std::copy_backward(lives.begin() + at, lives.begin() + size, lives.begin() + size + 1);
      std::copy_backward(places.begin() + at, places.begin() + size, places.begin() + size + 1);
      lives[at] = life;
      places[at] = place;
      ++size;
      span = {std::min(span.lower, life.lower), std::max(span.upper, life.upper)};
    }
    // Which of its blocks live at the same time, into `hits`; how many.
    uint32_t Overlapping(RankLifetime life, std::array<uint8_t, kChunk>* hits) const {
      if (span.lower >= life.upper || span.upper <= life.lower) return 0;
      uint32_t count = 0;
      for (uint32_t i = 0; i < size; ++i) {
        (*hits)[count] = static_cast<uint8_t>(i);
        count += uint32_t{lives[i].lower < life.upper} & uint32_t{lives[i].upper > life.lower};
      }
      return count;
    }
  };
  uint32_t ChunkFor(Bytes offset) const;
  void Split(uint32_t place);

  std::vector<Chunk> chunks_;
  std::vector<uint32_t> order_;       // chunks by offset
  std::vector<Bytes> first_offsets_;  // of order_[i]'s first block
};

// The last chunk that begins at or below the offset.
uint32_t PlacedByOffset::ChunkFor(Bytes offset) const {
  const auto above = std::upper_bound(first_offsets_.begin(), first_offsets_.end(), offset);
  return above == first_offsets_.begin()
             ? 0u
             : static_cast<uint32_t>(above - first_offsets_.begin() - 1);
}

void PlacedByOffset::Split(uint32_t place) {
  const auto made = static_cast<uint32_t>(chunks_.size());
  chunks_.resize(made + 1);
  const Chunk full = std::exchange(chunks_[order_[place]], {});
  for (uint32_t i = 0; i < kChunk; ++i) {
    Chunk& half = chunks_[i < kChunk / 2 ? order_[place] : made];
    half.Add(half.size, full.lives[i], full.places[i]);
  }
  order_.insert(order_.begin() + place + 1, made);
  first_offsets_.insert(first_offsets_.begin() + place + 1, chunks_[made].places[0].offset);
}

void PlacedByOffset::Insert(Bytes offset, Bytes size, RankLifetime life) {
  if (order_.empty()) {
    chunks_.emplace_back();
    order_.push_back(0);
    first_offsets_.push_back(offset);
  }
  uint32_t place = ChunkFor(offset);
  if (chunks_[order_[place]].size == kChunk) {
    Split(place);
    place = ChunkFor(offset);
  }
  Chunk& c = chunks_[order_[place]];
  const auto end = c.places.begin() + c.size;
  const auto at = std::ranges::upper_bound(c.places.begin(), end, offset, {}, &Place::offset);
  c.Add(static_cast<uint32_t>(at - c.places.begin()), life, {offset, offset + size});
  first_offsets_[place] = c.places[0].offset;
}

Bytes PlacedByOffset::FindGap(Bytes size, Bytes alignment, RankLifetime life, Fit fit,
                              Bytes limit) const {
  Bytes bottom = 0;  // all below is taken, or was too small a gap
  Bytes best = limit;
  Bytes best_spare = ~Bytes{0};
  std::array<uint8_t, kChunk> hits;
  for (const uint32_t place : order_) {
    const Chunk& c = chunks_[place];
    const uint32_t count = c.Overlapping(life, &hits);
    for (uint32_t k = 0; k < count; ++k) {
      const auto& [offset, top] = c.places[hits[k]];
      if (offset >= bottom + size && offset - bottom - size < best_spare) {
        if (fit == Fit::kFirst) return bottom;
        best = bottom;
        best_spare = offset - bottom - size;
      }
      if (top > bottom) {
        bottom = alignment == 1 ? top : RoundUp(top, alignment);
        if (fit == Fit::kFirst && bottom + size > limit) return limit;
      }
    }
  }
  if (best_spare != ~Bytes{0}) return best;
  return bottom + size > limit ? limit : bottom;
}

enum class GreedyOrder : uint8_t {
  kSize,      // largest first, of equals the first of the problem: mostly in program order
  kArea,      // largest size × lifetime first
  kLifetime,  // longest first
  kBirth,     // earliest first
  kLoad,      // at the largest load first, then the largest
  kEnd,       // latest end first
};

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

// The arena's blocks, in an order; other ties by size, lifetime, birth, number.
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

// Places blocks in the given order, blocks at fixed offsets before all others. Peak is kNoPlan as
// soon as it would reach `limit`.
GreedyPlan PlaceInOrder(const LifetimeArena& arena, std::span<const uint32_t> order, Fit fit,
                        Bytes limit) {
  GreedyPlan plan{std::vector<Bytes>(arena.blocks.size()), 0};
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

// Puts blocks that a graph orders one after the other.
class LaneGreedy {
 public:
  LaneGreedy(const Lanes& lanes, std::span<const Bytes> fixed, Bytes alignment,
             const ConflictLists& lists, PlacedConflicts* conflicts)
      : lanes_(lanes),
        fixed_(fixed),
        alignment_(alignment),
        lists_(lists),
        conflicts_(*conflicts),
        plan_{std::vector<Bytes>(lanes.size(), kUnplaced), 0} {}

  GreedyPlan Run() {
    if (!lists_.complete()) conflicts_.Clear();
    const std::vector<uint32_t> items = LargestFirst();
    for (const uint32_t item : items) {
      if (fixed_[item] != PlanBlock::kAnywhere) Put(item, fixed_[item]);
    }
    for (const uint32_t item : items) {
      if (fixed_[item] != PlanBlock::kAnywhere) continue;
      Put(item, lanes_.weight(item) == 0 ? 0 : FindGap(item));
    }
    return std::move(plan_);
  }

 private:
  using Range = Interval<Bytes>;

  std::vector<uint32_t> LargestFirst() const {
    std::vector<std::pair<Bytes, uint32_t>> keys;  // size, and the stretch of capture order
    std::vector<uint32_t> items(lanes_.size());
    for (uint32_t item = 0; item < items.size(); ++item) {
      keys.emplace_back(lanes_.weight(item), EndInCaptureOrder(lanes_, conflicts_, item) - item);
      items[item] = item;
    }
    std::ranges::stable_sort(items, std::ranges::greater(), [&](uint32_t i) { return keys[i]; });
    return items;
  }

  void Put(uint32_t item, Bytes offset) {
    plan_.offsets[item] = offset;
    if (lanes_.weight(item) == 0) return;
    plan_.peak = std::max(plan_.peak, offset + lanes_.weight(item));
    if (!lists_.complete()) conflicts_.Add(item);
  }

  Bytes FindGap(uint32_t item) {
    std::span<const uint32_t> others;
    if (lists_.complete()) {
      others = lists_.Of(item);
    } else {
      found_.clear();
      conflicts_.Find(item, &found_);
      others = found_;
    }
    taken_.clear();
    for (const uint32_t other : others) {
      const Bytes offset = plan_.offsets[other];
      if (offset == kUnplaced || lanes_.weight(other) == 0) continue;
      taken_.push_back({offset, offset + lanes_.weight(other)});
    }
    std::ranges::sort(taken_, {}, &Range::begin);
    Bytes bottom = 0;
    for (const Range& range : taken_) {
      if (range.begin >= bottom + lanes_.weight(item)) break;
      if (range.end > bottom) bottom = RoundUp(range.end, alignment_);
    }
    return bottom;
  }

  const Lanes& lanes_;
  std::span<const Bytes> fixed_;
  Bytes alignment_;
  const ConflictLists& lists_;
  PlacedConflicts& conflicts_;
  std::vector<uint32_t> found_;  // where there are no lists
  std::vector<Range> taken_;
  GreedyPlan plan_;
};

}  // namespace

GreedyPlan PlaceByPortfolio(const LifetimeArena& arena) {
  GreedyPlan best;
  for (const OrderAndFit& attempt : kOrdersAndFits) {
    GreedyPlan plan =
        PlaceInOrder(arena, OrderBlocks(arena, attempt.order), attempt.fit, best.peak);
    if (plan.peak < best.peak) best = std::move(plan);
    if (best.peak <= arena.lower_bound) break;
  }
  return best;
}

GreedyPlan PlaceLargestFirst(const Lanes& lanes, std::span<const Bytes> fixed, Bytes alignment,
                             const ConflictLists& lists, PlacedConflicts* conflicts) {
  return LaneGreedy(lanes, fixed, alignment, lists, conflicts).Run();
}

}  // namespace graphkit
