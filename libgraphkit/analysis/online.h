// What an online allocator without fragmentation would take for a graph: the footprint beside the
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
#pragma once

#include <chrono>
#include <optional>

#include "libgraphkit/analysis/exits.h"
#include "libgraphkit/analysis/lanes.h"
#include "libgraphkit/units.h"

namespace graphkit {

// None: past the deadline.
std::optional<Bytes> FindOnlineFootprint(const Lanes& lanes, const Exits& exits,
                                         std::chrono::steady_clock::time_point deadline);

}  // namespace graphkit
