// CUDA arrays: which shapes there are, and what an array says of itself.
#include "conformance.h"

namespace {

const cudaChannelFormatDesc kFloat2 = cudaCreateChannelDesc<float2>();

bool IsSame(const cudaChannelFormatDesc& a, const cudaChannelFormatDesc& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

bool IsSame(const cudaExtent& a, const cudaExtent& b) {
  return a.width == b.width && a.height == b.height && a.depth == b.depth;
}

// Can an array of this shape be made?
cudaError_t Try(const cudaExtent& extent, unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t result = cudaMalloc3DArray(&array, &kFloat2, extent, flags);
  if (result == cudaSuccess) EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
  return result;
}

// effect: cudaMallocArray cudaFreeArray cudaArrayGetInfo cudaGetChannelDesc
CASE(Flat) {
  cudaArray_t array = nullptr;
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&before, &total));
  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 8192, 4096, cudaArraySurfaceLoadStore));
  EXPECT_OK(cudaMemGetInfo(&after, &total));
  EXPECT(before - after >= size_t{8192} * 4096 * sizeof(float2));
  cudaChannelFormatDesc desc = {};
  cudaExtent extent = {};
  unsigned flags = 0;
  EXPECT_OK(cudaArrayGetInfo(&desc, &extent, &flags, array));
  EXPECT(IsSame(desc, kFloat2) && IsSame(extent, make_cudaExtent(8192, 4096, 0)));
  EXPECT(flags == cudaArraySurfaceLoadStore);
  EXPECT_OK(cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
  desc = {};
  EXPECT_OK(cudaGetChannelDesc(&desc, array));
  EXPECT(IsSame(desc, kFloat2));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMemGetInfo(&after, &total));
  EXPECT(after == before);
  EXPECT_OK(cudaFreeArray(nullptr));
  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 16));
  EXPECT_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
  EXPECT(IsSame(extent, make_cudaExtent(16, 0, 0)));
  EXPECT_OK(cudaFreeArray(array));

  ON_SOFT(EXPECT_FAILS(cudaFreeArray(array)));
  EXPECT_FAILS(cudaArrayGetInfo(&desc, &extent, &flags, nullptr));
  EXPECT_FAILS(cudaGetChannelDesc(nullptr, array));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocArray(nullptr, &kFloat2, 16, 16));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocArray(&array, &kFloat2, 0, 16));
  EXPECT_FAILS(cudaMallocArray(&array, &kFloat2, 16, 16, 0x1000));
  const cudaChannelFormatDesc three =
      cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindSigned);
  EXPECT_FAILS(cudaMallocArray(&array, &three, 16, 16));
  const cudaChannelFormatDesc mixed =
      cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
  EXPECT_FAILS(cudaMallocArray(&array, &mixed, 16, 16));
  (void)cudaGetLastError();
}

int Ask(cudaDeviceAttr attribute) {
  int value = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&value, attribute, 0));
  return value;
}

