// Device and host memory outside of streams.
#include "plugins/soft_cuda/driver/memory/memory.h"

#include <sys/mman.h>
#include <cstring>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/async_memory.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr size_t kPitch = 512;

CUresult Allocate(AllocationKind kind, size_t bytes, unsigned flags, uint64_t* address) {
  const Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  *address = device.Allocate(kind, bytes, CurrentContext());
  if (*address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  device.allocations.at(*address).flags = flags;
  return CUDA_SUCCESS;
}

bool IsKind(const Allocation& a, AllocationKind kind) { return a.kind == kind; }

}  // namespace

CUresult BeginAtOnce() {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return CheckUnsafe();
}

CUresult MemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = 0;
  const CUresult result = Allocate(AllocationKind::kDevice, bytes, 0, &address);
  if (result == CUDA_SUCCESS) *out = address;
  return result;
}

CUresult MemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                          unsigned int element) {
  if (pitch == nullptr || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  size_t bytes = 0;
  size_t padded = 0;
  if (__builtin_add_overflow(width, kPitch - 1, &padded)) return CUDA_ERROR_OUT_OF_MEMORY;
  padded = padded / kPitch * kPitch;
  if (__builtin_mul_overflow(padded, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  *pitch = padded;
  return MemAlloc_v2(out, bytes);
}

CUresult MemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned int flags) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = 0;
  const CUresult result = Allocate(AllocationKind::kManaged, bytes, flags, &address);
  if (result == CUDA_SUCCESS) *out = address;
  return result;
}

CUresult MemFree_v2(CUdeviceptr address) {
  Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  if (address == 0) return CUDA_SUCCESS;
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end() || IsKind(block->second, AllocationKind::kHost) ||
      IsKind(block->second, AllocationKind::kRegistered)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const Stream* stream : CurrentContext()->streams) HostWaits(stream->time_ns);
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  return FreeBlock(address, nullptr);
}

CUresult MemHostAlloc(void** out, size_t bytes, unsigned int flags) {
  constexpr unsigned kFlags =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (out == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) {
    *out = nullptr;
    return CUDA_SUCCESS;
  }
  uint64_t address = 0;
  const CUresult result = Allocate(AllocationKind::kHost, bytes, flags, &address);
  if (result == CUDA_SUCCESS) *out = reinterpret_cast<void*>(address);
  return result;
}

CUresult MemAllocHost_v2(void** out, size_t bytes) { return MemHostAlloc(out, bytes, 0); }

CUresult MemFreeHost(void* pointer) {
  Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  auto block = device.allocations.find(reinterpret_cast<uint64_t>(pointer));
  if (block == device.allocations.end() || !IsKind(block->second, AllocationKind::kHost)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  device.Release(reinterpret_cast<uint64_t>(pointer));
  return CUDA_SUCCESS;
}

CUresult MemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (device.FindAllocation(address) != device.allocations.end())
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  device.AddRegistered(address, bytes, CurrentContext(), flags);
  return CUDA_SUCCESS;
}

CUresult MemHostUnregister(void* pointer) {
  const Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  auto block = device.allocations.find(reinterpret_cast<uint64_t>(pointer));
  if (block == device.allocations.end() || !IsKind(block->second, AllocationKind::kRegistered)) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  device.allocations.erase(block);
  return CUDA_SUCCESS;
}

CUresult MemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned int flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(reinterpret_cast<uint64_t>(pointer));
  if (block == device.allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult MemHostGetFlags(unsigned int* flags, void* pointer) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(reinterpret_cast<uint64_t>(pointer));
  if (block == device.allocations.end() || !IsKind(block->second, AllocationKind::kHost)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = block->second.flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

CUresult MemGetInfo_v2(size_t* free, size_t* total) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  if (free != nullptr) *free = CurrentContext()->gpu->free_bytes();
  if (total != nullptr) *total = CurrentContext()->gpu->figures.bytes;
  return CUDA_SUCCESS;
}

CUresult MemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  const Lock lock = LockDevice();
  Device& device = Device::Get();
  auto block = device.FindAllocation(address);
  if (block == device.allocations.end()) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = block->first;
  if (size != nullptr) *size = block->second.size;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
