// Sizes, pools and virtual memory at their limits. Sources, by check:
//   [1] the tests of cuda.core: allocations of 0 bytes in stream order
//   [2] cuda.h at CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: "the allocator will try to release memory back
//       to the OS on the next call to stream, event or context synchronize"; hip-tests and
//       cuda.core expect that it has
//   [3] others' record of an RTX 3060 (driver 13.2)
//   [4] NCCL's registration of buffers, which retains the handle of cudaMalloc's memory
//   [5] hip-tests (ROCm/hip-tests) on NVIDIA GPUs: hipMemcpyFromSymbol.cc, hipMemcpy2D.cc; CUDA's
//       samples and cuda.core for occupancy
#include "conformance.h"
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

__device__ int variable[4];

namespace {

cudaStream_t stream;

// [1]
CASE(AllocationsOfNothing) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  EXPECT_OK(cuMemAllocAsync(&first, 0, stream));
  EXPECT_OK(cuMemAllocAsync(&second, 0, stream));
  EXPECT(first == 0 && second == 0);
  EXPECT_OK(cuMemFreeAsync(first, stream));
  EXPECT_OK(cuMemFreeAsync(second, stream));
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  EXPECT_OK(cuMemAllocFromPoolAsync(&first, 0, pool, stream));
  EXPECT_OK(cuMemFreeAsync(first, stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cuMemAllocAsync(&first, 0, stream));
  EXPECT_OK(cuMemFreeAsync(first, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  RunOnce(graph, stream);
  EXPECT_OK(cudaGraphDestroy(graph));
}

unsigned long long Reserved(cudaMemPool_t pool) {
  cuuint64_t bytes = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
  return bytes;
}

// [2]
CASE(APoolWithoutThresholdHoldsNothing) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  void* memory = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, 1 << 20, pool, stream));
  EXPECT(Reserved(pool) > 0);
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Reserved(pool) == 0);
  cuuint64_t threshold = ~cuuint64_t{0};
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, 1 << 20, pool, stream));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Reserved(pool) > 0);
  EXPECT_OK(cudaMemPoolDestroy(pool));
}

CUmemAllocationProp OnDevice(int device = 0) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

// [3]
CASE(Granularities) {
  const auto of = [](CUmemAllocationProp properties) {
    size_t step = 0;
    EXPECT_OK(cuMemGetAllocationGranularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return step;
  };
  constexpr size_t kStep = size_t{2} << 20;
  EXPECT(of(OnDevice()) == kStep);
  EXPECT(of(OnDevice(99)) == kStep);
  CUmemAllocationProp other = OnDevice();
  other.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT(of(other) == kStep);
  other = OnDevice();
  other.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT(of(other) == kStep);
}

// [3]
CASE(ReservationsAndMappings) {
  constexpr size_t kStep = size_t{2} << 20;
  CUdeviceptr address = 0;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&address, kStep + 4096, 0, 0, 0));
  EXPECT_OK(cuMemAddressReserve(&address, 4 * kStep, 0, 0, 0));
  const CUmemAllocationProp properties = OnDevice();
  CUmemGenericAllocationHandle memory = 0;
  EXPECT_OK(cuMemCreate(&memory, 2 * kStep, &properties, 0));
  EXPECT_ERROR(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(address + 4096, kStep, 0, memory, 0));
  EXPECT_ERROR(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(address, kStep + 4096, 0, memory, 0));
  EXPECT_OK(cuMemMap(address, 2 * kStep, 0, memory, 0));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemMap(address + kStep, 2 * kStep, 0, memory, 0));
  EXPECT_OK(cuMemUnmap(address, 2 * kStep));
  EXPECT_OK(cuMemUnmap(address, 2 * kStep));
  EXPECT_OK(cuMemRelease(memory));
  EXPECT_OK(cuMemAddressFree(address, 4 * kStep));
}

// [4]
CASE(HandlesOfPlainMemory) {
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 1 << 20));
  CUmemGenericAllocationHandle handle = 0;
  CUmemGenericAllocationHandle again = 0;
  ON_SOFT(EXPECT_OK(cuMemRetainAllocationHandle(&handle, memory)));
  ON_SOFT(EXPECT_OK(cuMemRetainAllocationHandle(&again, static_cast<char*>(memory) + 4096)));
  ON_SOFT(EXPECT(handle != 0 && handle == again));
  CUmemAllocationProp properties = {};
  ON_SOFT(EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&properties, handle)));
  ON_SOFT(EXPECT(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                 properties.location.id == 0));
  ON_SOFT(EXPECT_OK(cuMemRelease(handle)));
  ON_SOFT(EXPECT_OK(cuMemRelease(again)));
  EXPECT_FAILS(cuMemRelease(handle));
  int on_host = 0;
  EXPECT_FAILS(cuMemRetainAllocationHandle(&handle, &on_host));
  EXPECT_OK(cudaFree(memory));
}

// [5]
CASE(SymbolsAndPitches) {
  int host[4] = {};
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpyFromSymbol(host, variable, sizeof host, 0, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpyToSymbol(variable, host, sizeof host, 0, cudaMemcpyDeviceToHost));
  int limit = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxPitch, 0));
  const auto too_wide = static_cast<size_t>(limit) + 1;
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 64));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2D(memory, too_wide, host, 8, 8, 2, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(memory, 7, host, 8, 8, 2, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaFree(memory));
}

// [5]
CASE(Occupancy) {
  size_t bytes = 0;
  EXPECT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, Touch, 1, 128));
  EXPECT(bytes > 0 && bytes <= 48 << 10);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, Touch, 1, 2048));
  EXPECT_OK(cudaFuncSetAttribute(Touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  EXPECT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, Touch, 1, 128));
  EXPECT(bytes == 64 << 10);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(16);
  config.blockDim = dim3(128);
  int clusters = 0;
  EXPECT_OK(cudaOccupancyMaxActiveClusters(&clusters, Touch, &config));
  ON_SOFT(EXPECT(clusters > 0));  // 0 on an H200: no cluster was asked for
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  RunCases();
  return Finish("memory_limits");
}
