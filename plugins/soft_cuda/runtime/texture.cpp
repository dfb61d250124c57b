// Texture and surface objects.
#include <cstring>

#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

// The same numbers and layouts in both APIs.
static_assert(sizeof(cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC));
static_assert(int{cudaResourceTypePitch2D} == int{CU_RESOURCE_TYPE_PITCH2D});
static_assert(int{cudaAddressModeBorder} == int{CU_TR_ADDRESS_MODE_BORDER});
static_assert(int{cudaFilterModeLinear} == int{CU_TR_FILTER_MODE_LINEAR});

cudaError_t ReadTexels(const cudaChannelFormatDesc& desc, CUarray_format* format, unsigned* count) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  const cudaError_t error = ToDriver(desc, &shape);
  *format = shape.Format;
  *count = shape.NumChannels;
  return error;
}

cudaError_t ToDriver(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  to->resType = static_cast<CUresourcetype>(from.resType);
  to->flags = from.flags;
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->res.array.hArray = Driver(from.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      to->res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(from.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear: {
      const auto& linear = from.res.linear;
      to->res.linear.devPtr = reinterpret_cast<CUdeviceptr>(linear.devPtr);
      to->res.linear.sizeInBytes = linear.sizeInBytes;
      return ReadTexels(linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = from.res.pitch2D;
      to->res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(rows.devPtr);
      to->res.pitch2D.width = rows.width;
      to->res.pitch2D.height = rows.height;
      to->res.pitch2D.pitchInBytes = rows.pitchInBytes;
      return ReadTexels(rows.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
    }
    default:
      return cudaErrorInvalidValue;
  }
}

cudaChannelFormatDesc TexelsOf(CUarray_format format, unsigned channels) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Format = format;
  shape.NumChannels = channels;
  return ChannelsOf(shape);
}

cudaResourceDesc FromDriver(const CUDA_RESOURCE_DESC& from) {
  cudaResourceDesc to{};
  to.resType = static_cast<cudaResourceType>(from.resType);
  to.flags = from.flags;
  if (from.resType == CU_RESOURCE_TYPE_ARRAY) {
    to.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray);
  } else if (from.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    to.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
  } else if (from.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& linear = from.res.linear;
    to.res.linear = {reinterpret_cast<void*>(linear.devPtr),
                     TexelsOf(linear.format, linear.numChannels), linear.sizeInBytes};
  } else {
    const auto& rows = from.res.pitch2D;
    to.res.pitch2D = {reinterpret_cast<void*>(rows.devPtr), TexelsOf(rows.format, rows.numChannels),
                      rows.width, rows.height, rows.pitchInBytes};
  }
  return to;
}

CUDA_TEXTURE_DESC ToDriver(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  to.flags =
      (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
      (from.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
      (from.sRGB != 0 ? CU_TRSF_SRGB : 0u) |
      (from.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
      (from.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  return to;
}

cudaTextureDesc FromDriver(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc to{};
  const auto has = [&from](unsigned flag) { return (from.flags & flag) != 0 ? 1 : 0; };
  for (int i = 0; i < 3; ++i)
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode =
      has(CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.sRGB = has(CU_TRSF_SRGB);
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  to.normalizedCoords = has(CU_TRSF_NORMALIZED_COORDINATES);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  to.disableTrilinearOptimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  to.seamlessCubemap = has(CU_TRSF_SEAMLESS_CUBEMAP);
  return to;
}

cudaError_t TellResource(CUresult result, const CUDA_RESOURCE_DESC& found, cudaResourceDesc* out) {
  if (result != CUDA_SUCCESS) return ToRuntime(result);
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = FromDriver(found);
  return cudaSuccess;
}

}  // namespace

cudaError_t CreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                const cudaTextureDesc* sampling, const cudaResourceViewDesc* view) {
  if (resource == nullptr || sampling == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC read;
  if (cudaError_t error = ToDriver(*resource, &read); error != cudaSuccess) return error;
  const CUDA_TEXTURE_DESC how = ToDriver(*sampling);
  return ToRuntime(
      cuTexObjectCreate(out, &read, &how, reinterpret_cast<const CUDA_RESOURCE_VIEW_DESC*>(view)));
}

cudaError_t GetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t texture) {
  CUDA_RESOURCE_DESC found;
  return TellResource(cuTexObjectGetResourceDesc(&found, texture), found, out);
}

cudaError_t GetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  CUDA_TEXTURE_DESC found;
  const CUresult result = cuTexObjectGetTextureDesc(&found, texture);
  if (result != CUDA_SUCCESS) return ToRuntime(result);
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = FromDriver(found);
  return cudaSuccess;
}

cudaError_t CreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  if (resource == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC written;
  if (cudaError_t error = ToDriver(*resource, &written); error != cudaSuccess) return error;
  return ToRuntime(cuSurfObjectCreate(out, &written));
}

cudaError_t GetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t surface) {
  CUDA_RESOURCE_DESC found;
  return TellResource(cuSurfObjectGetResourceDesc(&found, surface), found, out);
}

cudaError_t DeviceGetTexture1DLinearMaxWidth(size_t* out, const cudaChannelFormatDesc* desc,
                                             int device) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  CUarray_format format;
  unsigned channels = 0;
  if (cudaError_t error = ReadTexels(*desc, &format, &channels); error != cudaSuccess) return error;
  return ToRuntime(cuDeviceGetTexture1DLinearMaxWidth(out, format, channels, device));
}

}  // namespace graphkit::soft::runtime
