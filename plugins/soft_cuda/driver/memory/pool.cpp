// Memory pools and the memory of graphs, as the device keeps account of them.
#include "plugins/soft_cuda/model/pool.h"

#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/attribute.h"
#include "plugins/soft_cuda/driver/rules/memory_place.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

CUresult GivePool(CUmemoryPool* out, Pool* Gpu::*pool, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Gpu* gpu = Device::Get().FindGpu(device);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *out = (gpu->*pool)->handle();
  return CUDA_SUCCESS;
}

// A high-water mark can only be set to 0: back to what is there.
CUresult ResetHigh(uint64_t value, uint64_t current, uint64_t* high) {
  if (value != 0) return CUDA_ERROR_INVALID_VALUE;
  *high = current;
  return CUDA_SUCCESS;
}

// The default pool and the current one of a place that isn't a device's own memory.
PlacePools& PoolsOf(const CUmemLocation& location, CUmemAllocationType type) {
  Device& device = Device::Get();
  const bool numbered = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  const int id = numbered ? location.id : 0;
  PlacePools& pools = device.place_pools[{type, location.type, id}];
  if (pools.first == nullptr) {
    Pool* pool = device.pools.Make();
    device.own_pools.insert(pool);
    pool->properties.allocType = type;
    pool->properties.location = {.type = location.type, .id = id};
    pools = {pool, pool};
  }
  return pools;
}

bool IsDevices(const CUmemLocation& location, CUmemAllocationType type) {
  return type == CU_MEM_ALLOCATION_TYPE_PINNED && location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

bool IsDefault(const Pool* pool) {
  Device& device = Device::Get();
  return std::ranges::any_of(device.gpus, [&](auto& gpu) { return gpu.default_pool == pool; }) ||
         std::ranges::any_of(device.place_pools,
                             [&](auto& entry) { return entry.second.first == pool; });
}

bool IsOn(const Pool& pool, int device) {
  return pool.properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         pool.properties.location.id == device;
}

// What cuda.h requires of a pool's properties beside its place.
CUresult CheckPoolProperties(const CUmemPoolProps& p) {
  const MemoryOf of = MemoryOfPool(p);
  const bool shared = p.handleTypes != CU_MEM_HANDLE_TYPE_NONE;
  if (of == MemoryOf::kManaged)
    return shared || p.maxSize != 0 || p.usage != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (!shared) return CUDA_SUCCESS;
  if (p.location.type == CU_MEM_LOCATION_TYPE_HOST) return CUDA_ERROR_INVALID_VALUE;
  if (of == MemoryOf::kHost) {
    Explain("sharing a memory pool of the host is not modelled and returns 'not supported'");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  // Files are the one way of sharing.
  return p.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUresult MemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location,
                              CUmemAllocationType type) {
  if (out == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckPoolPlace(*location, type); error != CUDA_SUCCESS) return error;
  if (IsDevices(*location, type)) return DeviceGetDefaultMemPool(out, location->id);
  const Lock lock = LockDevice();
  *out = PoolsOf(*location, type).first->handle();
  return CUDA_SUCCESS;
}

CUresult MemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  if (out == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckPoolPlace(*location, type); error != CUDA_SUCCESS) return error;
  if (IsDevices(*location, type)) return DeviceGetMemPool(out, location->id);
  const Lock lock = LockDevice();
  *out = PoolsOf(*location, type).current->handle();
  return CUDA_SUCCESS;
}

CUresult MemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckPoolPlace(*location, type); error != CUDA_SUCCESS) return error;
  if (IsDevices(*location, type)) return DeviceSetMemPool(location->id, handle);
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  PlacePools& pools = PoolsOf(*location, type);
  if (pool == nullptr || &PoolsOf(pool->properties.location, pool->properties.allocType) != &pools)
    return CUDA_ERROR_INVALID_VALUE;
  pools.current = pool;
  return CUDA_SUCCESS;
}

CUresult DeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  return GivePool(out, &Gpu::default_pool, device);
}

CUresult DeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  return GivePool(out, &Gpu::current_pool, device);
}

CUresult DeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  Gpu* gpu = Device::Get().FindGpu(device);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (pool == nullptr || pool->imported != 0 || pool->properties.location.id != device ||
      !IsDevices(pool->properties.location, pool->properties.allocType))
    return CUDA_ERROR_INVALID_VALUE;
  gpu->current_pool = pool;
  return CUDA_SUCCESS;
}

CUresult MemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  if (out == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CheckPoolPlace(properties->location, properties->allocType) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckPoolProperties(*properties); error != CUDA_SUCCESS) return error;
  const Lock lock = LockDevice();
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  Pool* pool = Device::Get().pools.Make();
  Device::Get().own_pools.insert(pool);
  pool->properties = *properties;
  *out = pool->handle();
  return CUDA_SUCCESS;
}

