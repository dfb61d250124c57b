// Texture and surface objects: made of memory and arrays, asked, and what they can't be made of.
#include <cstring>

#include "conformance.h"

namespace {

constexpr size_t kWidth = 16;
constexpr size_t kHeight = 8;

cudaArray_t MakeArray(unsigned flags) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &desc, kWidth, kHeight, flags));
  return array;
}

cudaResourceDesc Of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureDesc Clamped() {
  cudaTextureDesc sampling = {};
  for (auto& mode : sampling.addressMode) mode = cudaAddressModeClamp;
  sampling.filterMode = cudaFilterModeLinear;
  sampling.readMode = cudaReadModeElementType;
  sampling.normalizedCoords = 1;
  sampling.borderColor[2] = 0.5f;
  sampling.maxMipmapLevelClamp = 3;
  return sampling;
}

// effect: cudaCreateTextureObject cudaGetTextureObjectResourceDesc cudaGetTextureObjectTextureDesc
// effect: cudaGetTextureObjectResourceViewDesc cudaDestroyTextureObject
CASE(OfArrays) {
  cudaArray_t array = MakeArray(0);
  const cudaResourceDesc resource = Of(array);
  const cudaTextureDesc sampling = Clamped();
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatUnsignedInt1;
  view.width = kWidth;
  view.height = kHeight;
  cudaTextureObject_t plain = 0;
  cudaTextureObject_t viewed = 0;
  EXPECT_OK(cudaCreateTextureObject(&plain, &resource, &sampling, nullptr));
  EXPECT_OK(cudaCreateTextureObject(&viewed, &resource, &sampling, &view));
  EXPECT(plain != viewed);

  cudaResourceDesc named;
  cudaTextureDesc read;
  cudaResourceViewDesc seen;
  EXPECT_OK(cudaGetTextureObjectResourceDesc(&named, plain));
  EXPECT(named.resType == cudaResourceTypeArray && named.res.array.array == array);
  EXPECT_OK(cudaGetTextureObjectTextureDesc(&read, plain));
  EXPECT(read.addressMode[1] == cudaAddressModeClamp && read.filterMode == cudaFilterModeLinear);
  EXPECT(read.readMode == cudaReadModeElementType && read.normalizedCoords == 1 && read.sRGB == 0);
  ON_SOFT(EXPECT(read.borderColor[2] == 0.5f && read.maxMipmapLevelClamp == 3));
  EXPECT_OK(cudaGetTextureObjectResourceViewDesc(&seen, viewed));
  EXPECT(seen.format == view.format && seen.width == kWidth && seen.lastMipmapLevel == 0);

  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&seen, plain)));
  view.width = kWidth + 1;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaCreateTextureObject(&viewed, &resource, &sampling, &view));
  view.width = kWidth;
  view.lastMipmapLevel = 1;  // the array has one
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaCreateTextureObject(&viewed, &resource, &sampling, &view));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaCreateTextureObject(&viewed, nullptr, &sampling, nullptr));
  EXPECT_FAILS(cudaCreateTextureObject(&viewed, &resource, nullptr, nullptr));
  EXPECT_OK(cudaDestroyTextureObject(plain));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaDestroyTextureObject(plain)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectResourceDesc(&named, plain));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&read, plain));
  EXPECT_OK(cudaDestroyTextureObject(viewed));
  EXPECT_OK(cudaFreeArray(array));
}

// effect: cudaCreateTextureObject cudaDeviceGetTexture1DLinearMaxWidth
CASE(OfMemory) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>();
  char* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 1 << 16));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, desc, 4096};
  const cudaTextureDesc sampling = Clamped();
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  cudaResourceDesc named;
  EXPECT_OK(cudaGetTextureObjectResourceDesc(&named, texture));
  EXPECT(named.res.linear.devPtr == memory && named.res.linear.sizeInBytes == 4096);
  EXPECT(named.res.linear.desc.x == 32 && named.res.linear.desc.y == 32);
  EXPECT(named.res.linear.desc.z == 0 && named.res.linear.desc.f == cudaChannelFormatKindFloat);
  EXPECT_OK(cudaDestroyTextureObject(texture));

  const auto fails = [&texture](cudaResourceDesc wrong) {
    const cudaTextureDesc any = Clamped();
    const cudaError_t error = cudaCreateTextureObject(&texture, &wrong, &any, nullptr);
    (void)cudaGetLastError();
    return error;
  };
  cudaResourceDesc wrong = resource;
  wrong.res.linear.devPtr = memory + 4;  // not aligned as textures are
  EXPECT(fails(wrong) == cudaErrorInvalidValue);
  wrong.res.linear.devPtr = nullptr;
  EXPECT(fails(wrong) == cudaErrorInvalidValue);
  wrong = resource;
  wrong.flags = 1;
  ON_SOFT(EXPECT(fails(wrong) == cudaErrorInvalidValue));
  wrong = resource;
  wrong.res.linear.desc = {32, 32, 32, 0, cudaChannelFormatKindFloat};  // three channels
  EXPECT(fails(wrong) != cudaSuccess);

  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, desc, kWidth, kHeight, 512};
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  EXPECT_OK(cudaGetTextureObjectResourceDesc(&named, texture));
  EXPECT(named.res.pitch2D.height == kHeight && named.res.pitch2D.pitchInBytes == 512);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  wrong = resource;
  wrong.res.pitch2D.pitchInBytes = 500;
  EXPECT(fails(wrong) == cudaErrorInvalidValue);
  wrong = resource;
  wrong.res.pitch2D.width = 1 << 20;
  EXPECT(fails(wrong) == cudaErrorInvalidValue);

  size_t most = 0;
  EXPECT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &desc, 0));
  EXPECT(most >= 1 << 27);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetTexture1DLinearMaxWidth(&most, nullptr, 0));
  EXPECT_OK(cudaFree(memory));
}

