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

// A pool whose blocks other streams get only by the ways that are switched on, and a stream that a
// word of the host holds up.
struct TwoStreams {
  cudaMemPool_t pool = nullptr;
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  unsigned* hold = nullptr;

  TwoStreams(int events, int opportunistic, int internal) {
    const cudaMemPoolProps properties = OnDevice(0);
    EXPECT_OK(cudaMemPoolCreate(&pool, &properties));
    EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &events));
    EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &opportunistic));
    EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &internal));
    EXPECT_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    EXPECT_OK(cudaMallocHost(&hold, sizeof *hold));
    *hold = 0;
  }
  ~TwoStreams() {
    Go();
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemPoolDestroy(pool));
    EXPECT_OK(cudaStreamDestroy(first));
    EXPECT_OK(cudaStreamDestroy(second));
    EXPECT_OK(cudaFreeHost(hold));
  }
  void Hold(cudaStream_t in) const {
    EXPECT_OK(
        cuStreamWaitValue32(in, reinterpret_cast<CUdeviceptr>(hold), 1, CU_STREAM_WAIT_VALUE_GEQ));
  }
  void Go() { *static_cast<volatile unsigned*>(hold) = 1; }
  void* Take(cudaStream_t in, size_t bytes = kBytes) const {
    void* memory = nullptr;
    EXPECT_OK(cudaMallocFromPoolAsync(&memory, bytes, pool, in));
    return memory;
  }
  // What the first stream has freed.
  void* Free(bool held, size_t bytes = kBytes) const {
    void* memory = Take(first, bytes);
    if (held) Hold(first);
    EXPECT_OK(cudaFreeAsync(memory, first));
    return memory;
  }
};

void Wait(cudaStream_t waits, cudaStream_t recorded) {
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(event, recorded));
  EXPECT_OK(cudaStreamWaitEvent(waits, event, 0));
  EXPECT_OK(cudaEventDestroy(event));
}

// effect: cudaMemPoolSetAttribute
CASE(ReuseFollowsEvents) {
  for (int follows : {0, 1}) {
    TwoStreams two(follows, 0, 0);
    void* early = two.Free(true);
    cudaStream_t between = nullptr;
    EXPECT_OK(cudaStreamCreateWithFlags(&between, cudaStreamNonBlocking));
    Wait(between, two.first);
    void* late = two.Take(two.first, 2 * kBytes);
    EXPECT_OK(cudaFreeAsync(late, two.first));  // after the event
    Wait(two.second, between);
    EXPECT(two.Take(two.second, 2 * kBytes) != late);
    EXPECT((two.Take(two.second) == early) == (follows != 0));
    EXPECT_OK(cudaStreamDestroy(between));
  }
}

// effect: cudaMemPoolSetAttribute
CASE(ReuseIsOpportunisticOrAfterTheHost) {
  TwoStreams opportunistic(1, 1, 0);
  void* freed = opportunistic.Free(false);
  while (cudaStreamQuery(opportunistic.first) != cudaSuccess) {
  }
  EXPECT(opportunistic.Take(opportunistic.second) == freed);

  TwoStreams strict(1, 0, 0);
  freed = strict.Free(false);
  while (cudaStreamQuery(strict.first) != cudaSuccess) {
  }
  void* another = strict.Take(strict.second);
  EXPECT(another != freed);
  EXPECT_OK(cudaStreamSynchronize(strict.second));
  EXPECT(strict.Take(strict.second, kBytes) != freed);
  EXPECT(strict.Take(strict.first) == freed);  // its own
  EXPECT_OK(cudaFreeAsync(freed, strict.first));
  EXPECT_OK(cudaStreamSynchronize(strict.first));
  EXPECT(strict.Take(strict.second) == freed);
}

// Where nothing is left, a stream waits for what another one has freed.
// effect: cudaMemPoolSetAttribute
CASE(ReuseWaitsWhereNothingIsLeft) {
  size_t left = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&left, &total));
  const size_t most = left / 3 * 2;
  for (int internal : {0, 1}) {
    TwoStreams two(0, 0, internal);
    void* freed = two.Free(true, most);
    void* memory = nullptr;
    const cudaError_t error = cudaMallocFromPoolAsync(&memory, most, two.pool, two.second);
    EXPECT(error == (internal != 0 ? cudaSuccess : cudaErrorMemoryAllocation));
    EXPECT(memory == (internal != 0 ? freed : nullptr));
    if (internal != 0) {
      EXPECT(cudaStreamQuery(two.second) == cudaErrorNotReady);
      EXPECT_OK(cudaFreeAsync(memory, two.second));
    }
    static_cast<void>(cudaGetLastError());
  }
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

