// The driver's own memory functions: what the runtime's are made of.
#include <cstring>

#include "conformance.h"

#define EXPECT_CU(call) EXPECT((call) == CUDA_SUCCESS)

namespace {

constexpr size_t kBytes = 4096;
CUstream stream;
CUdeviceptr from;
CUdeviceptr to;

bool Holds(CUdeviceptr memory, unsigned char value) {
  unsigned char host[kBytes];
  EXPECT_CU(cuMemcpyDtoH(host, memory, kBytes));
  for (unsigned char c : host) {
    if (c != value) return false;
  }
  return true;
}

// effect: cuMemAlloc cuMemFree cuMemAllocPitch cuMemGetAddressRange cuMemGetInfo
CASE(Plain) {
  CUdeviceptr memory = 0;
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  EXPECT_CU(cuMemGetInfo(&before, &total));
  EXPECT_CU(cuMemAlloc(&memory, 256 << 20));
  EXPECT_CU(cuMemGetInfo(&after, &total));
  EXPECT(before - after >= 256 << 20);
  CUdeviceptr base = 0;
  size_t size = 0;
  EXPECT_CU(cuMemGetAddressRange(&base, &size, memory + 100));
  EXPECT(base == memory && size == 256 << 20);
  EXPECT_CU(cuMemFree(memory));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_FAILS(cuMemGetAddressRange(&base, &size, 16));
  EXPECT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, size_t{1} << 46));
  size_t pitch = 0;
  EXPECT_CU(cuMemAllocPitch(&memory, &pitch, 100, 3, 4));
  EXPECT(pitch >= 100);
  EXPECT_CU(cuMemsetD2D8(memory, pitch, 1, 100, 3));
  EXPECT_CU(cuMemFree(memory));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&memory, &pitch, 100, 3, 3));
  EXPECT_OK(cuMemGetInfo(nullptr, nullptr));
  CUcontext current = nullptr;
  EXPECT_OK(cuCtxPopCurrent(&current));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuMemGetInfo(&size, &size));
  EXPECT_OK(cuCtxPushCurrent(current));
}

// effect: cuMemAllocHost cuMemHostAlloc cuMemFreeHost cuMemHostGetFlags cuMemHostGetDevicePointer
// effect: cuMemHostRegister cuMemHostUnregister cuMemAllocManaged cuPointerGetAttribute
CASE(HostMemory) {
  void* host = nullptr;
  EXPECT_CU(cuMemAllocHost(&host, kBytes));
  std::memset(host, 1, kBytes);
  EXPECT_CU(cuMemFreeHost(host));
  EXPECT_FAILS(cuMemAllocHost(nullptr, kBytes));
  EXPECT_CU(cuMemHostAlloc(&host, kBytes, CU_MEMHOSTALLOC_PORTABLE));
  unsigned flags = 0;
  EXPECT_CU(cuMemHostGetFlags(&flags, host));
  EXPECT((flags & CU_MEMHOSTALLOC_PORTABLE) != 0);
  CUdeviceptr device = 0;
  EXPECT_CU(cuMemHostGetDevicePointer(&device, host, 0));
  EXPECT(device != 0);
  EXPECT_FAILS(cuMemHostGetDevicePointer(&device, host, 1));
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  EXPECT_CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT(type == CU_MEMORYTYPE_HOST);
  EXPECT_CU(cuMemFreeHost(host));
  int local = 0;
  EXPECT_FAILS(cuMemFreeHost(&local));
  EXPECT_FAILS(cuMemHostGetFlags(&flags, &local));
  EXPECT_FAILS(cuMemHostAlloc(&host, kBytes, 0x100));
  EXPECT_FAILS(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, from));

  alignas(4096) static char own[8192];
  EXPECT_CU(cuMemHostRegister(own, sizeof own, 0));
  EXPECT_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own, sizeof own, 0));
  EXPECT_CU(cuMemHostUnregister(own));
  EXPECT_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));

  CUdeviceptr managed = 0;
  EXPECT_CU(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
  std::memset(reinterpret_cast<void*>(managed), 2, kBytes);
  EXPECT(Holds(managed, 2));
  EXPECT_CU(cuMemFree(managed));
  EXPECT_FAILS(cuMemAllocManaged(&managed, kBytes, 0x40));
}

