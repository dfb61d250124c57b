// What lies where in an allocator's model.
#pragma once

#include <algorithm>
#include <vector>

#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {

struct AllocatorSegments {
  // Every segment with its blocks, by address.
  static std::vector<SegmentState> Of(const CachingAllocator& allocator) {
    std::vector<bool> spare(allocator.blocks_.size());
    for (const uint32_t block : allocator.spare_blocks_) spare[block] = true;
    std::vector<SegmentState> segments;
    for (uint32_t first = 0; first < allocator.blocks_.size(); ++first) {
      if (spare[first] || allocator.blocks_[first].prev != CachingAllocator::kNone) continue;
      const CachingAllocator::Block& head = allocator.blocks_[first];
      SegmentState& segment =
          segments.emplace_back(SegmentState{.address = head.address,
                                             .stream = allocator.streams_[head.stream],
                                             .pool = head.arena / 2,
                                             .small = (head.arena & 1) == 0,
                                             .expandable = head.expandable});
      for (uint32_t at = first; at != CachingAllocator::kNone; at = allocator.blocks_[at].next) {
        const CachingAllocator::Block& block = allocator.blocks_[at];
        segment.size += block.size;
        segment.blocks.push_back({.address = block.address,
                                  .size = block.size,
                                  .requested = block.free() ? 0 : block.requested,
                                  .used = !block.free(),
                                  .pending = block.pending,
                                  .mapped = block.mapped});
      }
    }
    std::sort(segments.begin(), segments.end(),
              [](const SegmentState& a, const SegmentState& b) { return a.address < b.address; });
    return segments;
  }
};

}  // namespace graphkit
