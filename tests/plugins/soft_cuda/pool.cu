// Memory pools: making, choosing, trimming, access, and what the device says of its memory.
#include "conformance.h"

namespace {

constexpr size_t kBytes = 1 << 20;
cudaStream_t stream;

cudaMemPoolProps OnDevice(int device) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  return properties;
}

unsigned long long Ask(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

// effect: cudaMemPoolCreate cudaMemPoolDestroy cudaMallocFromPoolAsync cudaMemPoolTrimTo
CASE(OwnPool) {
  const cudaMemPoolProps properties = OnDevice(0);
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  unsigned long long threshold = ~0ull;
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void* memory = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream));
  EXPECT(Ask(pool, cudaMemPoolAttrUsedMemCurrent) == kBytes);
  EXPECT(Ask(pool, cudaMemPoolAttrReservedMemCurrent) >= kBytes);
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Ask(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  EXPECT(Ask(pool, cudaMemPoolAttrReservedMemCurrent) >= kBytes);
  EXPECT_OK(cudaMemPoolTrimTo(pool, 0));
  EXPECT(Ask(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  EXPECT_OK(cudaMemPoolDestroy(pool));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&memory, kBytes, nullptr, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolTrimTo(nullptr, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(nullptr));
}

// Memory that a stream has freed isn't another's before that stream is done with it.
// effect: cudaFreeAsync cudaMallocFromPoolAsync cudaMemPoolSetAttribute
CASE(FreedAndInUse) {
  const cudaMemPoolProps properties = OnDevice(0);
  cudaMemPool_t pool = nullptr;
  cudaStream_t other = nullptr;
  unsigned* hold = nullptr;
  unsigned char* seen = nullptr;
  int no = 0;
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &no));
  EXPECT_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  EXPECT_OK(cudaMallocHost(&hold, sizeof *hold));
  EXPECT_OK(cudaMallocHost(&seen, kBytes));
  *hold = 0;
  void* first = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&first, kBytes, pool, stream));
  EXPECT_OK(cudaMemsetAsync(first, 1, kBytes, stream));
  EXPECT_OK(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(hold), 1,
                                CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cudaMemcpyAsync(seen, first, kBytes, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaFreeAsync(first, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeAsync(first, stream));

  void* second = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&second, kBytes, pool, other));
  EXPECT_OK(cudaMemsetAsync(second, 2, kBytes, other));
  EXPECT_OK(cudaFreeAsync(second, other));
  EXPECT_OK(cudaStreamSynchronize(other));
  void* third = nullptr;  // may be the first again: in its stream that comes after the free
  EXPECT_OK(cudaMallocFromPoolAsync(&third, kBytes, pool, stream));
  EXPECT_OK(cudaMemsetAsync(third, 3, kBytes, stream));
  *static_cast<volatile unsigned*>(hold) = 1;
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(second != first);
  EXPECT(seen[0] == 1 && seen[kBytes - 1] == 1);
  EXPECT_OK(cudaFreeAsync(third, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemPoolDestroy(pool));
  EXPECT_OK(cudaStreamDestroy(other));
  EXPECT_OK(cudaFreeHost(hold));
  EXPECT_OK(cudaFreeHost(seen));
}

// effect: cudaDeviceGetMemPool cudaDeviceSetMemPool cudaMemGetDefaultMemPool cudaMemGetMemPool
// effect: cudaMemSetMemPool
CASE(CurrentPool) {
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  const cudaMemAllocationType pinned = cudaMemAllocationTypePinned;
  const cudaMemPoolProps properties = OnDevice(0);
  cudaMemPool_t first = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaMemPool_t current = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&first, 0));
  EXPECT_OK(cudaMemGetDefaultMemPool(&current, &here, pinned));
  EXPECT(current == first);
  EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
  EXPECT_OK(cudaDeviceSetMemPool(0, pool));
  EXPECT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == pool);
  EXPECT_OK(cudaMemSetMemPool(&here, pinned, first));
  EXPECT_OK(cudaMemGetMemPool(&current, &here, pinned));
  EXPECT(current == first);
  EXPECT_OK(cudaMemSetMemPool(&here, pinned, pool));

  void* memory = nullptr;
  EXPECT_OK(cudaMallocAsync(&memory, kBytes, stream));
  EXPECT(Ask(pool, cudaMemPoolAttrUsedMemCurrent) == kBytes);
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaDeviceSetMemPool(0, first));
  EXPECT_OK(cudaMemPoolDestroy(pool));

  EXPECT_FAILS(cudaDeviceGetMemPool(nullptr, 0));
  EXPECT_FAILS(cudaDeviceSetMemPool(-1, first));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemGetDefaultMemPool(&current, nullptr, pinned));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemGetMemPool(&current, nullptr, pinned));
  EXPECT_FAILS(cudaMemSetMemPool(&here, pinned, nullptr));
}

// effect: cudaMemPoolSetAccess cudaMemPoolGetAccess
CASE(Access) {
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaMemAccessDesc own = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  EXPECT_OK(cudaMemPoolSetAccess(pool, &own, 1));
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  EXPECT_OK(cudaMemPoolGetAccess(&flags, pool, &own.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  own.location.id = 1000;
  EXPECT_FAILS(cudaMemPoolSetAccess(pool, &own, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolGetAccess(&flags, nullptr, &own.location));
}

// effect: cudaMemGetInfo
// cannot fail: cudaMemGetInfo
CASE(Info) {
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&before, &total));
  EXPECT(before > 0 && before <= total);
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 256 * kBytes));
  EXPECT_OK(cudaMemGetInfo(&after, &total));
  EXPECT(before - after >= 256 * kBytes);
  EXPECT_OK(cudaFree(memory));
  // Either answer may be left out.
  EXPECT_OK(cudaMemGetInfo(nullptr, nullptr));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  conformance::RunCases();
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("pool");
}
