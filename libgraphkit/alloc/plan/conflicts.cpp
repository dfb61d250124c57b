#include "libgraphkit/alloc/plan/conflicts.h"

#include <bit>
#include <compare>

#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// A sweep in capture order over what is not yet before all that is to come. Visits (later,
// earlier); ends when a visit says so.
template <typename Visit>
void ForEachPair(const Lanes& lanes, const PlacedConflicts& exits, const Visit& visit) {
  constexpr uint32_t kSweep = 64;  // births between two looks at what has ended
  const auto lane_count = static_cast<uint32_t>(lanes.lanes());
  std::vector<uint32_t> active;
  std::vector<uint32_t> born(lane_count);
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    const uint32_t lane = lanes.lane(item);
    const uint32_t place = exits.place(item);
    for (const uint32_t other : active) {
      const bool before = exits.Exit(other, lane) <= place;
      const bool after = exits.Exit(item, lanes.lane(other)) <= exits.place(other);
      if (!before && !after && !visit(item, other)) return;
    }
    ++born[lane];
    active.push_back(item);
    if (item % kSweep != 0) continue;
    std::erase_if(active, [&](uint32_t other) {
      for (uint32_t i = 0; i < lane_count; ++i) {
        if (exits.Exit(other, i) > born[i]) return false;
      }
      return true;
    });
  }
}

// In order of births: what is born before another one's end, and not before it.
template <typename Visit>
void ForEachPair(std::span<const RankLifetime> lifetimes, const Visit& visit) {
  std::vector<uint32_t> by_birth(lifetimes.size());
  std::iota(by_birth.begin(), by_birth.end(), 0u);
  std::ranges::stable_sort(by_birth, {}, [&](uint32_t item) { return lifetimes[item].lower; });
  for (size_t i = 0; i < by_birth.size(); ++i) {
    const int32_t end = lifetimes[by_birth[i]].upper;
    for (size_t j = i + 1; j < by_birth.size() && lifetimes[by_birth[j]].lower < end; ++j) {
      if (!visit(by_birth[j], by_birth[i])) return;
    }
  }
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

PlacedConflicts::PlacedConflicts(const Lanes& lanes) : lanes_(lanes), places_(lanes.size()) {
  for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
    const std::span<const uint32_t> births = lanes.births(lane);
    for (uint32_t i = 0; i < births.size(); ++i) places_[births[i]] = i;
  }
  FindExits();
}

void PlacedConflicts::Clear() {
  trees_.resize(lanes_.lanes());
  for (uint32_t lane = 0; lane < trees_.size(); ++lane) {
    const auto births = static_cast<uint32_t>(lanes_.births(lane).size());
    trees_[lane].leaves = std::bit_ceil(births);
    trees_[lane].maxima.assign(size_t{2} * trees_[lane].leaves * lanes_.lanes(), 0);
  }
}

// Items come in capture order; blocks of one lane mostly end one soon after the other.
void PlacedConflicts::FindExits() {
  const auto lanes = static_cast<uint32_t>(lanes_.lanes());
  exits_.resize(lanes_.size() * lanes);
  std::vector<uint32_t> born(lanes);                    // of each lane so far
  std::vector<uint32_t> latest(size_t{lanes} * lanes);  // exits of each lane's latest item
  for (uint32_t item = 0; item < lanes_.size(); ++item) {
    const uint32_t own = lanes_.lane(item);
    ++born[own];
    uint32_t* hints = latest.data() + size_t{own} * lanes;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint32_t from = lanes_.AnyOrder(item) ? 0 : born[lane];
      const uint32_t exit = FindExit(item, lane, from, std::max(from, hints[lane]));
      exits_[size_t{item} * lanes + lane] = exit;
      if (lanes_.Dies(item)) hints[lane] = exit;
    }
  }
}

