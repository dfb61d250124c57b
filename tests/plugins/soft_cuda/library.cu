// Libraries that a program loads itself, managed variables, and what kernels are like.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "code.h"
#include "conformance.h"
#include "kernels.h"

using namespace conformance;

__device__ int table[4] = {1, 2, 3, 4};
__managed__ int managed_value = 5;

__global__ void __launch_bounds__(128) Bounded(float* data) {
  __shared__ float room[256];
  room[threadIdx.x] = data[threadIdx.x] + table[threadIdx.x % 4];
  __syncthreads();
  data[0] = room[1] + managed_value;
}

namespace {

const auto kBounded = reinterpret_cast<const void*>(Bounded);
const auto kTouch = reinterpret_cast<const void*>(Touch);
int no_kernel = 0;

// effect: cudaLibraryLoadData cudaLibraryUnload cudaLibraryGetKernel cudaLibraryGetKernelCount
// effect: cudaLibraryEnumerateKernels cudaKernelSetAttributeForDevice
CASE(Kernels) {
  cudaLibrary_t library = nullptr;
  EXPECT_OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  EXPECT_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  cudaKernel_t kernels[2] = {};
  EXPECT_OK(cudaLibraryEnumerateKernels(kernels, 2, library));
  cudaKernel_t add = nullptr;
  EXPECT_OK(cudaLibraryGetKernel(&add, library, "add"));
  EXPECT((kernels[0] == add) != (kernels[1] == add));
  EXPECT_OK(
      cudaKernelSetAttributeForDevice(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000, 0));
  float* data = nullptr;
  EXPECT_OK(cudaMalloc(&data, 4096));
  unsigned amount = 1;
  char rest[24] = {};
  void* arguments[] = {&data, &amount, rest};
  EXPECT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(add), dim3(1), dim3(32), arguments,
                             60000, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaFree(data));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaKernelSetAttributeForDevice(add, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               1 << 30, 0));
  EXPECT_ERROR(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&add, library, "none"));
  EXPECT_FAILS(cudaLibraryGetKernelCount(nullptr, library));
  EXPECT_FAILS(cudaLibraryEnumerateKernels(nullptr, 2, library));
  EXPECT_OK(cudaLibraryUnload(library));
  EXPECT_FAILS(cudaLibraryUnload(nullptr));
  EXPECT_FAILS(cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaGetLastError();
}

// effect: cudaLibraryGetGlobal cudaLibraryGetManaged cudaLibraryGetUnifiedFunction
// effect: cudaLibraryLoadFromFile
CASE(Variables) {
  char path[] = "/tmp/soft_library_XXXXXX";
  EXPECT(mkstemp(path) >= 0);
  std::ofstream(path, std::ios::binary) << kPtx;
  cudaLibrary_t library = nullptr;
  EXPECT_OK(cudaLibraryLoadFromFile(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::remove(path);
  void* address = nullptr;
  size_t bytes = 0;
  int value = 0;
  EXPECT_OK(cudaLibraryGetGlobal(&address, &bytes, library, "counter"));
  EXPECT_OK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(bytes == 4 && value == 7);
  EXPECT_OK(cudaLibraryGetManaged(&address, &bytes, library, "seen_by_both"));
  EXPECT(bytes == 4 && *static_cast<int*>(address) == 9);
  EXPECT_ERROR(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&address, &bytes, library, "none"));
  EXPECT_ERROR(cudaErrorSymbolNotFound,
               cudaLibraryGetManaged(&address, &bytes, library, "counter"));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaLibraryGetUnifiedFunction(&address, library, "none"));
  EXPECT_OK(cudaLibraryUnload(library));
  EXPECT_ERROR(cudaErrorFileNotFound, cudaLibraryLoadFromFile(&library, "/no/such/file", nullptr,
                                                              nullptr, 0, nullptr, nullptr, 0));
}

