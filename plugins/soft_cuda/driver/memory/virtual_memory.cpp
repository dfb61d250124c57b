// Virtual memory management: reserving addresses, making memory, mapping the one to the other, and
// who may use it. The device and this process are one: who may use it on any device may be copied
// from and to.
#include "plugins/soft_cuda/model/virtual_memory.h"

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr uint64_t kGranularity = VirtualMemory::kGranularity;

VirtualMemory& Virtual() { return Device::Get().virtual_memory; }

bool IsWhole(uint64_t value) { return value % kGranularity == 0; }

CUresult CheckDeviceLocation(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return Device::Get().IsGpu(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_ERROR_NOT_SUPPORTED;  // memory of the host isn't managed so here
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult CheckProperties(const CUmemAllocationProp* properties) {
  if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  const auto handles = properties->requestedHandleTypes;
  const bool shareable =
      handles == CU_MEM_HANDLE_TYPE_NONE || handles == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return shareable ? CheckDeviceLocation(properties->location) : CUDA_ERROR_NOT_SUPPORTED;
}

Gpu* GpuOf(const PhysicalMemory& memory) {
  return Device::Get().FindGpu(memory.properties.location.id);
}

bool IsAccess(CUmemAccess_flags flags) {
  return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
         flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

}  // namespace

CUresult MemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* properties,
                                     CUmemAllocationGranularity_flags option) {
  if (out == nullptr || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // The same of all places and kinds of memory, of those that can't be made as well: the record of
  // an RTX 3060.
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = kGranularity;
  return CUDA_SUCCESS;
}

CUresult MemAddressReserve(CUdeviceptr* out, size_t size, size_t alignment, CUdeviceptr wanted,
                           unsigned long long flags) {
  const bool power = (alignment & (alignment - 1)) == 0;
  if (out == nullptr || size == 0 || !IsWhole(size) || !power || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  *out = Virtual().Reserve(size, alignment, wanted);
  if (*out == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Device::Get().backing.Own(*out, size, false);
  return CUDA_SUCCESS;
}

CUresult MemAddressFree(CUdeviceptr address, size_t size) {
  const Lock lock = LockDevice();
  if (!Virtual().Unreserve(address, size)) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().backing.Disown(address);
  return CUDA_SUCCESS;
}

CUresult MemCreate(CUmemGenericAllocationHandle* out, size_t size,
                   const CUmemAllocationProp* properties, unsigned long long flags) {
  if (out == nullptr || size == 0 || !IsWhole(size) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = CheckProperties(properties); error != CUDA_SUCCESS) return error;
  Gpu* gpu = Device::Get().FindGpu(properties->location.id);
  if (size > gpu->free_bytes() || !Device::Get().backing.HasRoom(size))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *out = Virtual().Make(size, *properties);
  if (*out == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Device::Get().backing.AddShared(Virtual().HomeOf(*out), size);
  gpu->physical += size;
  return CUDA_SUCCESS;
}

CUresult MemRelease(CUmemGenericAllocationHandle handle) {
  const Lock lock = LockDevice();
  const PhysicalMemory* memory = Virtual().Find(handle);
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Gpu* gpu = GpuOf(*memory);
  const uint64_t home = memory->home;
  const uint64_t freed = Virtual().Release(handle);
  if (freed != 0) Device::Get().backing.DropShared(home);
  gpu->physical -= freed;
  return CUDA_SUCCESS;
}

CUresult MemMap(CUdeviceptr address, size_t size, size_t offset,
                CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (size == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!IsWhole(address) || !IsWhole(size) || !IsWhole(offset)) return CUDA_ERROR_NOT_SUPPORTED;
  const Lock lock = LockDevice();
  const PhysicalMemory* memory = Virtual().Find(handle);
  if (memory == nullptr || size > memory->size || offset > memory->size - size)
    return CUDA_ERROR_INVALID_VALUE;
  if (memory->allocation != 0) {
    Explain(
        "a handle of memory that cuMemAlloc made can't be mapped and returns 'not supported'; "
        "allocate it with cuMemCreate");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!Virtual().MappingsIn(address, size).empty()) return CUDA_ERROR_INVALID_VALUE;
  if (!Virtual().Map(address, {.size = size, .offset = offset, .handle = handle}))
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().AddMapped(address, size, GpuOf(*memory));
  return CUDA_SUCCESS;
}

CUresult MemUnmap(CUdeviceptr address, size_t size) {
  Lock lock = LockDevice();
  if (size == 0 || !Virtual().IsReserved(address)) return CUDA_ERROR_INVALID_VALUE;
  if (Virtual().MappingsIn(address, size).empty()) return CUDA_SUCCESS;  // unmapped before
  if (!Virtual().IsMapped(address, size)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  for (const uint64_t begin : Virtual().MappingsIn(address, size)) {
    Gpu* gpu = device.allocations.at(begin).gpu;
    uint64_t freed = 0;
    device.backing.Close(begin, Virtual().MappingAt(begin)->size);
    const uint64_t home = Virtual().HomeOf(Virtual().MappingAt(begin)->handle);
    Virtual().Unmap(begin, &freed);
    if (freed != 0) device.backing.DropShared(home);
    gpu->physical -= freed;
    device.allocations.erase(begin);
  }
  return CUDA_SUCCESS;
}

CUresult MemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* access,
                      size_t count) {
  if (access == nullptr || count == 0 || size == 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  for (size_t i = 0; i < count; ++i) {
    if (!IsAccess(access[i].flags)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = CheckDeviceLocation(access[i].location); error != CUDA_SUCCESS)
      return error;
  }
  if (!Virtual().IsMapped(address, size)) return CUDA_ERROR_INVALID_VALUE;
  for (const uint64_t begin : Virtual().MappingsIn(address, size)) {
    for (size_t i = 0; i < count; ++i)
      Virtual().SetAccess(begin, access[i].location.id, access[i].flags);
    const uint64_t bytes = Virtual().MappingAt(begin)->size;
    Backing& backing = Device::Get().backing;
    Virtual().IsAccessible(begin, bytes) ? backing.Open(begin, bytes) : backing.Close(begin, bytes);
  }
  return CUDA_SUCCESS;
}

CUresult MemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                      CUdeviceptr address) {
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = CheckDeviceLocation(*location); error != CUDA_SUCCESS) return error;
  const Mapping* mapping = Virtual().MappingAt(address);
  if (mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto set = mapping->access.find(location->id);
  *flags = set != mapping->access.end() ? set->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult MemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                              CUmemGenericAllocationHandle handle) {
  const Lock lock = LockDevice();
  const PhysicalMemory* memory = Virtual().Find(handle);
  if (properties == nullptr || memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = memory->properties;
  return CUDA_SUCCESS;
}

// Also of a handle that was released: the mapping keeps its memory. And of what cuMemAlloc made,
// which NCCL's registration asks for.
CUresult MemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* pointer) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const Mapping* mapping = Virtual().MappingAt(address);
  if (mapping == nullptr) {
    const auto block = Device::Get().FindAllocation(address);
    if (block == Device::Get().allocations.end() || block->second.kind != AllocationKind::kDevice)
      return CUDA_ERROR_INVALID_VALUE;
    const uint64_t size = (block->second.size + kGranularity - 1) / kGranularity * kGranularity;
    *out = Virtual().RetainAllocation(block->first, size, block->second.gpu->ordinal);
    return CUDA_SUCCESS;
  }
  Virtual().Retain(mapping->handle);
  *out = mapping->handle;
  return CUDA_SUCCESS;
}

CUresult MemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                    CUmemAllocationHandleType type, unsigned long long flags) {
  Lock lock = LockDevice();
  const PhysicalMemory* memory = Virtual().Find(handle);
  if (out == nullptr || memory == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      memory->properties.requestedHandleTypes != type) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (memory->file < 0) {
    if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
    if (Virtual().Find(handle) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Bytes that kernels would have written are settled; nothing moves.
    for (const auto& [begin, mapping] : Virtual().mappings())
      if (mapping.handle == handle) Device::Get().backing.Share(begin, mapping.size, -1, 0);
  }
  const int file = Virtual().Export(handle, GpuOf(*memory)->place);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *static_cast<int*>(out) = file;
  return CUDA_SUCCESS;
}

// Of this or another process, whose memory counts there.
CUresult MemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* os_handle,
                                      CUmemAllocationHandleType type) {
  if (out == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  int place = -1;
  *out = Virtual().Import(static_cast<int>(reinterpret_cast<intptr_t>(os_handle)), &place);
  if (*out == 0) return CUDA_ERROR_INVALID_VALUE;
  if (place >= 0) {
    const Gpu* gpu = Device::Get().FindPlace(place);
    if (gpu == nullptr) gpu = Device::Get().FindGpu(0);
    Virtual().Find(*out)->properties.location.id = gpu->ordinal;
  }
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