// All births below `from` aren't after the item; the exit is near `hint`, probably.
uint32_t PlacedConflicts::FindExit(uint32_t item, uint32_t lane, uint32_t from,
                                   uint32_t hint) const {
  const std::span<const uint32_t> births = lanes_.births(lane);
  const auto size = static_cast<uint32_t>(births.size());
  if (!lanes_.Dies(item)) return size;
  uint32_t low = hint;   // all below aren't after the item
  uint32_t high = hint;  // it is after the item, or the end
  uint32_t step = 1;
  if (hint == size || lanes_.Before(item, births[hint])) {
    for (low = from; high > from; step *= 2) {
      const uint32_t next = high - std::min(high - from, step);
      if (!lanes_.Before(item, births[next])) {
        low = next + 1;
        break;
      }
      high = next;
    }
  } else {
    for (; high < size && !lanes_.Before(item, births[high]); step *= 2) {
      low = high + 1;
      high = std::min(size, high + step);
    }
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (lanes_.Before(item, births[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

void PlacedConflicts::Add(uint32_t item) {
  const size_t lanes = lanes_.lanes();
  Tree& tree = trees_[lanes_.lane(item)];
  const uint32_t* exits = exits_.data() + item * lanes;
  for (uint32_t node = tree.leaves + places_[item]; node > 0; node /= 2) {
    uint32_t* maxima = tree.maxima.data() + node * lanes;
    for (size_t i = 0; i < lanes; ++i) maxima[i] = std::max(maxima[i], exits[i]);
  }
}

void PlacedConflicts::Find(uint32_t item, std::vector<uint32_t>* found) const {
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    Search({lane, lanes_.lane(item), Exit(item, lane), places_[item]}, 1, 0, trees_[lane].leaves,
           found);
  }
}

void PlacedConflicts::Search(const Query& query, uint32_t node, uint32_t first, uint32_t width,
                             std::vector<uint32_t>* found) const {
  const Tree& tree = trees_[query.lane];
  if (first >= query.limit) return;
  if (tree.maxima[node * lanes_.lanes() + query.other] <= query.above) return;
  if (width == 1) {
    found->push_back(lanes_.births(query.lane)[first]);
    return;
  }
  Search(query, 2 * node, first, width / 2, found);
  Search(query, 2 * node + 1, first + width / 2, width / 2, found);
}

uint32_t EndInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts, uint32_t item) {
  uint32_t end = item + 1;
  for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
    const uint32_t exit = conflicts.Exit(item, lane);
    if (exit > 0) end = std::max(end, lanes.births(lane)[exit - 1] + 1);
  }
  return end;
}

std::vector<Lifetime> LifetimesOnOneLine(const Lanes& lanes, const PlacedConflicts& conflicts) {
  std::vector<uint64_t> exits(lanes.size());
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) exits[item] += conflicts.Exit(item, lane);
  }
  std::vector<Lifetime> lifetimes(lanes.size());
  std::vector<uint32_t> ends;  // an item that ends at each time
  for (const uint32_t item : IndicesBy(lanes.size(), [&](uint32_t i) { return exits[i]; })) {
    for (uint32_t lane = 0; lane < lanes.lanes() && !ends.empty(); ++lane) {
      if (conflicts.Exit(item, lane) < conflicts.Exit(ends.back(), lane)) return {};
    }
    if (ends.empty() || exits[item] != exits[ends.back()]) ends.push_back(item);
    lifetimes[item].end = static_cast<int64_t>(ends.size());
  }
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    const auto born = std::ranges::partition_point(ends, [&](uint32_t end) {
      return conflicts.Exit(end, lanes.lane(item)) <= conflicts.place(item);
    });
    lifetimes[item].begin = born - ends.begin();
    if (lifetimes[item].empty()) return {};  // it is before a block that is before it
  }
  return lifetimes;
}

void FindSections(const ConflictLists& lists, LifetimeArena* arena) {
  const auto& blocks = arena->blocks;
  const auto by_size = IndicesBy(
      blocks.size(), [&](uint32_t i) { return blocks[i].size; }, std::greater<>());
  std::vector<uint32_t> places(blocks.size());
  for (uint32_t i = 0; i < by_size.size(); ++i) places[by_size[i]] = i;
  std::vector<std::vector<uint32_t>> found;
  std::vector<uint32_t> met(blocks.size());  // so many of the section conflict with it
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    std::vector<uint32_t> section = {block};
    std::vector<uint32_t> others(lists.Of(block).begin(), lists.Of(block).end());
    std::ranges::sort(others, {}, [&](uint32_t other) { return places[other]; });
    std::ranges::fill(met, 0u);
    for (const uint32_t other : others) met[other] = 1;
    for (const uint32_t other : others) {
      if (met[other] != section.size()) continue;
      section.push_back(other);
      for (const uint32_t third : lists.Of(other)) ++met[third];
    }
    std::ranges::sort(section);
    found.push_back(std::move(section));
  }
  SortUnique(&found);
  arena->loads.assign(found.size(), 0);
  arena->sections.resize(blocks.size());
  for (uint32_t s = 0; s < found.size(); ++s) {
    for (const uint32_t block : found[s]) {
      arena->sections[block].push_back(s);
      arena->loads[s] += blocks[block].size;
    }
  }
  for (ArenaBlock& block : arena->blocks) {
    block.length = arena->sections[static_cast<size_t>(&block - arena->blocks.data())].size();
    block.life = {0, static_cast<int32_t>(found.size())};
  }
}

template <typename ForEachPair>
void ConflictLists::Fill(const ForEachPair& for_each_pair, size_t limit) {
  size_t pairs = 0;
  for_each_pair([&](uint32_t one, uint32_t other) {
    ++first_[one + 1];
    ++first_[other + 1];
    return ++pairs <= limit;
  });
  complete_ = pairs <= limit;
  if (!complete_) return;
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  others_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for_each_pair([&](uint32_t one, uint32_t other) {
    others_[next[one]++] = other;
    others_[next[other]++] = one;
    return true;
  });
}

ConflictLists::ConflictLists(const Lanes& lanes, const PlacedConflicts& exits, size_t limit)
    : first_(lanes.size() + 1) {
  Fill([&](const auto& visit) { ForEachPair(lanes, exits, visit); }, limit);
}

ConflictLists::ConflictLists(std::span<const RankLifetime> lifetimes, size_t limit)
    : first_(lifetimes.size() + 1) {
  Fill([&](const auto& visit) { ForEachPair(lifetimes, visit); }, limit);
}

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