// effect: cuMemcpy cuMemcpyAsync cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyHtoDAsync
// effect: cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemcpyPeer cuMemcpyPeerAsync
CASE(Copies) {
  char host[kBytes];
  std::memset(host, 3, kBytes);
  EXPECT_CU(cuMemcpyHtoD(from, host, kBytes));
  EXPECT_CU(cuMemcpyDtoD(to, from, kBytes));
  EXPECT_CU(cuCtxSynchronize());
  EXPECT(Holds(to, 3));
  std::memset(host, 4, kBytes);
  EXPECT_CU(cuMemcpyHtoDAsync(from, host, kBytes, stream));
  EXPECT_CU(cuMemcpyDtoDAsync(to, from, kBytes, stream));
  EXPECT_CU(cuMemcpyDtoHAsync(host, to, kBytes, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(host[0] == 4 && Holds(to, 4));
  EXPECT_CU(cuMemsetD8(from, 5, kBytes));
  EXPECT_CU(cuMemcpy(to, from, kBytes));
  EXPECT_CU(cuCtxSynchronize());
  EXPECT(Holds(to, 5));
  EXPECT_CU(cuMemsetD8Async(from, 6, kBytes, stream));
  EXPECT_CU(cuMemcpyAsync(to, from, kBytes, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(Holds(to, 6));
  CUcontext context = nullptr;
  EXPECT_CU(cuCtxGetCurrent(&context));
  EXPECT_CU(cuMemsetD8(from, 7, kBytes));
  EXPECT_CU(cuMemcpyPeer(to, context, from, context, kBytes));
  EXPECT_CU(cuCtxSynchronize());
  EXPECT(Holds(to, 7));
  EXPECT_CU(cuMemsetD8Async(from, 8, kBytes, stream));
  EXPECT_CU(cuMemcpyPeerAsync(to, context, from, context, kBytes, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(Holds(to, 8));
  EXPECT_OK(cuMemcpyPeer(to, nullptr, from, nullptr, kBytes));  // the current one
  EXPECT_OK(cuMemcpyPeerAsync(to, nullptr, from, nullptr, kBytes, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_FAILS(cuMemcpyPeer(0, context, from, context, kBytes));
  EXPECT_FAILS(cuMemcpyPeerAsync(0, context, from, context, kBytes, stream));
}

// effect: cuMemsetD8 cuMemsetD8Async cuMemsetD16 cuMemsetD16Async cuMemsetD32 cuMemsetD32Async
CASE(Fills) {
  EXPECT_CU(cuMemsetD16(to, 0x0101, kBytes / 2));
  EXPECT_CU(cuCtxSynchronize());
  EXPECT(Holds(to, 1));
  EXPECT_CU(cuMemsetD32(to, 0x02020202, kBytes / 4));
  EXPECT_CU(cuCtxSynchronize());
  EXPECT(Holds(to, 2));
  EXPECT_CU(cuMemsetD16Async(to, 0x0303, kBytes / 2, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(Holds(to, 3));
  EXPECT_CU(cuMemsetD32Async(to, 0x04040404, kBytes / 4, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT(Holds(to, 4));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(to + 1, 1, 8));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(to + 2, 1, 8));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD16Async(to + 1, 1, 8, stream));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD32Async(to + 2, 1, 8, stream));
}

// effect: cuMemPoolCreate cuMemPoolDestroy cuMemAllocFromPoolAsync cuMemAllocAsync cuMemFreeAsync
// effect: cuMemPoolGetAttribute cuMemPoolSetAttribute cuMemPoolTrimTo cuDeviceGetMemPool
// effect: cuDeviceSetMemPool cuDeviceGetDefaultMemPool
CASE(Pools) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  CUmemoryPool pool = nullptr;
  EXPECT_CU(cuMemPoolCreate(&pool, &properties));
  cuuint64_t value = ~cuuint64_t{0};
  EXPECT_CU(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  CUdeviceptr memory = 0;
  EXPECT_CU(cuMemAllocFromPoolAsync(&memory, 1 << 20, pool, stream));
  EXPECT_CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT(value == 1 << 20);
  EXPECT_CU(cuMemFreeAsync(memory, stream));
  EXPECT_CU(cuDeviceSetMemPool(0, pool));
  CUmemoryPool current = nullptr;
  EXPECT_CU(cuDeviceGetMemPool(&current, 0));
  EXPECT(current == pool);
  EXPECT_CU(cuMemAllocAsync(&memory, 1 << 20, stream));
  EXPECT_CU(cuMemFreeAsync(memory, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
  EXPECT_CU(cuMemPoolTrimTo(pool, 0));
  EXPECT_CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT(value == 0);
  EXPECT_CU(cuDeviceGetDefaultMemPool(&current, 0));
  EXPECT(current != pool);
  EXPECT_CU(cuDeviceSetMemPool(0, current));
  EXPECT_CU(cuMemPoolDestroy(pool));
  EXPECT_FAILS(cuMemPoolCreate(&pool, nullptr));
  EXPECT_FAILS(cuMemPoolDestroy(nullptr));
  EXPECT_FAILS(cuMemPoolTrimTo(nullptr, 0));
  EXPECT_FAILS(cuMemAllocFromPoolAsync(&memory, 16, nullptr, stream));
  EXPECT_FAILS(cuMemAllocAsync(nullptr, 16, stream));
  EXPECT_OK(cuMemFreeAsync(0, stream));
  EXPECT_FAILS(cuMemFreeAsync(16, stream));
  EXPECT_FAILS(cuDeviceGetMemPool(nullptr, 0));
  EXPECT_FAILS(cuDeviceGetDefaultMemPool(nullptr, 0));
  EXPECT_FAILS(cuDeviceSetMemPool(0, nullptr));
  value = 5;
  EXPECT_FAILS(cuMemPoolSetAttribute(current, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
  EXPECT_FAILS(cuMemPoolGetAttribute(current, static_cast<CUmemPool_attribute>(100), &value));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(cuMemAlloc(&from, kBytes));
  EXPECT_CU(cuMemAlloc(&to, kBytes));
  conformance::RunCases();
  EXPECT_CU(cuMemFree(from));
  EXPECT_CU(cuMemFree(to));
  return conformance::Finish("driver_memory");
}
