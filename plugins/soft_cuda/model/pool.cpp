#include "plugins/soft_cuda/model/pool.h"

#include <algorithm>

namespace graphkit::soft {
namespace {

constexpr uint64_t kStep = uint64_t{32} << 20;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

void Grow(Pool& pool, uint64_t bytes) {
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved = std::max(pool.reserved, RoundUp(pool.used));
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

void Shrink(Pool& pool, uint64_t bytes) { pool.used -= bytes; }

void Trim(Pool& pool, uint64_t keep) {
  if (keep >= pool.reserved) return;
  pool.reserved = std::min(pool.reserved, std::max(RoundUp(pool.used), RoundUp(keep)));
}

}  // namespace graphkit::soft
