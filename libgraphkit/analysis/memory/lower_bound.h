// No plan can be smaller: the heaviest set of pairwise conflicting blocks (a maximum-weight
// antichain of the order of blocks), exactly, with the set as its certificate.
//
// It is found in windows of capture order. If z is the latest born of an antichain, all others
// conflict with z and were born before it: so for each window of births, only they and the blocks
// that conflict with one of them count. A greedy hand-over bounds each window from above; windows
// whose bound isn't above the best antichain so far need no flow. See docs/memory.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct LowerBoundOptions {
  std::chrono::milliseconds time_limit{3000};  // of the thread's processor time
  size_t window = 512;                         // births, at least; the result doesn't depend on it
};

struct LowerBound {
  Bytes bytes = 0;  // of sizes rounded up to 512 B
  // False: the time limit passed, or blocks had to be left out; still a valid bound.
  bool exact = true;
  std::vector<BlockId> blocks;  // pairwise conflicting; `bytes` is their sum
  bool operator==(const LowerBound&) const = default;
};

// `blocks`: of one root graph, ascending.
LowerBound FindLowerBound(const BlockOrder& order, std::span<const BlockId> blocks,
                          const LowerBoundOptions& options = {});

}  // namespace graphkit
