// Stream-ordered memory pools.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>

#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

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
  uint64_t imported = 0;  // the file that it was imported from (Device::exported_pools); 0: it wasn't

  CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }
};

// Accounts for an allocation or a free; memory is reserved in steps of 32 MiB.
void Grow(Pool& pool, uint64_t bytes);
void Shrink(Pool& pool, uint64_t bytes);
// Gives back what is unused down to `keep` bytes.
void Trim(Pool& pool, uint64_t keep);

}  // namespace graphkit::soft
