#include "libgraphkit/alloc/plan/conflict_lists.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

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

}  // namespace graphkit
