#include "libgraphkit/alloc/plan/conflict_lists.h"

#include <algorithm>
#include <numeric>

namespace graphkit {

// A sweep in capture order over what is not yet before all that is to come. Visits (later,
// earlier); ends when a visit says so.
template <typename Visit>
void ConflictLists::ForEachPair(const Lanes& lanes, const PlacedConflicts& exits,
                                const Visit& visit) const {
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

ConflictLists::ConflictLists(const Lanes& lanes, const PlacedConflicts& exits, size_t limit)
    : first_(lanes.size() + 1) {
  size_t pairs = 0;
  ForEachPair(lanes, exits, [&](uint32_t later, uint32_t earlier) {
    ++first_[later + 1];
    ++first_[earlier + 1];
    return ++pairs <= limit;
  });
  complete_ = pairs <= limit;
  if (!complete_) return;
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  others_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  ForEachPair(lanes, exits, [&](uint32_t later, uint32_t earlier) {
    others_[next[later]++] = earlier;
    others_[next[earlier]++] = later;
    return true;
  });
}

}  // namespace graphkit
