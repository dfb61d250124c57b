// Events outside of captures.
#include "conformance.h"
#include "kernels.h"

// effect: cudaEventDestroy
// effect: cudaEventCreate cudaEventCreateWithFlags cudaEventElapsedTime cudaEventQuery
// effect: cudaEventSynchronize cudaEventRecord
int main() {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
  EXPECT_OK(cudaEventCreate(&start));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaEventCreateWithFlags(&untimed, 0x100));

  float ms = -1;
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
  EXPECT_OK(cudaEventQuery(start));
  EXPECT_OK(cudaStreamWaitEvent(stream, start, 0));

  EXPECT_OK(cudaEventRecord(start, stream));
  Touch<<<1, 32, 0, stream>>>(nullptr);
  EXPECT_OK(cudaEventRecord(end, stream));
  EXPECT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventElapsedTime(&ms, start, end));
  EXPECT(ms > 0);
  EXPECT_OK(cudaEventRecord(untimed, stream));
  EXPECT_OK(cudaEventSynchronize(untimed));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaEventCreate(nullptr));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaEventRecordWithFlags(start, stream, 0x10));
  // Nodes are made only in captures.
  EXPECT_ERROR(cudaErrorIllegalState,
               cudaEventRecordWithFlags(start, stream, cudaEventRecordExternal));
  EXPECT_ERROR(cudaErrorIllegalState, cudaStreamWaitEvent(stream, start, cudaEventWaitExternal));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventSynchronize(nullptr));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventQuery(nullptr));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr));
  EXPECT_OK(cudaEventDestroy(start));
  EXPECT_OK(cudaEventDestroy(end));
  EXPECT_OK(cudaEventDestroy(untimed));
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("event");
}
