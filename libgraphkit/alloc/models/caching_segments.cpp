// The segments of the caching allocator: those that it takes over, expandable ones, and how memory
// goes back to the driver.

#include "libgraphkit/alloc/models/caching_allocator.h"

#include <algorithm>
#include <numeric>

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
    if (state.mapped) AddReserved(state.size);
    if (state.used) {
      AddActive(state.size);
      continue;
    }
    Insert(block);
    blocks_[block].age_known = false;
  }
  return handles;
}

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
  Insert(block);
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
  Erase(block);
  return block;
}

// Puts memory behind the first `size` bytes of an unmapped block, whole pages, and merges it with
// free neighbours. The result is in the free set, under the same handle.
bool CachingAllocator::MapBlock(uint32_t handle, Bytes size) {
  const Expandable& segment = expandable_[blocks_[handle].segment];
  const Address begin = blocks_[handle].address;
  const Address end = segment.address + RoundUp(begin + size - segment.address, segment.page);
  if (!driver_->Map(begin, end - begin)) return false;
  Erase(handle);
  if (end - begin < blocks_[handle].size) Insert(SplitHigh(handle, end - begin));
  blocks_[handle].mapped = true;
  MergeInto(handle, blocks_[handle].prev);
  MergeInto(handle, blocks_[handle].next);
  Insert(handle);
  ++statistics_.segment_allocations;
  AddReserved(end - begin);
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
  Erase(handle);
  if (begin > block.address) Insert(SplitLow(handle, begin - block.address));
  if (end < block.address + block.size) Insert(SplitHigh(handle, end - begin));
  blocks_[handle].mapped = false;
  driver_->Unmap(begin, end - begin);
  statistics_.reserved -= end - begin;
  MergeInto(handle, blocks_[handle].prev);
  MergeInto(handle, blocks_[handle].next);
  Insert(handle);
}

// A whole segment that is one free block.
void CachingAllocator::ReleaseBlock(uint32_t handle) {
  const Block block = blocks_[handle];
  Erase(handle);
  driver_->Free(block.address, block.size);
  statistics_.reserved -= block.size;
  DropBlock(handle);
}

void CachingAllocator::ReleaseArena(uint32_t arena) {
  std::vector<uint32_t> by_handle(streams_.size());
  std::iota(by_handle.begin(), by_handle.end(), 0u);
  std::sort(by_handle.begin(), by_handle.end(),
            [&](uint32_t a, uint32_t b) { return streams_[a] < streams_[b]; });
  std::vector<uint32_t> whole;
  std::vector<uint32_t> expandable;
  for (const uint32_t stream : by_handle) {
    const FreeSet& set = arenas_[arena].free[stream];
    for (auto at = set.begin(); at != set.end(); at = set.next(at)) {
      const Block& block = blocks_[set[at].block];
      if (block.expandable) {
        expandable.push_back(set[at].block);
      } else if (block.alone()) {
        whole.push_back(set[at].block);
      }
    }
  }
  for (const uint32_t block : whole) ReleaseBlock(block);
  for (const uint32_t block : expandable) {
    UnmapBlock(block);
    if (!blocks_[block].alone() || blocks_[block].mapped) continue;
    Erase(block);
    DropBlock(block);
  }
}

// Segments without a block in use, of the default pool and of the pools that no graph holds.
void CachingAllocator::ReleaseCached() {
  if (synchronize_) synchronize_();
  ReleaseArena(1);
  ReleaseArena(0);
  for (PoolHandle pool = 1; pool < pools_.size(); ++pool) {
    if (!pools_[pool].used) EmptyPool(pool);
  }
}

// The free ones, by stream, smallest first.
std::vector<uint32_t> CachingAllocator::WholeSegments(uint32_t arena) const {
  std::vector<uint32_t> whole;
  for (const FreeSet& set : arenas_[arena].free) {
    for (auto at = set.begin(); at != set.end(); at = set.next(at)) {
      const Block& block = blocks_[set[at].block];
      if (block.alone() && !block.expandable) whole.push_back(set[at].block);
    }
  }
  return whole;
}

