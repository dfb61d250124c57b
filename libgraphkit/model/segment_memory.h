// Driver allocations, and the segments that an allocator makes of them.
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

using BlocksByAddress = std::multimap<Address, BlockId>;

// The blocks that were asked of the driver: device memory, not handed out of a segment.
BlocksByAddress DriverBlocks(const Trace& trace);

// `first` and the blocks that follow it without a gap, each allocated after the one before it,
// until they have `size` bytes. Empty if they end earlier. An expandable segment grows by several
// such pieces at once.
std::vector<BlockId> RunOfBlocks(const Trace& trace, const BlocksByAddress& blocks, BlockId first,
                                 Bytes size);

// By block: the segment that it is the memory of, or a piece of its memory; may be none.
std::vector<SegmentId> SegmentsOfBlocks(const Trace& trace);

}  // namespace graphkit
