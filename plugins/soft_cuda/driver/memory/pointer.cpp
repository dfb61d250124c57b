// Queries about an address.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/attribute.h"

namespace graphkit::soft::driver {
namespace {

CUresult Read(void* to, CUpointer_attribute attribute, uint64_t address, uint64_t begin,
              const Allocation& a) {
  const bool host = IsOfHost(a);
  const bool managed = IsManaged(a);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return Give<CUcontext>(to, a.context != nullptr ? a.context->handle() : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return Give<CUmemorytype>(to, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return Give<CUdeviceptr>(to, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host && !managed) return CUDA_ERROR_INVALID_VALUE;
      return Give<void*>(to, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return Give<unsigned>(to, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Give<int>(to, a.gpu != nullptr       ? a.gpu->ordinal
                           : a.context != nullptr ? a.context->gpu->ordinal
                                                  : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return Give<unsigned long long>(to, a.id);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return Give<CUdeviceptr>(to, begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return Give<size_t>(to, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Give<unsigned>(to, 1);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return Give<CUmemoryPool>(to, a.pool != nullptr ? a.pool->handle() : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return Give<unsigned>(to, a.sync_memops);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return Give<unsigned>(to, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return Give<unsigned>(to, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return Give<unsigned long long>(to, CU_MEM_HANDLE_TYPE_NONE);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// Is it of four bytes?
bool IsWord(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Kept and given back; copies do not look at it: those of pageable memory wait anyway.
CUresult PointerSetAttribute(const void* value, CUpointer_attribute attribute,
                             CUdeviceptr address) {
  if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
    return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(address);
  if (block == device.allocations.end() || block->second.gpu == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  block->second.sync_memops = *static_cast<const unsigned*>(value) != 0;
  return CUDA_SUCCESS;
}

CUresult PointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(address);
  if (block == device.allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  return Read(data, attribute, address, block->first, block->second);
}

// Addresses that CUDA doesn't know give zeros, not an error.
CUresult PointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                              CUdeviceptr address) {
  if (count == 0 || attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(address);
  for (unsigned i = 0; i < count; ++i) {
    if (IsWord(attributes[i])) {
      Give<int>(data[i], attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? -2 : 0);
    } else {
      Give<uint64_t>(data[i], 0);
    }
    if (block != device.allocations.end())
      Read(data[i], attributes[i], address, block->first, block->second);
  }
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