// effect: cudaMalloc3DArray
CASE(Shapes) {
  EXPECT(Try(make_cudaExtent(64, 0, 0), 0) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 32, 0), 0) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 32, 16), 0) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 0, 5), cudaArrayLayered) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 32, 5), cudaArrayLayered) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 64, 6), cudaArrayCubemap) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 64, 12), cudaArrayCubemap | cudaArrayLayered) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 32, 0), cudaArrayTextureGather) == cudaSuccess);

  EXPECT(Try(make_cudaExtent(0, 32, 0), 0) != cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 0, 5), 0) != cudaSuccess);                  // no layers
  EXPECT(Try(make_cudaExtent(64, 32, 6), cudaArrayCubemap) != cudaSuccess);  // no cube
  EXPECT(Try(make_cudaExtent(64, 64, 5), cudaArrayCubemap) != cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 64, 8), cudaArrayCubemap | cudaArrayLayered) != cudaSuccess);
  EXPECT(Try(make_cudaExtent(64, 32, 4), cudaArrayTextureGather) != cudaSuccess);
  const auto wide = static_cast<size_t>(Ask(cudaDevAttrMaxTexture1DWidth));
  EXPECT(wide > 0 && Try(make_cudaExtent(wide, 0, 0), 0) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(wide + 1, 0, 0), 0) != cudaSuccess);
  const auto layers = static_cast<size_t>(Ask(cudaDevAttrMaxTexture2DLayeredLayers));
  EXPECT(Try(make_cudaExtent(16, 16, layers), cudaArrayLayered) == cudaSuccess);
  EXPECT(Try(make_cudaExtent(16, 16, layers + 1), cudaArrayLayered) != cudaSuccess);
  const auto surface = static_cast<size_t>(Ask(cudaDevAttrMaxSurface1DWidth));
  EXPECT(Try(make_cudaExtent(surface + 1, 0, 0), cudaArraySurfaceLoadStore) != cudaSuccess);

  cudaArray_t array = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMalloc3DArray(nullptr, &kFloat2, make_cudaExtent(1, 1, 1)));
  EXPECT_FAILS(cudaMalloc3DArray(&array, nullptr, make_cudaExtent(1, 1, 1)));
  EXPECT_OK(cudaMalloc3DArray(&array, &kFloat2, make_cudaExtent(8, 4, 3), cudaArrayLayered));
  cudaExtent extent = {};
  unsigned flags = 0;
  EXPECT_OK(cudaArrayGetInfo(nullptr, &extent, &flags, array));
  EXPECT(IsSame(extent, make_cudaExtent(8, 4, 3)) && flags == cudaArrayLayered);
  EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

cudaExtent LevelExtent(cudaMipmappedArray_t whole, unsigned level) {
  cudaArray_t array = nullptr;
  cudaExtent extent = {};
  EXPECT_OK(cudaGetMipmappedArrayLevel(&array, whole, level));
  EXPECT_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
  return extent;
}

// effect: cudaMallocMipmappedArray cudaFreeMipmappedArray cudaGetMipmappedArrayLevel
CASE(Mipmapped) {
  cudaMipmappedArray_t whole = nullptr;
  const cudaExtent extent = make_cudaExtent(64, 20, 0);
  EXPECT_OK(cudaMallocMipmappedArray(&whole, &kFloat2, extent, 100));
  EXPECT(IsSame(LevelExtent(whole, 0), extent));
  EXPECT(IsSame(LevelExtent(whole, 1), make_cudaExtent(32, 10, 0)));
  EXPECT(IsSame(LevelExtent(whole, 3), make_cudaExtent(8, 2, 0)));
  EXPECT(IsSame(LevelExtent(whole, 6), make_cudaExtent(1, 1, 0)));  // the last: 1 + log2(64) levels
  cudaArray_t level = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, whole, 7));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaGetMipmappedArrayLevel(&level, nullptr, 0));
  EXPECT_OK(cudaFreeMipmappedArray(whole));
  EXPECT_OK(
      cudaMallocMipmappedArray(&whole, &kFloat2, make_cudaExtent(16, 16, 4), 2, cudaArrayLayered));
  EXPECT(IsSame(LevelExtent(whole, 1), make_cudaExtent(8, 8, 4)));  // layers stay
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, whole, 2));
  EXPECT_OK(cudaFreeMipmappedArray(whole));
  EXPECT_OK(cudaFreeMipmappedArray(nullptr));
  EXPECT_FAILS(cudaFreeMipmappedArray(whole));
  EXPECT_FAILS(cudaMallocMipmappedArray(nullptr, &kFloat2, extent, 2));
  EXPECT_FAILS(cudaMallocMipmappedArray(&whole, &kFloat2, make_cudaExtent(0, 1, 0), 2));
  (void)cudaGetLastError();
}

