#include "plugins/soft_cuda/driver/memory/ipc.h"

#include <unistd.h>
#include <cstring>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/external_memory.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr uint64_t kDeviceBytes = uint64_t{1} << 42;  // of a device's addresses in the file

// The memory object of a place that this process has opened; null: it hasn't.
ExternalMemory* FindOpened(const IpcPlace& place, bool is_handle) {
  for (const auto& [address, block] : Device::Get().allocations) {
    ExternalMemory* external = block.external;
    if (external != nullptr && external->file == place.file && external->offset == place.offset &&
        external->is_handle == is_handle)
      return external;
  }
  return nullptr;
}

CUresult MapShared(const IpcPlace& place, ExternalMemory** out) {
  Device& device = Device::Get();
  const OpenFile open(OpenIpcFile(place));
  if (open.file < 0) return CUDA_ERROR_INVALID_HANDLE;
  Gpu* gpu = device.FindPlace(place.gpu);
  if (gpu == nullptr) gpu = CurrentContext()->gpu;
  const uint64_t first = PageDown(place.offset);
  const uint64_t bytes = PageUp(place.offset + place.size) - first;
  const uint64_t block = gpu->memory.Allocate(bytes + kPageBytes);
  if (block == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!device.backing.Lay(PageUp(block), bytes, open.file, first)) {
    gpu->memory.Free(block);
    return CUDA_ERROR_MAP_FAILED;
  }
  ExternalMemory* external = device.external_memories.Make();
  external->gpu = gpu;
  external->block = block;
  external->memory = PageUp(block);
  external->size = bytes;
  external->file = place.file;
  external->offset = place.offset;
  external->destroyed = true;  // goes with its last buffer
  *out = external;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult ShareAllocation(uint64_t address, IpcPlace* place) {
  Device& device = Device::Get();
  Allocation& block = device.allocations.at(address);
  const OpenFile open(OpenOwnIpcFile(place));
  if (open.file < 0) {
    Explain("memory can't be shared: /dev/shm isn't writable");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const uint64_t base = block.gpu->memory.begin();
  place->gpu = block.gpu->place;
  place->offset =
      kIpcEventBytes + kDeviceBytes * static_cast<uint64_t>(block.gpu->place) + (address - base);
  place->size = block.size;
  block.shared = true;
  if (!device.backing.Share(address, block.size, open.file, place->offset)) {
    Explain("memory can't be shared: /dev/shm has no room for it");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

CUresult OpenShared(const IpcPlace& place, bool is_handle, CUdeviceptr* out) {
  Device& device = Device::Get();
  ExternalMemory* external = FindOpened(place, is_handle);
  if (external == nullptr) {
    if (CUresult error = MapShared(place, &external); error != CUDA_SUCCESS) return error;
    external->is_handle = is_handle;
  }
  ++external->mapped;
  *out = external->memory + place.offset % kPageBytes;
  device.AddExternal(*out, place.size, external);
  return CUDA_SUCCESS;
}

CUresult IpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const auto block = Device::Get().FindAllocation(address);
  if (out == nullptr || block == Device::Get().allocations.end() ||
      block->second.kind != AllocationKind::kDevice)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  IpcPlace place{};
  const CUresult result = ShareAllocation(block->first, &place);
  if (result == CUDA_SUCCESS) std::memcpy(out, &place, sizeof place);
  return result;
}

CUresult IpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  const Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
    return CUDA_ERROR_INVALID_VALUE;
  const IpcPlace place = PlaceOf(handle);
  if (place.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;  // of this process itself
  return OpenShared(place, true, out);
}

CUresult IpcCloseMemHandle(CUdeviceptr address) {
  Lock lock = LockDevice();
  auto& allocations = Device::Get().allocations;
  const auto is_opened = [&] {
    const auto block = allocations.find(address);
    return block != allocations.end() && block->second.external != nullptr &&
           block->second.external->is_handle;
  };
  if (!is_opened()) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  if (!is_opened()) return CUDA_ERROR_INVALID_VALUE;
  const auto block = allocations.find(address);
  ExternalMemory* external = block->second.external;
  if (block->second.imports > 0) {
    --block->second.imports;
  } else {
    allocations.erase(block);
  }
  Unmap(external);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
