// Checks what is said to be free for a while: shares no code with what finds it
// (libgraphkit/analysis/memory/borrow.h, libgraphkit/alloc/plan/plan_borrow.h). Each block that
// lies in borrowed bytes is looked at, and at a node each of its touches.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/plan_borrow.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/borrow.h"

namespace graphkit {

// A block that is needed while its bytes are borrowed. None: no segment has these bytes, or
// two ranges overlap.
struct WrongBorrow {
  BlockId block;
  Address at = 0;  // the range's begin: an address, or an offset in an arena
  bool operator==(const WrongBorrow&) const = default;
};

// By block: whether a launch of its graph finds in it what an earlier one, another graph or the
// host left there; and whether that, or what a launch leaves in it, is needed between launches.
struct BorrowNeeds {
  std::vector<bool> takes_in;
  std::vector<bool> needed;
};
// Blocks of captures; what was allocated outside of them is needed.
BorrowNeeds FindBorrowNeeds(const Facts& facts);

// `looks`, if it isn't null, gets how many blocks and segments were looked at.
std::vector<WrongBorrow> ValidateBorrow(const Facts& facts, std::span<const PoolBorrow> pools,
                                        uint64_t* looks = nullptr);
// Of plan.borrow.
std::vector<WrongBorrow> ValidatePlanBorrow(const Facts& facts, const PlannedMemory& plan);
// At a node, by the last uses of blocks (MarkerRule::kLastUse); of what escaped, by its free.
std::vector<WrongBorrow> ValidateBorrowAt(const Facts& facts, const PlannedMemory& plan, NodeId at,
                                          std::span<const BorrowAt> ranges);

}  // namespace graphkit
