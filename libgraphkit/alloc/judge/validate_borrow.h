// Checks what is said to be free for a while: shares no code with what finds it
// (libgraphkit/analysis/launches/borrow_bars.cpp, libgraphkit/alloc/plan/plan_borrow.h). Each block
// that lies in borrowed bytes is cut where an access begins or ends, and of each piece each read
// needs a write: one that covers the piece, in every launch in which the read runs, and that has
// ended before the read starts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/plan_borrow.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/borrow.h"

namespace graphkit {

// A block that is needed while its bytes are borrowed. None: no segment has these bytes, two ranges
// overlap, or something touches them where no block lies.
struct WrongBorrow {
  BlockId block;
  Address at = 0;  // the range's begin: an address, or an offset in an arena
  bool operator==(const WrongBorrow&) const = default;
};

// `looks`, if it isn't null, gets how many blocks and segments were looked at.
std::vector<WrongBorrow> ValidateBorrow(const Facts& facts, std::span<const PoolBorrow> pools,
                                        uint64_t* looks = nullptr);
// Of plan.borrow.
std::vector<WrongBorrow> ValidatePlanBorrow(const Facts& facts, const PlannedMemory& plan);
// Of ranges like plan.borrow_at, by the last uses of blocks (MarkerRule::kLastUse); of what
// escaped, by its free.
std::vector<WrongBorrow> ValidateBorrowAt(const Facts& facts, const PlannedMemory& plan,
                                          std::span<const BorrowAt> ranges);

}  // namespace graphkit
