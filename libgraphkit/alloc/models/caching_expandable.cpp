// Expandable segments of the caching allocator: address space that is filled with memory page by
// page, from its low end, and emptied wherever whole pages are free.
#include <algorithm>

#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {

// The first stretch of address space that has room, beginning in the free block just before it if
// there is one; a fresh reservation when none has.
uint32_t CachingAllocator::FindExpandable(const Params& p) {
  const auto fits = [&](uint32_t block) {
    Bytes room = 0;
    while (room < p.size && block != kNone && blocks_[block].free()) {
      room += blocks_[block].size;
      block = blocks_[block].next;
    }
    return room >= p.size;
  };
  const SortedChunks<AddressKey>& set = arenas_[p.arena].unmapped[p.stream];
  for (auto at = set.begin(); at != set.end(); at = set.next(at)) {
    uint32_t block = set[at].block;
    const uint32_t before = blocks_[block].prev;
    if (before != kNone && blocks_[before].free()) block = before;
    if (fits(block)) return block;
  }
  const bool small = (p.arena & 1) == 0;
  const Bytes page = small ? config_.small_segment : config_.large_segment;
  const Bytes size = RoundUp(config_.device_memory + config_.device_memory / 8, page);
  const Address address = driver_->Reserve(size);
  expandable_.push_back({address, size, page});
  const uint32_t block = NewBlock({.address = address,
                                   .size = size,
                                   .arena = p.arena,
                                   .stream = p.stream,
                                   .segment = static_cast<uint32_t>(expandable_.size() - 1),
                                   .made = ++segments_made_,
                                   .mapped = false,
                                   .expandable = true});
  InsertUnmapped(block);
  return block;
}

uint32_t CachingAllocator::NewExpandable(const Params& p) {
  uint32_t block = FindExpandable(p);
  if (!blocks_[block].mapped && !MapBlock(block, std::min(blocks_[block].size, p.size))) {
    return kNone;
  }
  while (blocks_[block].size < p.size) {
    const Bytes missing = p.size - blocks_[block].size;
    const uint32_t next = blocks_[block].next;
    if (!MapBlock(next, std::min(missing, blocks_[next].size))) return kNone;
    block = next;  // it took the block before it in
  }
  EraseFree(block);
  return block;
}

// Puts memory behind the first `size` bytes of an unmapped block, whole pages, and merges it with
// free neighbours. The result is in the free set, under the same handle.
bool CachingAllocator::MapBlock(uint32_t handle, Bytes size) {
  const Expandable& segment = expandable_[blocks_[handle].segment];
  const Address begin = blocks_[handle].address;
  const Address end = segment.address + RoundUp(begin + size - segment.address, segment.page);
  if (!driver_->Map(begin, end - begin)) return false;
  EraseUnmapped(handle);
  blocks_[handle].mapped = true;
  if (end - begin < blocks_[handle].size) {
    Block rest = blocks_[handle];
    rest.address = end;
    rest.size -= end - begin;
    rest.prev = handle;
    rest.mapped = false;
    const uint32_t made = NewBlock(rest);
    if (rest.next != kNone) blocks_[rest.next].prev = made;
    blocks_[handle].next = made;
    blocks_[handle].size = end - begin;
    InsertUnmapped(made);
  }
  MergeInto(handle, blocks_[handle].prev);
  MergeInto(handle, blocks_[handle].next);
  InsertFree(handle);
  ++statistics_.segment_allocations;
  AddReserved(end - begin);
  Log(SegmentEvent::Kind::kMap, begin, end - begin, blocks_[handle].stream);
  return true;
}

// Takes the memory from the whole pages of a free block; what remains of it at both ends stays
// free.
void CachingAllocator::UnmapBlock(uint32_t handle) {
  const Block block = blocks_[handle];
  const Expandable& segment = expandable_[block.segment];
  const Address begin = segment.address + RoundUp(block.address - segment.address, segment.page);
  const Bytes to_end = block.address + block.size - segment.address;
  const Address end = segment.address + to_end / segment.page * segment.page;
  if (begin >= end) return;
  EraseFree(handle);
  if (begin > block.address) InsertFree(SplitLow(handle, begin - block.address));
  if (end < block.address + block.size) {
    Block high = blocks_[handle];
    high.address = end;
    high.size = block.address + block.size - end;
    high.prev = handle;
    const uint32_t made = NewBlock(high);
    if (high.next != kNone) blocks_[high.next].prev = made;
    blocks_[handle].next = made;
    blocks_[handle].size = end - begin;
    InsertFree(made);
  }
  blocks_[handle].mapped = false;
  driver_->Unmap(begin, end - begin);
  statistics_.reserved -= end - begin;
  Log(SegmentEvent::Kind::kUnmap, begin, end - begin, block.stream);
  MergeInto(handle, blocks_[handle].prev);
  MergeInto(handle, blocks_[handle].next);
  InsertUnmapped(handle);
}

void CachingAllocator::ReleaseExpandable(uint32_t handle) {
  const Expandable& segment = expandable_[blocks_[handle].segment];
  EraseUnmapped(handle);
  driver_->Unreserve(segment.address, segment.size);
  DropBlock(handle);
}

}  // namespace graphkit
