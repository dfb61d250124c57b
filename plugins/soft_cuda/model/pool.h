// Stream-ordered memory pools.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

// How much of what streams have freed comes before a place: by the stream's id, the number of its
// frees. A stream has one, an event takes over the one of its record, a wait for it adds that.
using FreeClock = std::map<uint64_t, uint64_t>;
inline void Follow(FreeClock& clock, const FreeClock& earlier) {
  for (const auto& [stream, frees] : earlier) clock[stream] = std::max(clock[stream], frees);
}
inline bool ComesAfter(const FreeClock& clock, uint64_t stream, uint64_t frees) {
  const auto found = clock.find(stream);
  return found != clock.end() && found->second >= frees;
}

// What memory is: that of a device, of the host, or managed.
enum class MemoryOf : uint8_t { kDevice, kHost, kManaged };

inline MemoryOf MemoryOfPool(const CUmemPoolProps& properties) {
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return MemoryOf::kManaged;
  return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? MemoryOf::kDevice
                                                                 : MemoryOf::kHost;
}

struct Pool {
  static constexpr Tag kTag = Tag::kPool;
  Tag tag = kTag;
  CUmemPoolProps properties{};
  uint64_t release_threshold = 0;
  int reuse_follow_event = 1;
  int reuse_opportunistic = 1;
  int reuse_internal = 1;
  uint64_t reserved = 0;
  uint64_t reserved_high = 0;
  uint64_t used = 0;
  uint64_t used_high = 0;
  std::map<int, CUmemAccess_flags> access;
  uint64_t imported = 0;  // the file that it came from (Device::exported_pools); 0: none

  CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }
};

constexpr uint64_t kPoolStep = uint64_t{32} << 20;  // memory is reserved in such steps
inline uint64_t RoundToStep(uint64_t bytes) {
  return (bytes + kPoolStep - 1) / kPoolStep * kPoolStep;
}

// Accounts for an allocation or a free.
inline void Grow(Pool& pool, uint64_t bytes) {
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved = std::max(pool.reserved, RoundToStep(pool.used));
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

inline void Shrink(Pool& pool, uint64_t bytes) { pool.used -= bytes; }

// Gives back what is unused down to `keep` bytes.
inline void Trim(Pool& pool, uint64_t keep) {
  if (keep >= pool.reserved) return;
  pool.reserved = std::min(pool.reserved, std::max(RoundToStep(pool.used), RoundToStep(keep)));
}

}  // namespace graphkit::soft