std::vector<Address> CachingAllocator::CachedSegments() const {
  std::vector<Address> segments;
  for (uint32_t arena = 0; arena < arenas_.size(); ++arena) {
    if (arena > 1 && pools_[arena / 2].used) continue;
    for (const uint32_t block : WholeSegments(arena)) segments.push_back(blocks_[block].address);
  }
  return segments;
}

void CachingAllocator::EmptyPool(PoolHandle pool) {
  ReleaseArena(2 * pool);
  ReleaseArena(2 * pool + 1);
}

// Gives back a block of at least the request's and of oversize, or, when there is none, as many of
// the largest as it takes. True: enough was given back.
bool CachingAllocator::ReleaseOversize(const Params& p) {
  if (config_.max_split_size == CachingConfig::kNoLimit) return false;
  const FreeSet& set = arenas_[p.arena].free[p.stream];
  const Bytes wanted = std::max(p.size, config_.max_split_size);
  auto at = set.LowerBound({.size = wanted});
  if (at != set.end() && !blocks_[set[at].block].expandable) {
    // Blocks of this size are never split, so it is a whole segment.
    ReleaseBlock(set[at].block);
    return true;
  }
  std::vector<uint32_t> largest;
  Bytes sum = 0;
  while (sum < wanted && at != set.begin()) {
    at = set.previous(at);
    const FreeKey& key = set[at];
    if (key.size < config_.max_split_size) break;
    if (blocks_[key.block].expandable) continue;
    largest.push_back(key.block);
    sum += key.size;
  }
  for (const uint32_t block : largest) ReleaseBlock(block);
  return sum >= wanted;
}

// Gives back unused large segments of the default pool that are older than the average, again and
// again, until what lies above the threshold is reclaimed.
void CachingAllocator::CollectGarbage() {
  if (config_.garbage_collection_threshold <= 0) return;
  Bytes excess = 0;
  if (config_.memory_limit) {
    const auto threshold = static_cast<Bytes>(config_.garbage_collection_threshold *
                                              static_cast<double>(*config_.memory_limit));
    if (statistics_.reserved <= threshold) return;
    excess = statistics_.reserved - threshold;
  }
  std::vector<uint32_t> candidates = WholeSegments(1);
  if (!config_.memory_limit && CollectOfUnknownAge(candidates)) return;
  Bytes reclaimed = 0;
  while (!candidates.empty()) {
    const std::vector<uint32_t> old = TakeOld(&candidates);
    std::vector<Address> segments;
    for (const uint32_t block : old) segments.push_back(blocks_[block].address);
    const bool more = config_.memory_limit ? reclaimed < excess : driver_->Collected(segments);
    if (!more) return;
    for (const uint32_t block : old) {
      reclaimed += blocks_[block].size;
      ReleaseBlock(block);
    }
  }
}

// Where the age of one isn't known, neither is the average: the record says which were collected.
bool CachingAllocator::CollectOfUnknownAge(std::span<const uint32_t> candidates) {
  const auto known = [&](uint32_t block) { return blocks_[block].age_known; };
  if (std::ranges::all_of(candidates, known)) return false;
  std::vector<Address> segments;
  for (const uint32_t block : candidates) segments.push_back(blocks_[block].address);
  const std::vector<Address> collected = driver_->CollectedOf(segments);
  for (const uint32_t block : candidates) {
    if (std::ranges::count(collected, blocks_[block].address) > 0) ReleaseBlock(block);
  }
  return true;
}

// Those of average age or more, in their order; never none of some.
std::vector<uint32_t> CachingAllocator::TakeOld(std::vector<uint32_t>* blocks) const {
  uint64_t sum = 0;
  for (const uint32_t block : *blocks) sum += Age(blocks_[block]);
  const double average = static_cast<double>(sum) / static_cast<double>(blocks->size());
  const auto first_old = std::stable_partition(blocks->begin(), blocks->end(), [&](uint32_t b) {
    return static_cast<double>(Age(blocks_[b])) < average;
  });
  std::vector<uint32_t> old(first_old, blocks->end());
  blocks->erase(first_old, blocks->end());
  return old;
}

}  // namespace graphkit
