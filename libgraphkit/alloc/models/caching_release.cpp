// How the caching allocator gives memory back to the driver: all of it, oversize blocks, the old.
#include <algorithm>
#include <numeric>

#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {

// A whole segment that is one free block.
void CachingAllocator::ReleaseBlock(uint32_t handle) {
  const Block block = blocks_[handle];
  EraseFree(handle);
  driver_->Free(block.address, block.size);
  Log(SegmentEvent::Kind::kFree, block.address, block.size, block.stream);
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
    if (blocks_[block].alone() && !blocks_[block].mapped) ReleaseExpandable(block);
  }
}

// Segments without a block in use, of the default pool and of the pools that no graph holds.
void CachingAllocator::ReleaseCached() {
  if (redirections_.empty() && synchronize_) synchronize_();
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
