// Lowers a plan's peak where moving single blocks doesn't (plan_repair.h): everything around what
// lies highest is taken out and placed again, largest first with some chance in it. Blocks that
// find no room below the peak come earlier in the next round (squeaky wheel); a few of them are put
// in by displacing others.
//
//     top   | x |                 | x |  taken out with all          |b |   again, b before a
//           | a || b |     ⟶            that conflicts with it  ⟶   | a|| x |
//           |   c    |            |c|    (c may be, too)             |  c   |
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/plan/conflict_lists.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/plan_repair.h"
#include "libgraphkit/analysis/lanes.h"
#include "libgraphkit/model/random.h"

namespace graphkit {

class PlanWindow {
 public:
  // `fixed`: by item, or PlanBlock::kAnywhere. All must outlive it; the lists are complete.
  PlanWindow(const Lanes& lanes, const ConflictLists& lists, std::span<const Bytes> fixed,
             Bytes alignment, uint64_t seed, PlanRepair* repair);

  // Moves `item`, and others, until all of them end below `peak`; says whether it could. If not,
  // the offsets are what they were.
  bool Lower(uint32_t item, Bytes peak, std::vector<Bytes>* offsets);

  uint64_t looks() const { return looks_; }  // conflicts looked at so far

 private:
  struct Range {
    Bytes begin;
    Bytes end;
  };
  struct Member {
    uint32_t item;
    Bytes before;     // its offset
    double priority;  // the highest first
  };

  void Gather(uint32_t item, const std::vector<Bytes>& offsets);
  void Add(uint32_t item, const std::vector<Bytes>& offsets);
  void SetPriorities();
  // Those that find no room are in failed_.
  void Round(Bytes peak, std::vector<Bytes>* offsets);
  bool Displace(Bytes peak, std::vector<Bytes>* offsets);
  bool FindGap(uint32_t item, Bytes peak, const std::vector<Bytes>& offsets, Bytes* offset);

  const Lanes& lanes_;
  const ConflictLists& lists_;
  std::span<const Bytes> fixed_;
  Bytes alignment_;
  Random random_;
  uint64_t looks_ = 0;
  PlanRepair* repair_;
  std::vector<Member> members_;
  std::vector<uint32_t> failed_;
  std::vector<Bytes> saved_;
  std::vector<uint32_t> added_;  // by item: the attempt that it was added in
  std::vector<Range> taken_;
  uint32_t attempt_ = 0;
  bool tightest_ = false;  // of the gaps; otherwise the lowest
};

}  // namespace graphkit
