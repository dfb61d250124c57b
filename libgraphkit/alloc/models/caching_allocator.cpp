#include "libgraphkit/alloc/models/caching_allocator.h"

namespace graphkit {

CachingAllocator::CachingAllocator(CachingConfig config, DriverMemory* driver)
    : config_(config), driver_(driver) {
  CreatePool();
}

// --- Malloc

std::optional<BlockHandle> CachingAllocator::Malloc(const AllocationRequest& request) {
  const Params p = ParamsOf(request, StreamIndex(request.stream));
  const uint32_t found = FindOrMake(p);
  if (found == kNone) {
    ++statistics_.ooms;
    return std::nullopt;
  }
  return HandOut(found, p.size, ShouldSplit(blocks_[found], p.size), request.size);
}

CachingAllocator::Params CachingAllocator::ParamsOf(const AllocationRequest& request,
                                                    uint32_t stream) const {
  const Bytes rounded = RoundRequest(config_, request.size);
  return {rounded, 2 * request.pool + (IsSmall(config_, rounded) ? 0u : 1u), stream,
          request.pool != 0 || request.capturing};
}

// The order of attempts.
uint32_t CachingAllocator::FindOrMake(const Params& p) {
  uint32_t found = TakeFree(p);
  if (found != kNone) return found;
  CollectGarbage();
  found = NewSegment(p);
  if (found != kNone) return found;
  if (ReleaseOversize(p)) found = NewSegment(p);
  if (found != kNone || p.keeps_cached) return found;
  ReleaseCached();
  return NewSegment(p);
}

uint32_t CachingAllocator::StreamIndex(uint64_t stream) {
  const auto at = std::find(streams_.begin(), streams_.end(), stream);
  if (at != streams_.end()) return static_cast<uint32_t>(at - streams_.begin());
  streams_.push_back(stream);
  for (Arena& arena : arenas_) {
    arena.free.resize(streams_.size());
    arena.unmapped.resize(streams_.size());
  }
  return static_cast<uint32_t>(streams_.size() - 1);
}

// Best fit. In expandable segments a block counts with the address space that it could grow into.
uint32_t CachingAllocator::FindFree(const Params& p) const {
  const FreeSet& set = arenas_[p.arena].free[p.stream];
  auto at = set.LowerBound({.size = p.size});
  if (at == set.end()) return kNone;
  const auto block_at = [&](FreeSet::Place place) -> const Block& {
    return blocks_[set[place].block];
  };
  const auto room = [&](const Block& b) {
    const bool grows = b.next != kNone && !blocks_[b.next].mapped;
    return b.size + (grows ? blocks_[b.next].size : 0);
  };
  if (block_at(at).expandable && config_.expandable_segments) {
    for (auto next = set.next(at); block_at(at).expandable && next != set.end();
         next = set.next(next)) {
      if (room(block_at(next)) >= room(block_at(at))) break;
      at = next;
    }
  } else {
    while (block_at(at).expandable) {
      at = set.next(at);
      if (at == set.end()) return kNone;
    }
  }
  const Block& best = block_at(at);
  const bool oversize = best.size >= config_.max_split_size;
  if (p.size < config_.max_split_size && oversize) return kNone;
  if (p.size >= config_.max_split_size && best.size >= p.size + config_.max_non_split_rounding) {
    return kNone;
  }
  return set[tie_breaker_ ? BreakTie(set, at) : at].block;
}

// Of each segment the lowest block counts.
CachingAllocator::FreeSet::Place CachingAllocator::BreakTie(const FreeSet& set,
                                                            FreeSet::Place first) const {
  std::vector<FreeSet::Place> places;
  std::vector<Address> addresses;
  uint32_t last = 0;
  for (auto at = first; at != set.end() && set[at].size == set[first].size; at = set.next(at)) {
    if (set[at].made == 0 || set[at].made > segments_adopted_) break;
    if (set[at].made == last) continue;
    last = set[at].made;
    places.push_back(at);
    addresses.push_back(set[at].address);
  }
  if (places.size() < 2) return first;
  const Address chosen = tie_breaker_(addresses);
  const auto at = std::ranges::find(addresses, chosen);
  return at == addresses.end() ? first : places[static_cast<size_t>(at - addresses.begin())];
}

uint32_t CachingAllocator::TakeFree(const Params& p) {
  ++arenas_[p.arena].searches;
  const uint32_t found = FindFree(p);
  if (found != kNone) Erase(found);
  return found;
}

bool CachingAllocator::CanServe(const AllocationRequest& request) const {
  const auto at = std::find(streams_.begin(), streams_.end(), request.stream);
  if (at == streams_.end()) return false;
  return FindFree(ParamsOf(request, static_cast<uint32_t>(at - streams_.begin()))) != kNone;
}

uint32_t CachingAllocator::NewSegment(const Params& p) {
  const Bytes size = SegmentSize(config_, p.size);
  const bool above = config_.memory_limit && statistics_.reserved + size > *config_.memory_limit;
  if (above || driver_->Exhausted()) return kNone;
  if (config_.expandable_segments) return NewExpandable(p);
  const std::optional<Address> address = driver_->Allocate(size);
  if (!address) return kNone;
  ++statistics_.segment_allocations;
  AddReserved(size);
  return NewBlock({.address = *address,
                   .size = size,
                   .arena = p.arena,
                   .stream = p.stream,
                   .made = ++segments_made_});
}

bool CachingAllocator::ShouldSplit(const Block& block, Bytes size) const {
  const Bytes rest = block.size - size;
  if (pools_[block.arena / 2].options.no_split) return false;
  const bool small = (block.arena & 1) == 0;
  if (small || config_.expandable_segments) return rest >= config_.min_block;
  return size < config_.max_split_size && rest > config_.small_size;
}

std::optional<BlockHandle> CachingAllocator::Restore(Address address, Bytes size) {
  const uint32_t found = FreeAt(address);
  if (found == kNone || blocks_[found].size < size) return std::nullopt;
  Erase(found);
  return HandOut(found, size, blocks_[found].size > size, size);
}

// The free block that begins there.
uint32_t CachingAllocator::FreeAt(Address address) const {
  for (const Arena& arena : arenas_) {
    for (const FreeSet& set : arena.free) {
      for (auto at = set.begin(); at != set.end(); at = set.next(at)) {
        if (set[at].address == address) return set[at].block;
      }
    }
  }
  return kNone;
}

BlockHandle CachingAllocator::HandOut(uint32_t found, Bytes size, bool split, Bytes requested) {
  if (split) {
    const uint32_t rest = found;
    found = SplitLow(rest, size);
    Insert(rest);
  }
  Block& block = blocks_[found];
  block.allocated = true;
  block.requested = requested;
  AddActive(block.size);
  return found;
}

// --- Free

void CachingAllocator::RequestFree(BlockHandle handle) {
  Block& block = blocks_[handle];
  block.allocated = false;
  block.pending = true;
}

void CachingAllocator::CompleteFree(BlockHandle handle) {
  Block& block = blocks_[handle];
  block.pending = false;
  statistics_.active -= block.size;
  MergeInto(handle, block.prev);
  MergeInto(handle, blocks_[handle].next);
  Insert(handle);
}

// --- The block list

uint32_t CachingAllocator::NewBlock(const Block& like) {
  if (spare_blocks_.empty()) {
    blocks_.push_back(like);
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  const uint32_t block = spare_blocks_.back();
  spare_blocks_.pop_back();
  blocks_[block] = like;
  return block;
}

void CachingAllocator::DropBlock(uint32_t block) { spare_blocks_.push_back(block); }

// Cuts the first `size` bytes off; returns the block that holds them. Neither is in a set.
uint32_t CachingAllocator::SplitLow(uint32_t block, Bytes size) {
  Block low = blocks_[block];
  low.size = size;
  low.next = block;
  const uint32_t made = NewBlock(low);
  if (low.prev != kNone) blocks_[low.prev].next = made;
  Block& rest = blocks_[block];
  rest.prev = made;
  rest.address += size;
  rest.size -= size;
  return made;
}

// Cuts off what lies behind the first `size` bytes; returns the block that holds it. Neither is in
// a set.
uint32_t CachingAllocator::SplitHigh(uint32_t block, Bytes size) {
  Block high = blocks_[block];
  high.address += size;
  high.size -= size;
  high.prev = block;
  const uint32_t made = NewBlock(high);
  if (high.next != kNone) blocks_[high.next].prev = made;
  blocks_[block].next = made;
  blocks_[block].size = size;
  return made;
}

// Takes the neighbour's memory into the block, when it is free and of the same kind. The neighbour
// leaves its set.
void CachingAllocator::MergeInto(uint32_t handle, uint32_t other) {
  if (other == kNone) return;
  Block& block = blocks_[handle];
  Block& neighbour = blocks_[other];
  if (!neighbour.free() || neighbour.mapped != block.mapped) return;
  Erase(other);
  if (block.prev == other) {
    block.address = neighbour.address;
    block.prev = neighbour.prev;
    if (block.prev != kNone) blocks_[block.prev].next = handle;
  } else {
    block.next = neighbour.next;
    if (block.next != kNone) blocks_[block.next].prev = handle;
  }
  block.size += neighbour.size;
  DropBlock(other);
}

CachingAllocator::FreeKey CachingAllocator::KeyOf(uint32_t handle) const {
  const Block& block = blocks_[handle];
  const bool oldest = config_.ties == CachingConfig::Ties::kOldestSegment;
  return {block.size, oldest ? block.made : 0, block.address, handle};
}

// Into the set of what is free, or has no memory.
void CachingAllocator::Insert(uint32_t handle) {
  Block& block = blocks_[handle];
  Arena& arena = arenas_[block.arena];
  if (!block.mapped) return arena.unmapped[block.stream].Insert({block.address, handle});
  block.age_base = arena.searches;
  block.age_known = true;
  arena.free[block.stream].Insert(KeyOf(handle));
}

void CachingAllocator::Erase(uint32_t handle) {
  const Block& block = blocks_[handle];
  Arena& arena = arenas_[block.arena];
  if (!block.mapped) return arena.unmapped[block.stream].Erase({block.address, handle});
  arena.free[block.stream].Erase(KeyOf(handle));
}

// --- Pools

PoolHandle CachingAllocator::CreatePool(PoolOptions options) {
  pools_.push_back({.options = options});
  for (int half = 0; half < 2; ++half) {
    Arena& arena = arenas_.emplace_back();
    arena.free.resize(streams_.size());
    arena.unmapped.resize(streams_.size());
  }
  return static_cast<PoolHandle>(pools_.size() - 1);
}

void CachingAllocator::ReleasePool(PoolHandle pool) { pools_[pool].used = false; }

// --- Looking

void CachingAllocator::AddReserved(Bytes size) {
  statistics_.reserved += size;
  statistics_.peak_reserved = std::max(statistics_.peak_reserved, statistics_.reserved);
}

void CachingAllocator::AddActive(Bytes size) {
  statistics_.active += size;
  statistics_.peak_active = std::max(statistics_.peak_active, statistics_.active);
}

}  // namespace graphkit
