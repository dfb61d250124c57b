// Calls that a thread may make while another one captures, in each mode of capture and thread. The
// expected answers are those that others measured on an RTX 3060 (driver 13.2): a call that may
// wait for the device is refused, and spoils the capture, unless the thread's mode is relaxed, if
// the thread has a capture of its own that isn't relaxed, or is in global mode while another thread
// has a global capture.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "conformance.h"
#include "kernels.h"

extern "C" cudaError_t CUDARTAPI cudaProfilerStart();

namespace {

cudaStream_t other;  // doesn't capture
float* data;

struct Call {
  const char* name;
  bool unsafe;
  std::function<cudaError_t()> make;  // and undo
};

template <typename Handle, typename... Arguments>
std::function<cudaError_t()> Pair(cudaError_t (*make)(Handle*, Arguments...),
                                  cudaError_t (*unmake)(Handle), Arguments... arguments) {
  return [=] {
    Handle handle{};
    const cudaError_t error = make(&handle, arguments...);
    if (error == cudaSuccess) EXPECT_OK(unmake(handle));
    return error;
  };
}

cudaError_t CreatePool(cudaMemPool_t* pool) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  return cudaMemPoolCreate(pool, &properties);
}

cudaError_t TrimDefaultPool() {
  cudaMemPool_t pool = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  return cudaMemPoolTrimTo(pool, 0);
}

// By the release notes of cuda.core 1.3.0.
cudaError_t SetThreshold() {
  cudaMemPool_t pool = nullptr;
  unsigned long long none = 0;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &none);
}

cudaError_t InstantiateEmpty() {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphExec_t exec = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
  if (error == cudaSuccess) EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  return error;
}

cudaError_t AllocateInOther() {
  void* memory = nullptr;
  const cudaError_t error = cudaMallocAsync(&memory, 64, other);
  if (error == cudaSuccess) EXPECT_OK(cudaFreeAsync(memory, other));
  return error;
}

cudaError_t Register() {
  static char page[16384];
  const cudaError_t error = cudaHostRegister(page, sizeof page, 0);
  if (error == cudaSuccess) EXPECT_OK(cudaHostUnregister(page));
  return error;
}

cudaError_t AllocatePitched() {
  void* memory = nullptr;
  size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&memory, &pitch, 64, 4);
  if (error == cudaSuccess) EXPECT_OK(cudaFree(memory));
  return error;
}

std::vector<Call> Calls() {
  return {
      {"cudaMalloc", true, Pair<void*, size_t>(cudaMalloc, cudaFree, 64)},
      {"cudaFree(null)", true, [] { return cudaFree(nullptr); }},
      {"cudaMallocHost", true, Pair<void*, size_t>(cudaMallocHost, cudaFreeHost, 64)},
      {"cudaHostAlloc", true, Pair<void*, size_t, unsigned>(cudaHostAlloc, cudaFreeHost, 64, 0)},
      {"cudaMallocPitch", true, AllocatePitched},
      {"cudaMallocAsync in another stream", true, AllocateInOther},
      {"cudaHostRegister", true, Register},
      {"cudaMemPoolCreate", true, Pair<cudaMemPool_t>(CreatePool, cudaMemPoolDestroy)},
      {"cudaMemPoolTrimTo", true, TrimDefaultPool},
      {"cudaMemPoolSetAttribute", true, SetThreshold},
      {"cudaStreamSynchronize of another", true, [] { return cudaStreamSynchronize(other); }},
      {"cudaStreamQuery of another", true, [] { return cudaStreamQuery(other); }},
      {"cudaGraphInstantiate", true, InstantiateEmpty},
      {"cudaDeviceSetLimit", true, [] { return cudaDeviceSetLimit(cudaLimitStackSize, 2048); }},
      {"cudaProfilerStart", true, cudaProfilerStart},
      {"cudaEventCreate", false, Pair<cudaEvent_t>(cudaEventCreate, cudaEventDestroy)},
      {"cudaStreamCreate", false, Pair<cudaStream_t>(cudaStreamCreate, cudaStreamDestroy)},
      {"cudaGraphCreate", false, Pair<cudaGraph_t, unsigned>(cudaGraphCreate, cudaGraphDestroy, 0)},
      {"cudaMemGetInfo", false,
       [] {
         size_t free = 0;
         size_t total = 0;
         return cudaMemGetInfo(&free, &total);
       }},
      {"cudaMemcpyAsync in another stream", false,
       [] { return cudaMemcpyAsync(data + 4, data, 4, cudaMemcpyDeviceToDevice, other); }},
  };
}