// effect: cudaArrayGetPlane
CASE(Planes) {
  if (!conformance::OnSoftDevice()) return;  // an H200 refuses the format
  const cudaChannelFormatDesc nv12 = cudaCreateChannelDesc<cudaChannelFormatKindNV12>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &nv12, 64, 32));
  cudaArray_t planes[2] = {};
  cudaChannelFormatDesc desc = {};
  cudaExtent extent = {};
  EXPECT_OK(cudaArrayGetPlane(&planes[0], array, 0));
  EXPECT_OK(cudaArrayGetInfo(&desc, &extent, nullptr, planes[0]));
  EXPECT(IsSame(extent, make_cudaExtent(64, 32, 0)));
  EXPECT(IsSame(desc, cudaCreateChannelDesc<unsigned char>()));
  EXPECT_OK(cudaArrayGetPlane(&planes[1], array, 1));
  EXPECT_OK(cudaArrayGetInfo(&desc, &extent, nullptr, planes[1]));
  EXPECT(IsSame(extent, make_cudaExtent(32, 16, 0)));
  EXPECT(IsSame(desc, cudaCreateChannelDesc<uchar2>()));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaArrayGetPlane(&planes[0], array, 2));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 64, 32));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaArrayGetPlane(&planes[0], array, 0));
  EXPECT_OK(cudaFreeArray(array));
  (void)cudaGetLastError();
}

// effect: cudaArrayGetSparseProperties cudaMipmappedArrayGetSparseProperties
CASE(Sparse) {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmapped = nullptr;
  const cudaExtent extent = make_cudaExtent(1024, 1024, 0);
  EXPECT_OK(cudaMallocArray(&array, &kFloat2, extent.width, extent.height, cudaArraySparse));
  cudaArraySparseProperties properties = {};
  EXPECT_OK(cudaArrayGetSparseProperties(&properties, array));
  const auto tile = properties.tileExtent;
  EXPECT(size_t{tile.width} * tile.height * tile.depth * sizeof(float2) == 65536);
  EXPECT(properties.miptailFirstLevel == 0);
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMallocMipmappedArray(&mipmapped, &kFloat2, extent, 11, cudaArraySparse));
  properties = {};
  EXPECT_OK(cudaMipmappedArrayGetSparseProperties(&properties, mipmapped));
  // The tail begins with the first level that has a side below the tile's.
  const unsigned first = properties.miptailFirstLevel;
  EXPECT(first > 0 && first < 11 && properties.miptailSize > 0);
  EXPECT(extent.width >> first < properties.tileExtent.width ||
         extent.height >> first < properties.tileExtent.height);
  EXPECT_OK(cudaGetMipmappedArrayLevel(&array, mipmapped, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaArrayGetSparseProperties(&properties, array));
  EXPECT_OK(cudaFreeMipmappedArray(mipmapped));

  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 64, 64));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaArrayGetSparseProperties(&properties, array));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMallocMipmappedArray(&mipmapped, &kFloat2, extent, 2));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMipmappedArrayGetSparseProperties(&properties, mipmapped));
  EXPECT_OK(cudaFreeMipmappedArray(mipmapped));
  (void)cudaGetLastError();
}

// effect: cudaArrayGetMemoryRequirements cudaMipmappedArrayGetMemoryRequirements
CASE(Deferred) {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmapped = nullptr;
  const cudaExtent extent = make_cudaExtent(512, 512, 0);
  const size_t bytes = 512 * 512 * sizeof(float2);
  cudaArrayMemoryRequirements needs = {};
  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 512, 512, cudaArrayDeferredMapping));
  EXPECT_OK(cudaArrayGetMemoryRequirements(&needs, array, 0));
  EXPECT(needs.size >= bytes && needs.alignment > 0 && needs.size % needs.alignment == 0);
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMallocMipmappedArray(&mipmapped, &kFloat2, extent, 2, cudaArrayDeferredMapping));
  EXPECT_OK(cudaMipmappedArrayGetMemoryRequirements(&needs, mipmapped, 0));
  EXPECT(needs.size >= bytes + bytes / 4);
  EXPECT_OK(cudaFreeMipmappedArray(mipmapped));

  EXPECT_OK(cudaMallocArray(&array, &kFloat2, 512, 512));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaArrayGetMemoryRequirements(&needs, array, 0));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaMallocMipmappedArray(&mipmapped, &kFloat2, extent, 2));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMipmappedArrayGetMemoryRequirements(&needs, mipmapped, 0));
  EXPECT_OK(cudaFreeMipmappedArray(mipmapped));
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  conformance::RunCases();
  return conformance::Finish("array");
}