// effect: __cudaInitModule __cudaRegisterManagedVar __cudaRegisterVar __cudaRegisterFatBinary
// effect: __cudaRegisterFatBinaryEnd __cudaRegisterFunction __cudaUnregisterFatBinary
// cannot fail: __cudaInitModule __cudaRegisterManagedVar __cudaRegisterVar __cudaRegisterFatBinary
// cannot fail: __cudaRegisterFatBinaryEnd __cudaRegisterFunction __cudaUnregisterFatBinary
CASE(OwnCode) {
  EXPECT(managed_value == 5);
  managed_value = 6;
  int value = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&value, managed_value, sizeof value));
  EXPECT(value == 6);
  int values[4] = {};
  EXPECT_OK(cudaMemcpyFromSymbol(values, table, sizeof values));
  EXPECT(values[0] == 1 && values[3] == 4);
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &managed_value));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
}

// effect: cudaGetKernel cudaGetFuncBySymbol
CASE(Handles) {
  cudaKernel_t kernel = nullptr;
  EXPECT_OK(cudaGetKernel(&kernel, kBounded));
  const char* name = nullptr;
  EXPECT_OK(cuKernelGetName(&name, kernel));
  EXPECT(std::string_view(name).find("Bounded") != std::string_view::npos);
  cudaFunction_t function = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&function, kBounded));
  EXPECT_OK(cuFuncGetName(&name, function));
  EXPECT(std::string_view(name).find("Bounded") != std::string_view::npos);
  EXPECT_FAILS(cudaGetKernel(&kernel, static_cast<const void*>(&no_kernel)));
  EXPECT_FAILS(cudaGetFuncBySymbol(&function, static_cast<const void*>(&no_kernel)));
  cudaGetLastError();
}

// effect: cudaFuncSetAttribute
CASE(Attributes) {
  cudaFuncAttributes attributes;
  EXPECT_OK(cudaFuncGetAttributes(&attributes, kBounded));
  EXPECT(attributes.maxThreadsPerBlock == 128 && attributes.sharedSizeBytes == 1024);
  EXPECT(attributes.numRegs > 0 && attributes.maxDynamicSharedSizeBytes == 47 * 1024);
  EXPECT_OK(cudaFuncSetAttribute(kBounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  EXPECT_OK(cudaFuncSetAttribute(kBounded, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared));
  EXPECT_OK(cudaFuncGetAttributes(&attributes, kBounded));
  EXPECT(attributes.maxDynamicSharedSizeBytes == 60000);
  EXPECT(attributes.preferredShmemCarveout == 100);
  EXPECT_ERROR(
      cudaErrorInvalidValue,
      cudaFuncSetAttribute(kBounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30));
  EXPECT_ERROR(kNoKernel, cudaFuncSetAttribute(static_cast<const void*>(&no_kernel),
                                               cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
  cudaGetLastError();
}

// effect: cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
// effect: cudaOccupancyAvailableDynamicSMemPerBlock cudaOccupancyMaxPotentialClusterSize
// effect: cudaOccupancyMaxActiveClusters
CASE(Occupancy) {
  int blocks = 0;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kBounded, 128, 0,
                                                                   cudaOccupancyDefault));
  EXPECT(blocks >= 1 && blocks <= 32);
  EXPECT_FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kBounded, 0, 0, 0));
  size_t bytes = 0;
  EXPECT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kBounded, 2, 128));
  EXPECT(bytes > 0);
  EXPECT_FAILS(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nullptr, 2, 128));
  int grid = 0;
  int block = 0;
  EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Bounded, 0, 0));
  EXPECT(block == 128 && grid > 0);
  int clusters = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
  if (clusters == 0) return;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  EXPECT_OK(cudaOccupancyMaxPotentialClusterSize(&clusters, Touch, &config));
  EXPECT(clusters == 8);
  ON_SOFT(EXPECT_FAILS(cudaOccupancyMaxPotentialClusterSize(&clusters, kTouch, nullptr)));
  config.attrs = &cluster;
  config.numAttrs = 1;
  EXPECT_OK(cudaOccupancyMaxActiveClusters(&clusters, Touch, &config));
  EXPECT(clusters > 0);
  EXPECT_FAILS(cudaOccupancyMaxActiveClusters(nullptr, kTouch, &config));
  cudaGetLastError();
}

}  // namespace

int main() {
  RunCases();
  EXPECT_OK(cudaDeviceSynchronize());
  return Finish("library");
}
