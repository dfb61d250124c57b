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

cudaError_t FreeHost(void* pointer) {
  return pointer != nullptr ? ToRuntime(cuMemFreeHost(pointer)) : cudaSuccess;
}

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

}  // namespace graphkit::soft::runtime
