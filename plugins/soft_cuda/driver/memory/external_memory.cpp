#include "plugins/soft_cuda/driver/memory/external_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/array.h"
#include "plugins/soft_cuda/driver/rules/array_shape.h"

namespace graphkit::soft::driver {
namespace {

// Lays the bytes of a file at the object's addresses. What isn't a file has no bytes that could be
// seen here.
CUresult LayFile(int file, const ExternalMemory& external) {
  struct stat status {};
  if (fstat(file, &status) != 0) return CUDA_ERROR_INVALID_HANDLE;
  if (!S_ISREG(status.st_mode)) {
    Explain(
        "imported memory has bytes of its own: what its exporter writes isn't seen, and the other "
        "way round");
    return CUDA_SUCCESS;
  }
  if (static_cast<uint64_t>(status.st_size) < external.size) return CUDA_ERROR_INVALID_VALUE;
  const bool laid = Device::Get().backing.Lay(external.memory, PageUp(external.size), file, 0);
  return laid ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

void GiveBack(ExternalMemory* external) {
  Device::Get().backing.TakeUp(external->memory, PageUp(external->size));
  external->gpu->memory.Free(external->block);
  Device::Get().external_memories.Unmake(external);
}

// Null: not an object, or a destroyed one.
ExternalMemory* Find(CUexternalMemory handle) {
  auto* external = Resolve<ExternalMemory>(handle);
  return external != nullptr && !external->destroyed ? external : nullptr;
}

bool Contains(const ExternalMemory& external, uint64_t offset, uint64_t bytes) {
  return bytes > 0 && offset <= external.size && bytes <= external.size - offset;
}

}  // namespace

void Unmap(ExternalMemory* external) {
  if (--external->mapped == 0 && external->destroyed) GiveBack(external);
}

CUresult ImportExternalMemory(CUexternalMemory* out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* desc) {
  if (out == nullptr || desc == nullptr || desc->size == 0 ||
      (desc->flags & ~unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  // The others are Windows's, NvSci's and Jetson's.
  if (desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
  if (fcntl(desc->handle.fd, F_GETFD) < 0) return CUDA_ERROR_INVALID_HANDLE;
  const Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Gpu* gpu = CurrentContext()->gpu;
  const uint64_t bytes = PageUp(desc->size) + kPageBytes;
  const uint64_t block = bytes <= gpu->free_bytes() ? gpu->memory.Allocate(bytes) : 0;
  if (block == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  ExternalMemory* external = Device::Get().external_memories.Make();
  external->gpu = gpu;
  external->block = block;
  external->memory = PageUp(block);
  external->size = desc->size;
  if (CUresult error = LayFile(desc->handle.fd, *external); error != CUDA_SUCCESS) {
    GiveBack(external);
    return error;
  }
  close(desc->handle.fd);  // it belongs to the driver from here on
  *out = external->handle();
  return CUDA_SUCCESS;
}

CUresult ExternalMemoryGetMappedBuffer(CUdeviceptr* out, CUexternalMemory handle,
                                       const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* desc) {
  const Lock lock = LockDevice();
  ExternalMemory* external = Find(handle);
  if (external == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || desc == nullptr || desc->flags != 0 ||
      !Contains(*external, desc->offset, desc->size))
    return CUDA_ERROR_INVALID_VALUE;
  *out = external->memory + desc->offset;
  ++external->mapped;
  Device::Get().AddExternal(*out, desc->size, external);
  return CUDA_SUCCESS;
}

CUresult ExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* out, CUexternalMemory handle,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* desc) {
  const Lock lock = LockDevice();
  ExternalMemory* external = Find(handle);
  if (external == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || desc == nullptr || desc->numLevels == 0 ||
      desc->numLevels > MostLevels(desc->arrayDesc))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckArrayShape(desc->arrayDesc, true); error != CUDA_SUCCESS) return error;
  const size_t bytes = BytesOfLevels(desc->arrayDesc, desc->numLevels);
  if (!Contains(*external, desc->offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  MipmappedArray* array =
      MakeMipmaps(desc->arrayDesc, desc->numLevels, external->memory + desc->offset);
  array->external = external;
  ++external->mapped;
  *out = array->handle();
  return CUDA_SUCCESS;
}

CUresult DestroyExternalMemory(CUexternalMemory handle) {
  const Lock lock = LockDevice();
  ExternalMemory* external = Find(handle);
  if (external == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  external->destroyed = true;
  if (external->mapped == 0) GiveBack(external);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
