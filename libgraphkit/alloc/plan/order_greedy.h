// Greedy placement of blocks that a graph orders: one after the other, each into a gap between
// those that are placed already and conflict with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/conflict_lists.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/placed_conflicts.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {

class OrderGreedy {
 public:
  enum class Sequence : uint8_t {
    kSize,   // largest first
    kSpan,   // that conflict with the longest stretch of capture order first
    kBirth,  // in capture order
    kArea,   // size × span
  };
  struct Plan {
    std::vector<Bytes> offsets = {};  // by item
    Bytes peak = kNoPlan;
  };

  // `fixed`: by item, or PlanBlock::kAnywhere. Lanes and `fixed` must outlive it.
  OrderGreedy(const Lanes& lanes, std::span<const Bytes> fixed, Bytes alignment);

  std::vector<uint32_t> InSequence(Sequence sequence) const;
  // Peak is kNoPlan as soon as it would reach `limit`.
  Plan Place(std::span<const uint32_t> sequence, Fit fit, Bytes limit);

  const ConflictLists& lists() const { return lists_; }
  const PlacedConflicts& conflicts() const { return conflicts_; }
  uint64_t looks() const { return looks_; }  // conflicts looked at so far, in all plans

 private:
  struct Range {
    Bytes begin;
    Bytes end;
  };

  void FindTaken(uint32_t item, const Plan& plan);
  Bytes FindGap(uint32_t item, Fit fit, const Plan& plan);
  void Put(uint32_t item, Bytes offset, Plan* plan);

  const Lanes& lanes_;
  std::span<const Bytes> fixed_;
  Bytes alignment_;
  PlacedConflicts conflicts_;
  ConflictLists lists_;
  std::vector<uint32_t> spans_;  // by item
  std::vector<uint32_t> found_;  // where there are no lists
  std::vector<Range> taken_;
  uint64_t looks_ = 0;
};

}  // namespace graphkit
