// Programmatic dependent launch: used well, and misused. Needs compute capability 9.0.
//
// `waiting` and `careless` are the same capture but for one kernel:
//
//     alloc x ─ alloc y ─ Produce(x) ┄┄ consume(x, y) ─ free x ─ alloc z ─ Finish(y, z) ─ …
//                                    ↑ programmatic: consume starts when Produce has triggered
//     … ─ free y ─ free z
//
//     9 nodes: 3 kernels, 3 memory allocations, 3 memory frees. 8 edges, 1 of them programmatic
//     (from_port 1). x, y, z 4 MiB each: 12 MiB in all, 8 MiB alive at once.
//
// WaitingConsume waits for its grid dependencies before it reads x: its end proves that Produce has
// ended, so what is after it may take x's place: 8 MiB are enough.
// CarelessConsume doesn't: it reads x while Produce writes it, and nothing says that Produce has
// ended when x is freed. Had z x's place, Produce could overwrite it: no order lets anything take
// the place of x, so 12 MiB are needed.
//
// `events` has the two other ways to such an edge, on a second stream:
//
//     main:  P1 ──┬── P2 ──┬── Finish        P: Produce(x), C: WaitingConsume(x, y)
//     side:   ┄ C1 ┘   ┄ C2 ┘                ┄ by an event that P fires before it has ended
//
//     5 kernels. Edges: P1-C1 by a programmatic event (from_port 1, programmatic); P1-P2, C1-P2;
//     P2-C2 by a launch completion event (from_port 2), C1-C2; P2-Finish, C2-Finish. 7 in all.
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 256;
constexpr size_t kSize = 4 * kMiB;
constexpr int kElements = static_cast<int>(kSize / sizeof(float));
constexpr int kSkipped = 77;

__device__ int Index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__device__ void Trigger() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ void Wait() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Lets what follows start before it has written x.
__global__ void Produce(float* x) {
  Trigger();
  if (Index() < kElements) x[Index()] = 1.0f;
}

__global__ void WaitingConsume(const float* x, float* y) {
  Wait();
  if (Index() < kElements) y[Index()] = x[Index()] + 1.0f;
}

__global__ void CarelessConsume(const float* x, float* y) {
  if (Index() < kElements) y[Index()] = x[Index()] + 1.0f;
}

__global__ void Finish(const float* y, float* z) {
  if (Index() < kElements) z[Index()] = y[Index()];
}

namespace {

// Launches a kernel with one attribute, or with none.
template <typename... Parameters, typename... Arguments>
void Launch(void (*kernel)(Parameters...), cudaStream_t stream, cudaLaunchAttribute* attribute,
            Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((kElements + kThreads - 1) / kThreads);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = attribute ? 1 : 0;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

cudaLaunchAttribute ProgrammaticSerialization() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

cudaLaunchAttribute ProgrammaticEvent(cudaEvent_t event) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  return attribute;
}

cudaLaunchAttribute LaunchCompletionEvent(cudaEvent_t event) {
#if CUDART_VERSION >= 12030
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = event;
  return attribute;
#else
  return ProgrammaticEvent(event);  // the headers don't have the other yet
#endif
}

float* AllocateOn(cudaStream_t stream) {
  void* pointer = nullptr;
  CHECK(cudaMallocAsync(&pointer, kSize, stream));
  return static_cast<float*>(pointer);
}

using Consume = void (*)(const float*, float*);

cudaGraph_t CaptureSerialization(cudaStream_t stream, Consume consume) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  float* x = AllocateOn(stream);
  float* y = AllocateOn(stream);
  Launch(Produce, stream, nullptr, x);
  cudaLaunchAttribute early = ProgrammaticSerialization();
  Launch(consume, stream, &early, x, y);
  CHECK(cudaFreeAsync(x, stream));
  float* z = AllocateOn(stream);
  Launch(Finish, stream, nullptr, y, z);
  CHECK(cudaFreeAsync(y, stream));
  CHECK(cudaFreeAsync(z, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

// The side stream follows a kernel of main by an event that fires before the kernel has ended.
void CaptureEarlyFork(cudaStream_t main, cudaStream_t side, cudaLaunchAttribute early,
                      cudaEvent_t fork, cudaEvent_t join, float* x, float* y) {
  Launch(Produce, main, &early, x);
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  Launch(WaitingConsume, side, nullptr, x, y);
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(main, join, 0));
}

cudaGraph_t CaptureEvents(cudaStream_t main, cudaStream_t side, float* x, float* y) {
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CaptureEarlyFork(main, side, ProgrammaticEvent(fork), fork, join, x, y);
  CaptureEarlyFork(main, side, LaunchCompletionEvent(fork), fork, join, x, y);
  Launch(Finish, main, nullptr, y, x);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(main, &graph));
  CHECK(cudaEventDestroy(join));
  CHECK(cudaEventDestroy(fork));
  return graph;
}

void Run(cudaGraph_t graph, cudaStream_t stream, const char* name) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  std::printf("programmatic: %s done\n", name);
}

}  // namespace

int main() {
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) {
    std::printf("programmatic: skipped, it needs compute capability 9.0\n");
    return kSkipped;
  }
  cudaStream_t main = nullptr;
  cudaStream_t side = nullptr;
  float* x = nullptr;
  float* y = nullptr;
  CHECK(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&x, kSize));
  CHECK(cudaMalloc(&y, kSize));

  Run(CaptureSerialization(main, WaitingConsume), main, "waiting");
  Run(CaptureSerialization(main, CarelessConsume), main, "careless");
  Run(CaptureEvents(main, side, x, y), main, "events");

  CHECK(cudaFree(y));
  CHECK(cudaFree(x));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaStreamDestroy(main));
  return 0;
}
