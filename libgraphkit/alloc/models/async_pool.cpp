#include "libgraphkit/alloc/models/async_pool.h"

#include <algorithm>

namespace graphkit {

std::optional<Address> AsyncPool::Malloc(const ModelRequest& request, const AfterFree& after) {
  const Bytes size = RoundUp(request.size, config_.alignment);
  ChunkList::Chunk chunk = FindFree(request, size, after);
  if (chunk == ChunkList::kNone) chunk = Grow(size);
  if (chunk == ChunkList::kNone) return std::nullopt;
  chunks_.Hold(chunk);
  chunks_.Trim(chunk, size, chunks_.list(chunk));
  figures_.allocated += size;
  live_[request.block] = chunk;
  return chunks_.address(chunk);
}

// Of one's own stream and what is no longer used first, then by the three policies.
ChunkList::Chunk AsyncPool::FindFree(const ModelRequest& request, Bytes size,
                                     const AfterFree& after) {
  for (const uint32_t list : {request.stream, kIdle}) {
    const ChunkList::Chunk chunk = chunks_.Find(list, size);
    if (chunk != ChunkList::kNone) return chunk;
  }
  ChunkList::Chunk chunk = ChunkList::kNone;
  if (config_.follow_event_dependencies) {
    chunk = FindElsewhere(request, size,
                          [&](ChunkList::Chunk c) { return after(freed_[chunks_.mark(c) - 1]); });
  }
  if (chunk == ChunkList::kNone && config_.allow_opportunistic) {
    chunk = FindElsewhere(request, size,
                          [&](ChunkList::Chunk c) { return chunks_.mark(c) <= passed_; });
  }
  if (chunk == ChunkList::kNone && config_.allow_internal_dependencies) {
    chunk = FindElsewhere(request, size, nullptr);
    if (chunk != ChunkList::kNone) ++figures_.waits;
  }
  return chunk;
}

ChunkList::Chunk AsyncPool::FindElsewhere(const ModelRequest& request, Bytes size,
                                          const ChunkList::Accept& accept) const {
  ChunkList::Chunk best = ChunkList::kNone;
  for (const uint32_t list : chunks_.Lists()) {
    if (list == request.stream || list == kIdle) continue;
    const ChunkList::Chunk chunk = chunks_.Find(list, size, accept);
    if (chunk == ChunkList::kNone) continue;
    if (best == ChunkList::kNone || chunks_.size(chunk) < chunks_.size(best)) best = chunk;
  }
  return best;
}

// What was never used is idle. Out of memory: what is unused goes back first.
ChunkList::Chunk AsyncPool::Grow(Bytes size) {
  const Bytes region = RoundUp(size, config_.granularity);
  std::optional<Address> address = driver_->Allocate(region);
  if (!address) {
    Release(0);
    address = driver_->Allocate(region);
  }
  if (!address) return ChunkList::kNone;
  figures_.reserved += region;
  figures_.peak_reserved = std::max(figures_.peak_reserved, figures_.reserved);
  return chunks_.AddRegion(*address, region, kIdle);
}

void AsyncPool::Free(uint32_t block, uint32_t stream) {
  const auto live = live_.find(block);
  figures_.allocated -= chunks_.size(live->second);
  freed_.push_back(block);
  chunks_.Free(live->second, stream, ++frees_);
  live_.erase(live);
}

void AsyncPool::Synchronize() {
  passed_ = frees_;
  for (const uint32_t list : chunks_.Lists()) {
    if (list != kIdle) chunks_.Move(list, kIdle);
  }
  Release(config_.release_threshold);
}

// Regions that are free as a whole, until no more than `keep` bytes are held.
void AsyncPool::Release(Bytes keep) {
  chunks_.ReleaseRegions([&] { return figures_.reserved > keep; },
                         [&](Address address, Bytes size) {
                           driver_->Free(address, size);
                           figures_.reserved -= size;
                         });
}

}  // namespace graphkit