void In(bool another_thread, const std::function<void()>& work) {
  if (another_thread) {
    std::thread(work).join();
  } else {
    work();
  }
}

cudaStream_t BeginWithAKernel(cudaStreamCaptureMode mode) {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, mode));
  Touch<<<1, 1, 0, stream>>>(data);
  return stream;
}

cudaError_t End(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  if (graph != nullptr) EXPECT_OK(cudaGraphDestroy(graph));
  cudaGetLastError();
  EXPECT_OK(cudaStreamDestroy(stream));
  return error;
}

cudaError_t CallInMode(const Call& call, cudaStreamCaptureMode mode) {
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  const cudaError_t error = call.make();
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  return error;
}

void Try(const Call& call, cudaStreamCaptureMode capture, cudaStreamCaptureMode thread,
         bool another_thread) {
  const bool own = !another_thread && capture != cudaStreamCaptureModeRelaxed;
  const bool global = another_thread && capture == cudaStreamCaptureModeGlobal &&
                      thread == cudaStreamCaptureModeGlobal;
  const bool refused = call.unsafe && thread != cudaStreamCaptureModeRelaxed && (own || global);
  cudaStream_t stream = BeginWithAKernel(capture);
  cudaError_t error = cudaSuccess;
  In(another_thread, [&] { error = CallInMode(call, thread); });
  const cudaError_t end = End(stream);
  const bool right = refused ? error == cudaErrorStreamCaptureUnsupported &&
                                   end == cudaErrorStreamCaptureInvalidated
                             : error == cudaSuccess && end == cudaSuccess;
  if (!right)
    std::printf("%s, capture mode %d, thread mode %d, %s thread: %s\n", call.name, capture, thread,
                another_thread ? "another" : "the same", refused ? "not refused" : "refused");
  EXPECT(right);
}

constexpr cudaStreamCaptureMode kModes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

// effect: cudaThreadExchangeStreamCaptureMode cudaStreamBeginCapture
CASE(UnsafeCalls) {
  for (const Call& call : Calls()) {
    for (const auto capture : kModes) {
      for (const auto thread : kModes) {
        Try(call, capture, thread, false);
        Try(call, capture, thread, true);
      }
    }
  }
}

// Waiting for all work is refused in every mode.
// effect: cudaDeviceSynchronize
CASE(WaitingForAll) {
  for (const auto capture : kModes) {
    for (const bool another_thread : {false, true}) {
      cudaStream_t stream = BeginWithAKernel(capture);
      In(another_thread,
         [] { EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize()); });
      EXPECT(End(stream) == cudaErrorStreamCaptureInvalidated);
    }
  }
}

// effect: cudaStreamEndCapture
CASE(EndingInAnotherThread) {
  for (const auto capture : kModes) {
    const bool relaxed = capture == cudaStreamCaptureModeRelaxed;
    cudaStream_t stream = BeginWithAKernel(capture);
    cudaGraph_t graph = nullptr;
    cudaError_t error = cudaSuccess;
    In(true, [&] { error = cudaStreamEndCapture(stream, &graph); });
    EXPECT(error == (relaxed ? cudaSuccess : cudaErrorStreamCaptureWrongThread));
    EXPECT((graph != nullptr) == relaxed);
    if (graph != nullptr) EXPECT_OK(cudaGraphDestroy(graph));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    EXPECT_OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);  // over either way
    EXPECT(End(stream) == cudaErrorIllegalState);
  }
}

CASE(Modes) {
  auto mode = cudaStreamCaptureModeRelaxed;
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);
  ON_SOFT(EXPECT_ERROR(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(nullptr)));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaStreamBeginCapture(other, static_cast<cudaStreamCaptureMode>(3)));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&data, 64));
  EXPECT_OK(cudaStreamCreate(&other));
  conformance::RunCases();
  EXPECT_OK(cudaStreamDestroy(other));
  EXPECT_OK(cudaFree(data));
  return conformance::Finish("capture_modes");
}
