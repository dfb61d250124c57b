// Taking over segments that exist, and showing those that there are.
#include <algorithm>

#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {

std::vector<BlockHandle> CachingAllocator::AdoptSegment(const SegmentState& segment) {
  std::vector<BlockHandle> handles;
  const uint32_t arena = 2 * segment.pool + (segment.small ? 0u : 1u);
  const uint32_t stream = StreamIndex(segment.stream);
  segments_adopted_ = ++segments_made_;
  if (segment.expandable) {
    const Bytes page = segment.small ? config_.small_segment : config_.large_segment;
    expandable_.push_back({segment.address, segment.size, page});
  }
  for (const SegmentState::Block& state : segment.blocks) {
    const uint32_t block = NewBlock({.address = state.address,
                                     .size = state.size,
                                     .requested = state.used ? state.requested : 0,
                                     .prev = handles.empty() ? kNone : handles.back(),
                                     .arena = arena,
                                     .stream = stream,
                                     .segment = static_cast<uint32_t>(expandable_.size() - 1),
                                     .made = segments_made_,
                                     .allocated = state.used && !state.pending,
                                     .pending = state.used && state.pending,
                                     .mapped = state.mapped,
                                     .expandable = segment.expandable});
    if (!handles.empty()) blocks_[handles.back()].next = block;
    handles.push_back(block);
    if (!state.mapped) {
      InsertUnmapped(block);
      continue;
    }
    CountAdopted(state);
    if (state.used) continue;
    InsertFree(block);
    blocks_[block].age_known = false;
  }
  statistics_.peak_active = std::max(statistics_.peak_active, statistics_.active);
  statistics_.peak_allocated = std::max(statistics_.peak_allocated, statistics_.allocated);
  statistics_.peak_requested = std::max(statistics_.peak_requested, statistics_.requested);
  return handles;
}

void CachingAllocator::CountAdopted(const SegmentState::Block& block) {
  AddReserved(block.size);
  if (!block.used) return;
  statistics_.active += block.size;
  if (block.pending) return;
  statistics_.allocated += block.size;
  statistics_.requested += block.requested;
}

bool CachingAllocator::EnlargeAdopted(Address end, Bytes by) {
  const uint32_t behind = FreeAt(end);
  if (behind == kNone || blocks_[behind].size <= by) return false;
  const uint32_t before = blocks_[behind].prev;
  if (before == kNone || blocks_[before].free()) return false;
  EraseFree(behind);
  blocks_[behind].address += by;
  blocks_[behind].size -= by;
  InsertFree(behind);
  blocks_[before].size += by;
  statistics_.active += by;
  if (blocks_[before].allocated) statistics_.allocated += by;
  return true;
}

std::vector<SegmentState> CachingAllocator::Segments() const {
  std::vector<bool> spare(blocks_.size());
  for (const uint32_t block : spare_blocks_) spare[block] = true;
  std::vector<SegmentState> segments;
  for (uint32_t first = 0; first < blocks_.size(); ++first) {
    if (spare[first] || blocks_[first].prev != kNone) continue;
    const Block& head = blocks_[first];
    SegmentState& segment = segments.emplace_back(SegmentState{.address = head.address,
                                                               .stream = streams_[head.stream],
                                                               .pool = head.arena / 2,
                                                               .small = (head.arena & 1) == 0,
                                                               .expandable = head.expandable});
    for (uint32_t at = first; at != kNone; at = blocks_[at].next) {
      const Block& block = blocks_[at];
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

}  // namespace graphkit