CUresult MemPoolDestroy(CUmemoryPool handle) {
  Device& device = Device::Get();
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (pool == nullptr || IsDefault(pool)) return CUDA_ERROR_INVALID_VALUE;
  for (Gpu& gpu : device.gpus) {
    if (gpu.current_pool == pool) gpu.current_pool = gpu.default_pool;
  }
  for (auto& [place, pools] : device.place_pools) {
    if (pools.current == pool) pools.current = pools.first;
  }
  for (auto& [address, block] : device.allocations) {
    if (block.pool == pool) block.pool = nullptr;
  }
  std::erase_if(device.exported_pools, [pool](const auto& entry) { return entry.second == pool; });
  for (Gpu& gpu : device.gpus) {
    for (FreedBlock& block : gpu.freed) block.pool = block.pool == pool ? nullptr : block.pool;
  }
  device.own_pools.erase(pool);
  device.pools.Unmake(pool);
  return CUDA_SUCCESS;
}

CUresult MemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  Trim(*pool, keep);
  return CUDA_SUCCESS;
}

CUresult MemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return Give<int>(value, pool->reuse_follow_event);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return Give<int>(value, pool->reuse_opportunistic);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return Give<int>(value, pool->reuse_internal);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return Give<cuuint64_t>(value, pool->release_threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return Give<cuuint64_t>(value, pool->reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return Give<cuuint64_t>(value, pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return Give<cuuint64_t>(value, pool->used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return Give<cuuint64_t>(value, pool->used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return Give<int>(&pool->reuse_follow_event, *static_cast<int*>(value));
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return Give<int>(&pool->reuse_opportunistic, *static_cast<int*>(value));
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return Give<int>(&pool->reuse_internal, *static_cast<int*>(value));
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return Give<uint64_t>(&pool->release_threshold, *static_cast<cuuint64_t*>(value));
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return ResetHigh(*static_cast<cuuint64_t*>(value), pool->reserved, &pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return ResetHigh(*static_cast<cuuint64_t*>(value), pool->used, &pool->used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  const Lock lock = LockDevice();
  auto* pool = Resolve<Pool>(handle);
  if (pool == nullptr || (map == nullptr && count > 0)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUmemLocation& location = map[i].location;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!Device::Get().IsGpu(location.id)) return CUDA_ERROR_INVALID_DEVICE;
    const bool takes = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;  // never from its own device
    const bool gives = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (takes && IsOn(*pool, location.id)) return CUDA_ERROR_INVALID_DEVICE;
    if (!gives && !takes) return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < count; ++i) pool->access[map[i].location.id] = map[i].flags;
  return CUDA_SUCCESS;
}

CUresult MemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  const Lock lock = LockDevice();
  const auto* pool = Resolve<Pool>(handle);
  if (flags == nullptr || location == nullptr || pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (location->type == CU_MEM_LOCATION_TYPE_INVALID ||
      (device && !Device::Get().IsGpu(location->id)))
    return CUDA_ERROR_INVALID_VALUE;
  const MemoryOf of = MemoryOfPool(pool->properties);
  const bool own = device ? IsOn(*pool, location->id) : of == MemoryOf::kHost;
  *flags = own || of == MemoryOf::kManaged ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                           : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  const auto set = device ? pool->access.find(location->id) : pool->access.end();
  if (set != pool->access.end()) *flags = set->second;
  return CUDA_SUCCESS;
}

CUresult DeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  if (!Device::Get().IsGpu(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const GraphPages& pages = Device::Get().FindGpu(device)->graph_pages;
  switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return Give<cuuint64_t>(value, pages.used());
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return Give<cuuint64_t>(value, pages.used_high);
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return Give<cuuint64_t>(value, pages.used());
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return Give<cuuint64_t>(value, pages.reserved_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult DeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  if (!Device::Get().IsGpu(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  GraphPages& pages = Device::Get().FindGpu(device)->graph_pages;
  if (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
    return CUDA_ERROR_INVALID_VALUE;  // the value isn't looked at
  uint64_t* high =
      attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ? &pages.used_high : &pages.reserved_high;
  return ResetHigh(*static_cast<cuuint64_t*>(value), pages.used(), high);
}

CUresult DeviceGraphMemTrim(CUdevice device) {
  if (!Device::Get().IsGpu(device)) return CUDA_ERROR_INVALID_DEVICE;
  const Lock lock = LockDevice();
  Device::Get().FindGpu(device)->graph_pages.Trim(Device::Get().host_time_ns);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
