// CUDA arrays and mipmapped arrays: making, asking, destroying.
#include "plugins/soft_cuda/driver/memory/array.h"

#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/memory/external_memory.h"
#include "plugins/soft_cuda/driver/memory/memory.h"
#include "plugins/soft_cuda/driver/rules/array_shape.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/array.h"

namespace graphkit::soft::driver {
namespace {

// Device memory that no pointer leads to; 0: none is left.
uint64_t TakeMemory(size_t bytes) {
  Gpu& gpu = *CurrentContext()->gpu;
  return bytes <= gpu.free_bytes() ? gpu.memory.Allocate(bytes) : 0;
}

void GiveBack(uint64_t memory) {
  if (Gpu* gpu = Device::Get().GpuAt(memory)) gpu->memory.Free(memory);
}

Array* MakeArray(const CUDA_ARRAY3D_DESCRIPTOR& shape, uint64_t memory, bool part) {
  Array* array = Device::Get().arrays.Make();
  array->shape = shape;
  array->memory = memory;
  array->part = part;
  SetLayout(array);
  return array;
}

// Brightness in full size, then colour in half of each side.
void AddPlanes(Array* whole) {
  CUDA_ARRAY3D_DESCRIPTOR shape = whole->shape;
  shape.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  shape.NumChannels = 1;
  Array* first = MakeArray(shape, whole->memory, true);
  shape.NumChannels = 2;
  shape.Width /= 2;
  shape.Height /= 2;
  Array* second = MakeArray(shape, whole->memory != 0 ? whole->memory + first->bytes() : 0, true);
  whole->planes = {first, second};
}

size_t BytesOf(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  if (shape.Format == CU_AD_FORMAT_NV12) return shape.Width * shape.Height * 3 / 2;
  Array array;
  array.shape = shape;
  SetLayout(&array);
  return array.bytes();
}

void Destroy(Array* array) {
  Device& device = Device::Get();
  for (Array* plane : array->planes) device.arrays.Unmake(plane);
  if (array->memory != 0 && !array->part) GiveBack(array->memory);
  device.arrays.Unmake(array);
}

bool IsBacked(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  return (shape.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) == 0;
}

// All work may be about the array.
CUresult WaitForWork(Lock& lock) {
  for (const Stream* stream : CurrentContext()->streams) HostWaits(stream->time_ns);
  return WaitForAll(lock);
}

CUresult Requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, size_t bytes, unsigned flags,
                      CUdevice device) {
  if (out == nullptr || !Device::Get().IsGpu(device) ||
      (flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  out->size = (bytes + kTileBytes - 1) / kTileBytes * kTileBytes;
  out->alignment = kTileBytes;
  return CUDA_SUCCESS;
}

}  // namespace

size_t BytesOfLevels(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) {
  size_t bytes = 0;
  for (unsigned i = 0; i < levels; ++i) bytes += BytesOf(LevelShape(shape, i));
  return bytes;
}

MipmappedArray* MakeMipmaps(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels,
                            uint64_t memory) {
  MipmappedArray* array = Device::Get().mipmapped_arrays.Make();
  array->shape = shape;
  array->memory = memory;
  array->bytes = BytesOfLevels(shape, levels);
  uint64_t at = memory;
  for (unsigned i = 0; i < levels; ++i) {
    array->levels.push_back(MakeArray(LevelShape(shape, i), at, true));
    if (at != 0) at += array->levels.back()->bytes();
  }
  return array;
}

CUresult Array3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  if (out == nullptr || shape == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckArrayShape(*shape, false); error != CUDA_SUCCESS) return error;
  const bool backed = IsBacked(*shape);
  const uint64_t memory = backed ? TakeMemory(BytesOf(*shape)) : 0;
  if (backed && memory == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Array* array = MakeArray(*shape, memory, false);
  if (shape->Format == CU_AD_FORMAT_NV12) AddPlanes(array);
  *out = array->handle();
  return CUDA_SUCCESS;
}

CUresult ArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* shape) {
  if (shape == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR deep{shape->Width,  shape->Height,      0,
                                     shape->Format, shape->NumChannels, 0};
  return Array3DCreate_v2(out, &deep);
}

CUresult Array3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<Array>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = array->shape;
  return CUDA_SUCCESS;
}

CUresult ArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  const CUresult result = Array3DGetDescriptor_v2(&shape, handle);
  if (result != CUDA_SUCCESS) return result;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = {shape.Width, shape.Height, shape.Format, shape.NumChannels};
  return CUDA_SUCCESS;
}

CUresult ArrayGetPlane(CUarray* out, CUarray handle, unsigned int plane) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<Array>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || plane >= array->planes.size()) return CUDA_ERROR_INVALID_VALUE;
  *out = array->planes[plane]->handle();
  return CUDA_SUCCESS;
}

CUresult ArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUarray handle) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<Array>(handle);
  if (out == nullptr || array == nullptr || array->part ||
      (array->shape.Flags & CUDA_ARRAY3D_SPARSE) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *out = SparseProperties(*array);
  return CUDA_SUCCESS;
}

CUresult ArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray handle,
                                    CUdevice device) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<Array>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Requirements(out, BytesOf(array->shape), array->shape.Flags, device);
}

CUresult ArrayDestroy(CUarray handle) {
  Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  auto* array = Resolve<Array>(handle);
  if (array == nullptr || array->part) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = WaitForWork(lock); error != CUDA_SUCCESS) return error;
  if (Resolve<Array>(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Destroy(array);
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* shape,
                              unsigned int levels) {
  if (out == nullptr || shape == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckArrayShape(*shape, true); error != CUDA_SUCCESS) return error;
  const unsigned count = std::clamp(levels, 1u, MostLevels(*shape));
  const uint64_t memory = IsBacked(*shape) ? TakeMemory(BytesOfLevels(*shape, count)) : 0;
  if (IsBacked(*shape) && memory == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = MakeMipmaps(*shape, count, memory)->handle();
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayGetLevel(CUarray* out, CUmipmappedArray handle, unsigned int level) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<MipmappedArray>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || level >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *out = array->levels[level]->handle();
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out,
                                           CUmipmappedArray handle) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<MipmappedArray>(handle);
  if (out == nullptr || array == nullptr || (array->shape.Flags & CUDA_ARRAY3D_SPARSE) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *out = SparseProperties(*array);
  return CUDA_SUCCESS;
}

CUresult MipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                                             CUmipmappedArray handle, CUdevice device) {
  const Lock lock = LockDevice();
  const auto* array = Resolve<MipmappedArray>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Requirements(out, array->bytes, array->shape.Flags, device);
}

CUresult MipmappedArrayDestroy(CUmipmappedArray handle) {
  Lock lock = LockDevice();
  if (CUresult error = BeginAtOnce(); error != CUDA_SUCCESS) return error;
  auto* array = Resolve<MipmappedArray>(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = WaitForWork(lock); error != CUDA_SUCCESS) return error;
  if (Resolve<MipmappedArray>(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Device& device = Device::Get();
  for (Array* level : array->levels) device.arrays.Unmake(level);
  if (array->external != nullptr) {
    Unmap(array->external);
  } else if (array->memory != 0) {
    GiveBack(array->memory);
  }
  device.mipmapped_arrays.Unmake(array);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
