// Managed ranges: advice, prefetches, attributes.
#include <cstring>

#include "conformance.h"

namespace {

constexpr size_t kBytes = 1 << 22;
constexpr cudaMemLocation kDevice = {cudaMemLocationTypeDevice, 0};
constexpr cudaMemLocation kHost = {cudaMemLocationTypeHost, 0};
cudaStream_t stream;
char* managed;
char* other;

int Ask(cudaMemRangeAttribute attribute, const void* range) {
  int value = -100;
  EXPECT_OK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, range, kBytes));
  return value;
}

// effect: cudaMemAdvise cudaMemRangeGetAttribute cudaMemRangeGetAttributes
CASE(Advice) {
  EXPECT(Ask(cudaMemRangeAttributeReadMostly, managed) == 0);
  EXPECT(Ask(cudaMemRangeAttributePreferredLocation, managed) == cudaInvalidDeviceId);
  EXPECT_OK(cudaMemAdvise(managed, kBytes, cudaMemAdviseSetReadMostly, kDevice));
  EXPECT_OK(cudaMemAdvise(managed, kBytes, cudaMemAdviseSetPreferredLocation, kHost));
  EXPECT_OK(cudaMemAdvise(managed, kBytes, cudaMemAdviseSetAccessedBy, kDevice));
  int read_mostly = 0;
  int preferred = -100;
  int by[2] = {-100, -100};
  void* values[] = {&read_mostly, &preferred, by};
  size_t sizes[] = {sizeof read_mostly, sizeof preferred, sizeof by};
  cudaMemRangeAttribute names[] = {cudaMemRangeAttributeReadMostly,
                                   cudaMemRangeAttributePreferredLocation,
                                   cudaMemRangeAttributeAccessedBy};
  EXPECT_OK(cudaMemRangeGetAttributes(values, sizes, names, 3, managed, kBytes));
  EXPECT(read_mostly == 1 && preferred == cudaCpuDeviceId);
  EXPECT(by[0] == 0 && by[1] == cudaInvalidDeviceId);
  EXPECT_OK(cudaMemAdvise(managed, kBytes, cudaMemAdviseUnsetReadMostly, kDevice));
  EXPECT(Ask(cudaMemRangeAttributeReadMostly, managed) == 0);

  EXPECT_FAILS(cudaMemAdvise(managed, 0, cudaMemAdviseSetReadMostly, kDevice));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemRangeGetAttribute(by, 3, cudaMemRangeAttributeReadMostly, managed, kBytes));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemRangeGetAttributes(values, sizes, names, 0, managed, kBytes));
}

// effect: cudaMemPrefetchAsync cudaMemPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync
CASE(Prefetches) {
  EXPECT_OK(cudaMemPrefetchAsync(managed, kBytes, kDevice, 0, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Ask(cudaMemRangeAttributeLastPrefetchLocation, managed) == 0);
  void* ranges[] = {managed, other};
  size_t sizes[] = {kBytes, kBytes};
  cudaMemLocation places[] = {kHost, kDevice};
  size_t index[] = {0, 1};
  EXPECT_OK(cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, index, 2, 0, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Ask(cudaMemRangeAttributeLastPrefetchLocation, managed) == cudaCpuDeviceId);
  EXPECT(Ask(cudaMemRangeAttributeLastPrefetchLocation, other) == 0);
  EXPECT_OK(cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, &places[1], index, 1, 0, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(Ask(cudaMemRangeAttributeLastPrefetchLocation, managed) == 0);

  EXPECT_FAILS(cudaMemPrefetchAsync(managed, kBytes, kDevice, 77, stream));
  size_t wrong[] = {1, 1};
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, wrong, 2, 0, stream));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, wrong, 2, 0, stream));
}

// Discarded memory may hold anything until it is written again.
// effect: cudaMemDiscardBatchAsync cuMemDiscardBatchAsync
CASE(Discards) {
  void* ranges[] = {managed, other};
  size_t sizes[] = {kBytes, kBytes / 2};
  std::memset(managed, 8, kBytes);
  std::memset(other, 8, kBytes);
  EXPECT_OK(cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, stream));
  EXPECT_OK(cudaMemsetAsync(managed, 9, kBytes, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(managed[0] == 9 && managed[kBytes - 1] == 9);
  EXPECT(other[kBytes / 2] == 8 && other[kBytes - 1] == 8);  // beside the range
  auto* addresses = reinterpret_cast<CUdeviceptr*>(ranges);
  EXPECT_OK(cuMemDiscardBatchAsync(addresses, sizes, 1, 0, stream));
  EXPECT_OK(cudaMemsetAsync(managed, 7, kBytes, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(managed[0] == 7 && managed[kBytes - 1] == 7);

  EXPECT_FAILS(cudaMemDiscardBatchAsync(ranges, sizes, 2, 1, stream));
  EXPECT_FAILS(cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, cudaStreamLegacy));
  EXPECT_FAILS(cuMemDiscardBatchAsync(addresses, sizes, 2, 0, CU_STREAM_LEGACY));
  void* plain = nullptr;
  EXPECT_OK(cudaMalloc(&plain, 64));
  size_t small = 64;
  EXPECT_FAILS(cudaMemDiscardBatchAsync(&plain, &small, 1, 0, stream));
  EXPECT_OK(cudaFree(plain));
  (void)cudaGetLastError();
}

// effect: cudaStreamAttachMemAsync
CASE(Attached) {
  EXPECT_OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
  EXPECT_OK(cudaStreamSynchronize(stream));
  std::memset(managed, 3, kBytes);
  EXPECT(managed[kBytes - 1] == 3);
  EXPECT_OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachGlobal));
  EXPECT_FAILS(cudaStreamAttachMemAsync(stream, managed, 0, 0x40));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMallocManaged(&managed, kBytes));
  EXPECT_OK(cudaMallocManaged(&other, kBytes));
  conformance::RunCases();
  EXPECT_OK(cudaFree(managed));
  EXPECT_OK(cudaFree(other));
  return conformance::Finish("range");
}