struct Place {
  cudaMemAllocationType type;
  cudaMemLocation location;
  cudaMemoryType memory;
};

// A pool of each place and type that cuda.h names on cuMemGetMemPool, but of a device's own memory.
// Its memory is used by the host and by a stream.
CASE(PoolsOfOtherPlaces) {
  for (const auto place :
       {cudaDevAttrHostMemoryPoolsSupported, cudaDevAttrHostNumaMemoryPoolsSupported}) {
    int supported = 0;
    EXPECT_OK(cudaDeviceGetAttribute(&supported, place, 0));
    EXPECT(supported == 1);
  }
  const auto none = cudaMemLocationTypeInvalid;  // cudaMemLocationTypeNone of later headers
  const Place places[] = {
      {cudaMemAllocationTypeManaged, {none, 0}, cudaMemoryTypeManaged},
      {cudaMemAllocationTypeManaged, {cudaMemLocationTypeDevice, 0}, cudaMemoryTypeManaged},
      {cudaMemAllocationTypeManaged, {cudaMemLocationTypeHost, 0}, cudaMemoryTypeManaged},
      {cudaMemAllocationTypePinned, {cudaMemLocationTypeHost, 0}, cudaMemoryTypeHost},
      {cudaMemAllocationTypePinned, {cudaMemLocationTypeHostNuma, 0}, cudaMemoryTypeHost}};
  for (const Place& place : places) {
    cudaMemLocation location = place.location;
    cudaMemPool_t first = nullptr;
    cudaMemPool_t current = nullptr;
    cudaMemPool_t own = nullptr;
    EXPECT_OK(cudaMemGetDefaultMemPool(&first, &location, place.type));
    EXPECT_OK(cudaMemGetMemPool(&current, &location, place.type));
    EXPECT(first != nullptr && first == current);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(first));
    cudaMemPoolProps properties = {};
    properties.allocType = place.type;
    properties.location = place.location;
    EXPECT_OK(cudaMemPoolCreate(&own, &properties));
    EXPECT_OK(cudaMemSetMemPool(&location, place.type, own));
    EXPECT_OK(cudaMemGetMemPool(&current, &location, place.type));
    EXPECT(current == own);
    int* memory = nullptr;
    size_t before = 0;
    size_t after = 0;
    size_t total = 0;
    EXPECT_OK(cudaMemGetInfo(&before, &total));
    EXPECT_OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&memory), kBytes, own, stream));
    EXPECT_OK(cudaMemGetInfo(&after, &total));
    ON_SOFT(EXPECT(place.memory != cudaMemoryTypeHost || before == after));
    EXPECT(Ask(own, cudaMemPoolAttrUsedMemCurrent) == kBytes);
    EXPECT_OK(cudaMemsetAsync(memory, 0, kBytes, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    memory[1] = 7;
    int seen = 0;
    EXPECT_OK(cudaMemcpyAsync(&seen, memory + 1, sizeof seen, cudaMemcpyDefault, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(seen == 7 && memory[0] == 0);
    cudaPointerAttributes attributes = {};
    EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
    EXPECT(attributes.type == place.memory);
    EXPECT_OK(cudaFreeAsync(memory, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(Ask(own, cudaMemPoolAttrUsedMemCurrent) == 0);
    EXPECT_OK(cudaMemPoolDestroy(own));
    EXPECT_OK(cudaMemGetMemPool(&current, &location, place.type));
    EXPECT(current == first);
  }
}

// effect: cudaMemPoolCreate cudaMemSetMemPool
CASE(WrongPlaces) {
  cudaMemPool_t pool = nullptr;
  cudaMemLocation none = {cudaMemLocationTypeInvalid, 0};
  cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  cudaMemLocation node = {cudaMemLocationTypeHostNumaCurrent, 0};
  const auto pinned = cudaMemAllocationTypePinned;
  const auto managed = cudaMemAllocationTypeManaged;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemGetMemPool(&pool, &none, pinned));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemGetMemPool(&pool, &node, pinned));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemGetMemPool(&pool, &host, cudaMemAllocationTypeInvalid));
  EXPECT_OK(cudaMemGetDefaultMemPool(&pool, &host, pinned));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemSetMemPool(&host, managed, pool));
  cudaMemPoolProps properties = {};
  properties.location = host;
  properties.allocType = pinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;  // can't be shared
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &properties));
  properties.allocType = managed;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &properties));
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.maxSize = kBytes;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &properties));
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
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &own, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolGetAccess(&flags, pool, &own.location));
  own.location = {cudaMemLocationTypeInvalid, 0};
  EXPECT_ERROR(cudaErrorNotSupported, cudaMemPoolSetAccess(pool, &own, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolGetAccess(&flags, pool, &own.location));
  own = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtNone};
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &own, 1));
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
