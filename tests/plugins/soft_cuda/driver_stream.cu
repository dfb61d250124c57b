// The driver's own stream, event and capture functions.
#include "conformance.h"

#define EXPECT_CU(call) EXPECT((call) == CUDA_SUCCESS)

namespace {

CUdeviceptr memory;

void AddOne(void* value) { ++*static_cast<int*>(value); }

// effect: cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy cuStreamGetFlags
// effect: cuStreamGetPriority cuStreamGetId cuStreamGetCtx cuStreamGetDevice
CASE(Properties) {
  CUstream stream = nullptr;
  CUstream other = nullptr;
  EXPECT_CU(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
  EXPECT_CU(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  unsigned long long other_id = 0;
  CUcontext context = nullptr;
  CUcontext current = nullptr;
  CUdevice device = -1;
  EXPECT_CU(cuStreamGetFlags(stream, &flags));
  EXPECT_CU(cuStreamGetPriority(stream, &priority));
  EXPECT_CU(cuStreamGetId(stream, &id));
  EXPECT_CU(cuStreamGetId(other, &other_id));
  EXPECT_CU(cuStreamGetCtx(stream, &context));
  EXPECT_CU(cuStreamGetDevice(stream, &device));
  EXPECT_CU(cuCtxGetCurrent(&current));
  EXPECT(flags == CU_STREAM_NON_BLOCKING && priority == -1);
  EXPECT(id != other_id && context == current && device == 0);
  EXPECT_FAILS(cuStreamCreate(&other, 0x40));
  EXPECT_FAILS(cuStreamCreateWithPriority(nullptr, 0, 0));
  EXPECT_FAILS(cuStreamGetFlags(stream, nullptr));
  EXPECT_FAILS(cuStreamGetPriority(stream, nullptr));
  EXPECT_FAILS(cuStreamGetId(stream, nullptr));
  EXPECT_FAILS(cuStreamGetCtx(stream, nullptr));
  EXPECT_FAILS(cuStreamGetDevice(stream, nullptr));
  EXPECT_CU(cuStreamDestroy(stream));
  EXPECT_CU(cuStreamDestroy(other));
  EXPECT_FAILS(cuStreamDestroy(nullptr));
}

// effect: cuEventCreate cuEventDestroy cuEventRecord cuEventSynchronize cuEventQuery
// effect: cuEventElapsedTime cuStreamWaitEvent cuLaunchHostFunc
CASE(Events) {
  CUstream stream = nullptr;
  CUstream other = nullptr;
  CUevent start = nullptr;
  CUevent end = nullptr;
  EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(cuEventCreate(&start, CU_EVENT_DEFAULT));
  EXPECT_CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
  int calls = 0;
  EXPECT_CU(cuEventRecord(start, stream));
  EXPECT_CU(cuLaunchHostFunc(stream, AddOne, &calls));
  EXPECT_CU(cuEventRecord(end, stream));
  EXPECT_CU(cuStreamWaitEvent(other, end, 0));
  EXPECT_CU(cuLaunchHostFunc(other, AddOne, &calls));
  EXPECT_CU(cuStreamSynchronize(other));
  EXPECT(calls == 2);
  EXPECT_CU(cuEventSynchronize(end));
  EXPECT_CU(cuEventQuery(end));
  float ms = -1;
  EXPECT_CU(cuEventElapsedTime(&ms, start, end));
  EXPECT(ms >= 0);
  EXPECT_FAILS(cuEventCreate(nullptr, 0));
  EXPECT_FAILS(cuEventRecord(nullptr, stream));
  EXPECT_FAILS(cuEventSynchronize(nullptr));
  EXPECT_FAILS(cuEventQuery(nullptr));
  EXPECT_FAILS(cuEventElapsedTime(&ms, nullptr, end));
  EXPECT_FAILS(cuStreamWaitEvent(stream, nullptr, 0));
  EXPECT_FAILS(cuLaunchHostFunc(stream, nullptr, nullptr));
  EXPECT_CU(cuEventDestroy(start));
  EXPECT_CU(cuEventDestroy(end));
  EXPECT_FAILS(cuEventDestroy(nullptr));
  EXPECT_CU(cuStreamDestroy(stream));
  EXPECT_CU(cuStreamDestroy(other));
}

// effect: cuStreamBeginCapture cuStreamEndCapture cuStreamIsCapturing cuStreamQuery
// effect: cuStreamSynchronize cuThreadExchangeStreamCaptureMode
CASE(Capture) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CU(cuStreamQuery(stream));
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_CU(cuMemsetD8Async(memory, 1, 64, stream));
  EXPECT_CU(cuMemsetD8Async(memory, 2, 64, stream));
  EXPECT_CU(cuStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  EXPECT_CU(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  EXPECT_CU(cuGraphDestroy(graph));
  EXPECT_FAILS(cuStreamIsCapturing(stream, nullptr));

  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream));
  EXPECT_FAILS(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));

  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_CU(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CU(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
  ON_SOFT(EXPECT_FAILS(cuThreadExchangeStreamCaptureMode(nullptr)));
  EXPECT_CU(cuStreamDestroy(stream));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_CU(cuMemAlloc(&memory, 64));
  conformance::RunCases();
  EXPECT_CU(cuMemFree(memory));
  return conformance::Finish("driver_stream");
}
