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
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"
#include "libgraphkit/analysis/memory/bound/thread_clock.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct LowerBoundOptions {
  std::chrono::milliseconds time_limit{3000};  // of the thread's processor time
  size_t window = 512;                         // births, at least; the result doesn't depend on it
  bool online = false;                         // also find what an online allocator would take
};

struct LowerBound {
  Bytes bytes = 0;  // of sizes rounded up to 512 B
  // False: the time limit passed, or blocks had to be left out; still a valid bound.
  bool exact = true;
  std::vector<BlockId> blocks;  // pairwise conflicting; `bytes` is their sum
  // The footprint of an online allocator without fragmentation; none: not asked for, or
  // out of time.
  std::optional<Bytes> online = {};
  bool operator==(const LowerBound&) const = default;
};

// `blocks`: of one root graph, ascending.
LowerBound FindLowerBound(const BlockOrder& order, std::span<const BlockId> blocks,
                          const LowerBoundOptions& options = {});

// The memory of a graph with an online allocator without fragmentation: the footprint beside the
// lower bound.
//
// It sees mallocs and frees in capture order and decides at once. A byte is taken over from a block
// that is before the malloc (BlockOrder) and whose free was requested before it; a block's bytes
// may go to several, at any offset. It takes from blocks of the malloc's own stream first, then
// from others', each time from the block that was freed last. What it can't take over is fresh, and
// the fresh bytes are its footprint:
//
//     malloc x 4   free x   malloc y 1   malloc z 5        fresh: 4, of x: 1, of x: 3 and 2 fresh
//
// So the footprint is no less than the most bytes live at once, and no less than the lower bound.

// None: past the deadline.
std::optional<Bytes> FindOnlineFootprint(const Lanes& lanes, const Exits& exits,
                                         ThreadClock::time_point deadline);

}  // namespace graphkit
