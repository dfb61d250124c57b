#include "libgraphkit/alloc/models/rmm_pool.h"

#include <algorithm>

namespace graphkit {

RmmPool::RmmPool(const RmmPoolConfig& config, DriverMemory* driver)
    : config_(config), driver_(driver) {
  if (config_.initial_size == 0) return;
  if (const auto address = driver_->Allocate(config_.initial_size)) {
    chunks_.Free(Adopt(*address, config_.initial_size, 0), 0);
  }
}

std::optional<Address> RmmPool::Malloc(const ModelRequest& request, const AfterFree& after) {
  const Bytes size = RoundUp(request.size, config_.alignment);
  ChunkList::Chunk chunk = HoldFree(request, size, after);
  if (chunk == ChunkList::kNone) chunk = Grow(size, request.stream);
  if (chunk == ChunkList::kNone) return std::nullopt;
  chunks_.Trim(chunk, size, request.stream);
  figures_.allocated += size;
  live_[request.block] = chunk;
  return chunks_.address(chunk);
}

ChunkList::Chunk RmmPool::HoldIn(uint32_t list, Bytes size) {
  const ChunkList::Chunk chunk = chunks_.Find(list, size);
  if (chunk != ChunkList::kNone) chunks_.Hold(chunk);
  return chunk;
}

ChunkList::Chunk RmmPool::HoldFree(const ModelRequest& request, Bytes size,
                                   const AfterFree& after) {
  const uint32_t stream = request.stream;
  if (const auto chunk = HoldIn(stream, size); chunk != ChunkList::kNone) return chunk;
  for (const bool merge_first : {false, true}) {
    for (const uint32_t list : chunks_.Lists()) {
      if (list == stream || !MayTakeOver(list, after)) continue;
      ChunkList::Chunk chunk = ChunkList::kNone;
      if (!merge_first) {
        chunk = HoldIn(list, size);
        if (chunk == ChunkList::kNone) continue;
      }
      TakeOver(list, stream);
      if (merge_first) chunk = HoldIn(stream, size);
      if (chunk != ChunkList::kNone) return chunk;
    }
  }
  return ChunkList::kNone;
}

bool RmmPool::MayTakeOver(uint32_t list, const AfterFree& after) const {
  const auto latest = latest_.find(list);
  if (config_.add_waits || latest == latest_.end()) return true;
  return std::ranges::all_of(latest->second, after);
}

void RmmPool::TakeOver(uint32_t list, uint32_t stream) {
  chunks_.Move(list, stream);
  if (config_.add_waits) ++figures_.waits;
  const auto from = latest_.extract(list);
  if (from.empty()) return;
  std::vector<uint32_t>& latest = latest_[stream];
  latest.insert(latest.end(), from.mapped().begin(), from.mapped().end());
}

// A stream's free comes after all that its list held before.
void RmmPool::Free(uint32_t block, uint32_t stream) {
  const auto live = live_.find(block);
  figures_.allocated -= chunks_.size(live->second);
  chunks_.Free(live->second, stream);
  latest_[stream].assign(1, block);
  live_.erase(live);
}

ChunkList::Chunk RmmPool::Grow(Bytes size, uint32_t stream) {
  for (Bytes grow = SizeToGrow(size); grow >= size; grow = std::max(size, grow / 2)) {
    if (const auto address = driver_->Allocate(grow)) return Adopt(*address, grow, stream);
    if (grow == size) break;
  }
  return ChunkList::kNone;
}

// 0: it can't be had.
Bytes RmmPool::SizeToGrow(Bytes size) const {
  if (!config_.maximum_size) return std::max(size, figures_.reserved);
  const Bytes left =
      RoundUp(*config_.maximum_size - std::min(*config_.maximum_size, figures_.reserved),
              config_.alignment);
  return size <= left ? std::max(size, RoundUp(left / 2, config_.alignment)) : 0;
}

// Returns the chunk, held.
ChunkList::Chunk RmmPool::Adopt(Address address, Bytes size, uint32_t stream) {
  figures_.reserved += size;
  figures_.peak_reserved = std::max(figures_.peak_reserved, figures_.reserved);
  const ChunkList::Chunk chunk = chunks_.AddRegion(address, size, stream);
  chunks_.Hold(chunk);
  return chunk;
}

}  // namespace graphkit
