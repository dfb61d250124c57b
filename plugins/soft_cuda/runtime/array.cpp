// CUDA arrays and mipmapped arrays.
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

constexpr unsigned kFlatFlags =
    cudaArraySurfaceLoadStore | cudaArrayTextureGather | cudaArraySparse | cudaArrayDeferredMapping;
constexpr unsigned kFlags = kFlatFlags | cudaArrayLayered | cudaArrayCubemap;

CUmipmappedArray DriverMipmaps(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}
CUarray* Out(cudaArray_t* array) { return reinterpret_cast<CUarray*>(array); }

// Where the documentation names no error for a handle that is none.
cudaError_t WithoutHandleError(CUresult result) {
  return result == CUDA_ERROR_INVALID_HANDLE ? cudaErrorInvalidValue : ToRuntime(result);
}

cudaError_t ReadShape(const cudaChannelFormatDesc* desc, const cudaExtent& extent, unsigned flags,
                      CUDA_ARRAY3D_DESCRIPTOR* shape) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  *shape = {};
  shape->Width = extent.width;
  shape->Height = extent.height;
  shape->Depth = extent.depth;
  shape->Flags = flags;
  return ToDriver(*desc, shape);
}

}  // namespace

cudaError_t Malloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                          unsigned int flags) {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  if (out == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
  const cudaError_t error = ReadShape(desc, extent, flags, &shape);
  return error == cudaSuccess ? ToRuntime(cuArray3DCreate(Out(out), &shape)) : error;
}

cudaError_t MallocArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, size_t width,
                        size_t height, unsigned int flags) {
  if ((flags & ~kFlatFlags) != 0) return cudaErrorInvalidValue;
  return Malloc3DArray(out, desc, {width, height, 0}, flags);
}

cudaError_t FreeArray(cudaArray_t array) {
  return array != nullptr ? WithoutHandleError(cuArrayDestroy(Driver(array))) : cudaSuccess;
}

cudaError_t ArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags,
                         cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  const CUresult result = cuArray3DGetDescriptor(&shape, Driver(array));
  if (result != CUDA_SUCCESS) return WithoutHandleError(result);
  if (desc != nullptr) *desc = ChannelsOf(shape);
  if (extent != nullptr) *extent = {shape.Width, shape.Height, shape.Depth};
  if (flags != nullptr) *flags = shape.Flags;
  return cudaSuccess;
}

cudaError_t GetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  return ArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t MallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc,
                                 cudaExtent extent, unsigned int levels, unsigned int flags) {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  if (out == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
  const cudaError_t error = ReadShape(desc, extent, flags, &shape);
  if (error != cudaSuccess) return error;
  return ToRuntime(
      cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(out), &shape, levels));
}

cudaError_t FreeMipmappedArray(cudaMipmappedArray_t array) {
  return array != nullptr ? WithoutHandleError(cuMipmappedArrayDestroy(DriverMipmaps(array)))
                          : cudaSuccess;
}

}  // namespace graphkit::soft::runtime
