// A pool that requests can be redirected to: of a graph's capture, or a MemPool. What is asked for
// in captures and what is asked for outside of them never share memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "plugins/torch_allocator/live_pool.h"
#include "plugins/torch_allocator/segments.h"

namespace graphkit::torch {

using PoolKey = std::pair<uint64_t, uint64_t>;  // PyTorch's MempoolId_t
using StreamFilter = std::function<bool(uint64_t stream)>;

struct PrivatePool {
  PrivatePool(const PoolKey& id, const std::string& name, CudaDriver* driver,
              DeviceSegments* of_device)
      : key(id), segments(driver, of_device, name), eager({}, &segments), live({}, &segments) {}

  PrivatePool(const PrivatePool&) = delete;
  PrivatePool& operator=(const PrivatePool&) = delete;

  bool unused() const {
    return users <= 0 && !kept && lent == 0 && !live.in_use() && eager.statistics().active == 0;
  }

  PoolKey key;
  Segments segments;
  CachingAllocator eager;
  LivePool live;
  int users = 0;      // begun, and not released, so often
  int lent = 0;       // times that memory of it is lent (device_borrow.cpp)
  bool kept = false;  // the default pool; that of a capture without a pool
};

}  // namespace graphkit::torch
