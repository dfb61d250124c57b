// Every block's conflicts, listed: what greedy placement reads again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/placed_by_offset.h"
#include "libgraphkit/alloc/plan/placed_conflicts.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {

class ConflictLists {
 public:
  // Gives up above `limit` pairs: then it isn't complete, and holds nothing.
  ConflictLists(const Lanes& lanes, const PlacedConflicts& exits, size_t limit);
  // Of lifetimes: two of them conflict if they overlap.
  ConflictLists(std::span<const RankLifetime> lifetimes, size_t limit);

  bool complete() const { return complete_; }
  std::span<const uint32_t> Of(uint32_t item) const {
    return {others_.data() + first_[item], first_[item + 1] - first_[item]};
  }

 private:
  template <typename ForEachPair>
  void Fill(const ForEachPair& for_each_pair, size_t limit);

  bool complete_ = true;
  std::vector<uint32_t> first_;  // by item, and one more
  std::vector<uint32_t> others_;
};

}  // namespace graphkit
