// Memory: at once, in stream order, and from pools.
#include "plugins/soft_cuda/device/shared.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUdeviceptr* Out(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

}  // namespace

cudaError_t Malloc(void** out, size_t bytes) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *out = nullptr;
    return cudaSuccess;
  }
  return ToRuntime(cuMemAlloc(Out(out), bytes));
}

cudaError_t Free(void* pointer) {
  if (pointer == nullptr) return ToRuntime(graphkit_soft_shared()->check_unsafe());
  return ToRuntime(cuMemFree(Address(pointer)));
}

cudaError_t MallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return ToRuntime(cuMemAllocPitch(Out(out), pitch, width, height, 4));
}

cudaError_t Malloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  if (out == nullptr) return cudaErrorInvalidValue;
  size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
  out->xsize = extent.width;
  out->ysize = extent.height;
  return ToRuntime(cuMemAllocPitch(Out(&out->ptr), &out->pitch, extent.width, rows, 4));
}

cudaError_t MallocManaged(void** out, size_t bytes, unsigned int flags) {
  return ToRuntime(cuMemAllocManaged(Out(out), bytes, flags));
}
cudaError_t MallocHost(void** out, size_t bytes) { return ToRuntime(cuMemAllocHost(out, bytes)); }
cudaError_t HostAlloc(void** out, size_t bytes, unsigned int flags) {
  return ToRuntime(cuMemHostAlloc(out, bytes, flags));
}
cudaError_t FreeHost(void* pointer) {
  return pointer != nullptr ? ToRuntime(cuMemFreeHost(pointer)) : cudaSuccess;
}
cudaError_t HostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return ToRuntime(cuMemHostRegister(pointer, bytes, flags));
}
cudaError_t HostUnregister(void* pointer) { return ToRuntime(cuMemHostUnregister(pointer)); }
cudaError_t HostGetDevicePointer(void** out, void* pointer, unsigned int flags) {
  return ToRuntime(cuMemHostGetDevicePointer(Out(out), pointer, flags));
}
cudaError_t HostGetFlags(unsigned int* flags, void* pointer) {
  return ToRuntime(cuMemHostGetFlags(flags, pointer));
}
cudaError_t MemGetInfo(size_t* free, size_t* total) { return ToRuntime(cuMemGetInfo(free, total)); }

cudaError_t PointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  if (out == nullptr) return cudaErrorInvalidValue;
  unsigned type = 0;
  unsigned managed = 0;
  int device = -2;
  *out = {};
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &managed, &device, &out->devicePointer, &out->hostPointer};
  const CUresult result = cuPointerGetAttributes(5, names, values, Address(pointer));
  out->device = device;
  if (managed != 0) {
    out->type = cudaMemoryTypeManaged;
  } else {
    out->type = type == CU_MEMORYTYPE_HOST     ? cudaMemoryTypeHost
                : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                               : cudaMemoryTypeUnregistered;
  }
  if (out->type == cudaMemoryTypeUnregistered) out->hostPointer = const_cast<void*>(pointer);
  return ToRuntime(result);
}

cudaError_t MallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return ToRuntime(cuMemAllocAsync(Out(out), bytes, stream));
}
cudaError_t MallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ToRuntime(cuMemAllocFromPoolAsync(Out(out), bytes, pool, stream));
}
cudaError_t FreeAsync(void* pointer, cudaStream_t stream) {
  return ToRuntime(cuMemFreeAsync(Address(pointer), stream));
}

cudaError_t DeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return ToRuntime(cuDeviceGetDefaultMemPool(out, device));
}
cudaError_t DeviceGetMemPool(cudaMemPool_t* out, int device) {
  return ToRuntime(cuDeviceGetMemPool(out, device));
}
cudaError_t DeviceSetMemPool(int device, cudaMemPool_t pool) {
  return ToRuntime(cuDeviceSetMemPool(device, pool));
}
cudaError_t MemGetDefaultMemPool(cudaMemPool_t* out, cudaMemLocation* location,
                                 cudaMemAllocationType type) {
  return ToRuntime(cuMemGetDefaultMemPool(out, reinterpret_cast<CUmemLocation*>(location),
                                          static_cast<CUmemAllocationType>(type)));
}
cudaError_t MemGetMemPool(cudaMemPool_t* out, cudaMemLocation* location,
                          cudaMemAllocationType type) {
  return ToRuntime(cuMemGetMemPool(out, reinterpret_cast<CUmemLocation*>(location),
                                   static_cast<CUmemAllocationType>(type)));
}
cudaError_t MemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                          cudaMemPool_t pool) {
  return ToRuntime(cuMemSetMemPool(reinterpret_cast<CUmemLocation*>(location),
                                   static_cast<CUmemAllocationType>(type), pool));
}
cudaError_t MemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return ToRuntime(cuMemPoolCreate(out, reinterpret_cast<const CUmemPoolProps*>(properties)));
}
cudaError_t MemPoolDestroy(cudaMemPool_t pool) { return ToRuntime(cuMemPoolDestroy(pool)); }
cudaError_t MemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return ToRuntime(cuMemPoolTrimTo(pool, keep));
}
cudaError_t MemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void* value) {
  return ToRuntime(cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attr), value));
}
cudaError_t MemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void* value) {
  return ToRuntime(cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attr), value));
}
cudaError_t MemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* map, size_t count) {
  return ToRuntime(cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(map), count));
}
cudaError_t MemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                             cudaMemLocation* location) {
  return ToRuntime(cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool,
                                      reinterpret_cast<CUmemLocation*>(location)));
}
cudaError_t MemPoolExportToShareableHandle(void* out, cudaMemPool_t pool,
                                           cudaMemAllocationHandleType type, unsigned int flags) {
  return ToRuntime(cuMemPoolExportToShareableHandle(
      out, pool, static_cast<CUmemAllocationHandleType>(type), flags));
}
cudaError_t MemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle,
                                             cudaMemAllocationHandleType type, unsigned int flags) {
  return ToRuntime(cuMemPoolImportFromShareableHandle(
      out, handle, static_cast<CUmemAllocationHandleType>(type), flags));
}
cudaError_t MemPoolExportPointer(cudaMemPoolPtrExportData* out, void* pointer) {
  static_assert(sizeof *out == sizeof(CUmemPoolPtrExportData));
  return ToRuntime(
      cuMemPoolExportPointer(reinterpret_cast<CUmemPoolPtrExportData*>(out), Address(pointer)));
}
cudaError_t MemPoolImportPointer(void** out, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  return ToRuntime(
      cuMemPoolImportPointer(Out(out), pool, reinterpret_cast<CUmemPoolPtrExportData*>(data)));
}
cudaError_t DeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
  return ToRuntime(
      cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value));
}
cudaError_t DeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
  return ToRuntime(
      cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value));
}
cudaError_t DeviceGraphMemTrim(int device) { return ToRuntime(cuDeviceGraphMemTrim(device)); }

}  // namespace graphkit::soft::runtime