// Mipmapped arrays are read by normalized coordinates, levels by a view of some.
CASE(OfMipmaps) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned char>();
  cudaMipmappedArray_t array = nullptr;
  EXPECT_OK(cudaMallocMipmappedArray(&array, &desc, make_cudaExtent(kWidth, kHeight, 0), 3));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  cudaTextureDesc sampling = Clamped();
  sampling.readMode = cudaReadModeNormalizedFloat;
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatUnsignedChar1;
  view.width = kWidth;
  view.height = kHeight;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &sampling, &view));
  cudaTextureDesc read;
  EXPECT_OK(cudaGetTextureObjectTextureDesc(&read, texture));
  EXPECT(read.readMode == cudaReadModeNormalizedFloat);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  sampling.normalizedCoords = 0;
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue,
                       cudaCreateTextureObject(&texture, &resource, &sampling, &view)));
  EXPECT_OK(cudaFreeMipmappedArray(array));
}

// effect: cudaCreateSurfaceObject cudaDestroySurfaceObject cudaGetSurfaceObjectResourceDesc
CASE(Surfaces) {
  cudaArray_t array = MakeArray(cudaArraySurfaceLoadStore);
  cudaArray_t other = MakeArray(0);
  cudaResourceDesc resource = Of(array);
  cudaSurfaceObject_t surface = 0;
  EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
  cudaResourceDesc named;
  EXPECT_OK(cudaGetSurfaceObjectResourceDesc(&named, surface));
  EXPECT(named.resType == cudaResourceTypeArray && named.res.array.array == array);
  EXPECT_OK(cudaDestroySurfaceObject(surface));
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaDestroySurfaceObject(surface)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetSurfaceObjectResourceDesc(&named, surface));
  resource = Of(other);  // not made for surfaces
  ON_SOFT(EXPECT_FAILS(cudaCreateSurfaceObject(&surface, &resource)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, nullptr));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeArray(other));
}

CUDA_TEXTURE_DESC DriverSampling() {
  CUDA_TEXTURE_DESC sampling = {};
  for (auto& mode : sampling.addressMode) mode = CU_TR_ADDRESS_MODE_BORDER;
  sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
  sampling.maxAnisotropy = 4;
  return sampling;
}

// effect: cuTexObjectCreate cuTexObjectGetResourceDesc cuTexObjectGetTextureDesc
// effect: cuTexObjectGetResourceViewDesc cuTexObjectDestroy cuDeviceGetTexture1DLinearMaxWidth
CASE(DriverTextures) {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape = {kWidth, kHeight, CU_AD_FORMAT_UNSIGNED_INT32, 2};
  EXPECT_OK(cuArrayCreate(&array, &shape));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  const CUDA_TEXTURE_DESC sampling = DriverSampling();
  CUDA_RESOURCE_VIEW_DESC view = {};  // the same words as blocks of 4 x 4 elements
  view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
  view.width = 4 * kWidth;
  view.height = 4 * kHeight;
  CUtexObject texture = 0;
  EXPECT_OK(cuTexObjectCreate(&texture, &resource, &sampling, &view));
  CUDA_RESOURCE_DESC named;
  CUDA_TEXTURE_DESC read;
  CUDA_RESOURCE_VIEW_DESC seen;
  EXPECT_OK(cuTexObjectGetResourceDesc(&named, texture));
  EXPECT(named.res.array.hArray == array);
  EXPECT_OK(cuTexObjectGetTextureDesc(&read, texture));
  EXPECT(read.flags == sampling.flags && read.maxAnisotropy == 4);
  EXPECT_OK(cuTexObjectGetResourceViewDesc(&seen, texture));
  EXPECT(seen.format == view.format && seen.width == 4 * kWidth);
  EXPECT_OK(cuTexObjectDestroy(texture));

  view.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC7;  // whose blocks take four channels
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampling, &view));
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture)));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(&named, texture));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&read, texture));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&seen, texture));
  size_t most = 0;
  EXPECT_OK(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 4, 0));
  EXPECT(most >= 1 << 27);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE,
               cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 4, 0));
  EXPECT_OK(cuArrayDestroy(array));
}

// effect: cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
CASE(DriverSurfaces) {
  CUarray array = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR shape = {
      kWidth, kHeight, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  EXPECT_OK(cuArray3DCreate(&array, &shape));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUsurfObject surface = 0;
  EXPECT_OK(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC named;
  EXPECT_OK(cuSurfObjectGetResourceDesc(&named, surface));
  EXPECT(named.resType == CU_RESOURCE_TYPE_ARRAY && named.res.array.hArray == array);
  EXPECT_OK(cuSurfObjectDestroy(surface));
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(surface)));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&named, surface));
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
  EXPECT_OK(cuArrayDestroy(array));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  conformance::RunCases();
  return conformance::Finish("texture");
}
