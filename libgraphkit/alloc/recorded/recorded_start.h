// What lay in the segments of a recorded allocator before the first event.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/alloc/recorded/recorded_lives.h"
#include "libgraphkit/alloc/recorded/recorded_ranges.h"

namespace graphkit {

// The life of one block, from its allocation to its free: an index.
using LifeId = uint32_t;

struct RecordedStart {
  std::vector<SegmentState> segments;
  std::vector<LifeId> lives;  // for each used block of the segments, one after the other
  std::string why_unknown;    // of the first segment that is left out; empty: none is
};

// The lives that were there at the start, in the ranges of it that are known. Ranges whose lives
// contradict each other are marked as unknown, and left out.
RecordedStart FillStart(const CachingConfig& config, std::span<const RecordedLife> lives,
                        std::span<const TorchBlock> final_blocks, RewoundRanges* ranges);

}  // namespace graphkit
