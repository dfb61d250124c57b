// Calls that a capture doesn't allow: the error of each, and what it does to the capture.
#include <thread>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t main_stream, side;
cudaEvent_t event;

void Begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  EXPECT_OK(cudaStreamBeginCapture(main_stream, mode));
}

// Ends the capture and expects `error`; with an error there is no graph.
void End(cudaError_t error) {
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(1);
  EXPECT_ERROR(error, cudaStreamEndCapture(main_stream, &graph));
  EXPECT((graph == nullptr) == (error != cudaSuccess));
  if (error == cudaSuccess) EXPECT_OK(cudaGraphDestroy(graph));
  cudaStreamCaptureStatus status;
  EXPECT_OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
}

void ForkSide() {
  EXPECT_OK(cudaEventRecord(event, main_stream));
  EXPECT_OK(cudaStreamWaitEvent(side, event, 0));
}

CASE(UnsafeCalls) {
  void* memory = nullptr;
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, 256));
  End(cudaErrorStreamCaptureInvalidated);
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(main_stream));
  End(cudaErrorStreamCaptureInvalidated);
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(main_stream));
  End(cudaErrorStreamCaptureInvalidated);
  Begin(cudaStreamCaptureModeRelaxed);
  EXPECT_OK(cudaMalloc(&memory, 256));
  End(cudaSuccess);
  EXPECT_OK(cudaFree(memory));
}

// [docs/hardware.md]
CASE(Callbacks) {
  const cudaStreamCallback_t none = [](cudaStream_t, cudaError_t, void*) {};
  Begin(cudaStreamCaptureModeRelaxed);
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
               cudaStreamAddCallback(main_stream, none, nullptr, 0));
  End(cudaErrorStreamCaptureInvalidated);
}

// effect: cudaThreadExchangeStreamCaptureMode
CASE(UnsafeCallsOfOtherThreads) {
  void* memory = nullptr;
  Begin(cudaStreamCaptureModeThreadLocal);
  std::thread([&] { EXPECT_OK(cudaMalloc(&memory, 256)); }).join();
  End(cudaSuccess);
  EXPECT_OK(cudaFree(memory));
  Begin(cudaStreamCaptureModeGlobal);
  std::thread([&] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == cudaStreamCaptureModeGlobal);
    EXPECT_OK(cudaMalloc(&memory, 256));
  }).join();
  End(cudaSuccess);
  EXPECT_OK(cudaFree(memory));
  Begin(cudaStreamCaptureModeGlobal);
  std::thread([&] {
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, 256));
  }).join();
  End(cudaErrorStreamCaptureInvalidated);
}

CASE(LegacyStream) {
  Begin();
  Touch<<<1, 1>>>(nullptr);
  EXPECT_ERROR(cudaErrorStreamCaptureImplicit, cudaGetLastError());
  End(cudaErrorStreamCaptureInvalidated);
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
               cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
}

CASE(CapturedEvents) {
  Begin();
  EXPECT_OK(cudaEventRecord(event, main_stream));
  EXPECT_ERROR(cudaErrorCapturedEvent, cudaEventQuery(event));
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(main_stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);

  EXPECT_OK(cudaEventRecord(event, side));
  Begin();
  EXPECT_ERROR(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(main_stream, event, 0));
  End(cudaErrorStreamCaptureInvalidated);
}

CASE(Joining) {
  Begin();
  ForkSide();
  Touch<<<1, 1, 0, side>>>(nullptr);
  End(cudaErrorStreamCaptureUnjoined);

  Begin();
  ForkSide();
  cudaGraph_t graph = nullptr;
  EXPECT_ERROR(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(side, &graph));
  End(cudaErrorStreamCaptureInvalidated);
}

CASE(TwoCaptures) {
  Begin();
  EXPECT_OK(cudaEventRecord(event, main_stream));
  EXPECT_OK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(side, event, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(side, &graph));
  End(cudaErrorStreamCaptureInvalidated);
}

CASE(BeginAndEnd) {
  Begin();
  EXPECT_ERROR(cudaErrorIllegalState,
               cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  cudaGraph_t graph = nullptr;
  std::thread([&] {
    EXPECT_ERROR(cudaErrorStreamCaptureWrongThread, cudaStreamEndCapture(main_stream, &graph));
  }).join();
  EXPECT_ERROR(cudaErrorIllegalState, cudaStreamEndCapture(main_stream, &graph));
}

CASE(WrongArguments) {
  EXPECT_FAILS(cudaStreamBeginCaptureToGraph(main_stream, nullptr, nullptr, nullptr, 0,
                                             cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamIsCapturing(main_stream, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetCaptureInfo(main_stream, nullptr, nullptr,
                                                               nullptr, nullptr, nullptr, nullptr));
  EXPECT_ERROR(cudaErrorIllegalState,
               cudaStreamUpdateCaptureDependencies(main_stream, nullptr, nullptr, 0,
                                                   cudaStreamSetCaptureDependencies));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaStreamBeginCapture(main_stream, static_cast<cudaStreamCaptureMode>(9)));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&main_stream));
  EXPECT_OK(cudaStreamCreate(&side));
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaFree(nullptr));
  Touch<<<1, 1, 0, side>>>(nullptr);
  EXPECT_OK(cudaDeviceSynchronize());
  conformance::RunCases();
  return conformance::Finish("capture_errors");
}
