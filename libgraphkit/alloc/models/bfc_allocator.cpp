#include "libgraphkit/alloc/models/bfc_allocator.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr uint32_t kFreeList = 0;

}  // namespace

std::optional<Address> BfcAllocator::Malloc(const ModelRequest& request, const AfterFree&) {
  const Bytes size = RoundUp(request.size, config_.alignment);
  ChunkList::Chunk chunk = chunks_.Find(kFreeList, size);
  if (chunk == ChunkList::kNone && Extend(size)) chunk = chunks_.Find(kFreeList, size);
  if (chunk == ChunkList::kNone) return std::nullopt;
  chunks_.Hold(chunk);
  const Bytes whole = chunks_.size(chunk);
  if (whole >= 2 * size || whole - size >= config_.max_fragmentation) {
    chunks_.Trim(chunk, size, kFreeList);
  }
  figures_.allocated += chunks_.size(chunk);
  live_[request.block] = chunk;
  return chunks_.address(chunk);
}

// The next region is twice this one, unless this one had to be made larger for the request.
bool BfcAllocator::Extend(Bytes size) {
  bool doubled = false;
  while (next_region_ < size) {
    next_region_ *= 2;
    doubled = true;
  }
  Bytes region = next_region_;
  const std::optional<Address> address = AllocateRegion(size, &region);
  if (!address) return false;
  if (!doubled) next_region_ *= 2;
  figures_.reserved += region;
  figures_.peak_reserved = std::max(figures_.peak_reserved, figures_.reserved);
  chunks_.AddRegion(*address, region, kFreeList);
  return true;
}

// 9/10 of what couldn't be had, and so on, as long as it holds the request.
std::optional<Address> BfcAllocator::AllocateRegion(Bytes size, Bytes* region) {
  while (true) {
    if (const auto address = driver_->Allocate(*region)) return address;
    const Bytes less = RoundUp(*region / 10 * 9, config_.alignment);
    if (less < size || less >= *region) return std::nullopt;
    *region = less;
  }
}

void BfcAllocator::Free(uint32_t block, uint32_t) {
  const auto live = live_.find(block);
  figures_.allocated -= chunks_.size(live->second);
  chunks_.Free(live->second, kFreeList);
  live_.erase(live);
}

}  // namespace graphkit
