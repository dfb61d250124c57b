// Lowers a plan's peak: what lies highest is put where it displaces the least, what it displaces is
// placed again, where need be by displacing in its turn.
//
//     top   | x |                    x goes where b lay; b fits beside c; the peak is lower
//           | a || b |
//           |   c    |
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/conflict_lists.h"
#include "libgraphkit/alloc/greedy.h"
#include "libgraphkit/analysis/lanes.h"
#include "libgraphkit/model/random.h"

namespace graphkit {

class PlanRepair {
 public:
  // `fixed`: by item, or PlanBlock::kAnywhere. All must outlive it; the lists are complete.
  PlanRepair(const Lanes& lanes, const ConflictLists& lists, std::span<const Bytes> fixed,
             Bytes alignment, uint64_t seed);

  // Moves `item`, and others, until all of them end below `peak`; says whether it could. If not,
  // the offsets are what they were.
  bool Lower(uint32_t item, Bytes peak, std::vector<Bytes>* offsets);

  uint64_t looks() const { return looks_; }  // conflicts looked at so far

 private:
  struct Range {
    Bytes begin;
    Bytes end;
    uint32_t item;
  };

  // What displacing all that begins before a place costs, or all that ends up to it.
  struct Sum {
    Bytes place = 0;
    double cost = 0;
    uint32_t firm = 0;  // of them may not be moved
  };

  void FindTaken(uint32_t item, const std::vector<Bytes>& offsets);
  bool FindGap(uint32_t item, Bytes peak, Bytes* offset) const;
  void SumUp();
  bool FindVictims(uint32_t item, Bytes peak, Bytes* offset);
  void Move(uint32_t item, Bytes offset, std::vector<Bytes>* offsets);

  const Lanes& lanes_;
  const ConflictLists& lists_;
  std::span<const Bytes> fixed_;
  Bytes alignment_;
  Random random_;
  uint64_t looks_ = 0;
  std::vector<Range> taken_;  // of the item that is being placed, by begin
  std::vector<Sum> begins_;   // of the taken ranges, by place
  std::vector<Sum> ends_;
  std::vector<std::pair<uint32_t, Bytes>> moved_;
  std::vector<uint32_t> open_;    // displaced, to be placed again
  std::vector<uint32_t> forced_;  // by item: the attempt that put it where it is by displacing
  uint32_t attempt_ = 0;
};

}  // namespace graphkit
