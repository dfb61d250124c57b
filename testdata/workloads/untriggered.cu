// Programmatic launches of which only one half was written. Needs compute capability 9.0.
//
// Three captures of the same layers, each two kernels, every one launched so that it may start
// before the one before it has ended:
//
//     Scale(x, y) ┄┄ Add(y, x) ┄┄ Scale(x, y) ┄┄ Add(y, x) ┄┄ …      4 layers: 8 kernels, 7 edges
//                 ↑ programmatic (from_port 1)
//
// `silent`: no kernel triggers. Each starts when all blocks of the one before it have ended, as it
// would without the attribute; each waits, so that nothing is wrong: 7 edges for nothing.
// `neither`: no kernel triggers, and none waits: it works as long as nothing triggers, but what a
// kernel wrote need not be visible to the next one.
// `whole`: each triggers once its input is read, and waits before that: nothing to report.
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 256;
constexpr int kLayers = 4;
constexpr size_t kSize = 4 * kMiB;
constexpr int kElements = static_cast<int>(kSize / sizeof(float));
constexpr int kSkipped = 77;

enum class Half { kNeither, kWait, kBoth };

template <Half half>
__device__ int Begin() {
#if __CUDA_ARCH__ >= 900
  if (half != Half::kNeither) cudaGridDependencySynchronize();
  if (half == Half::kBoth) cudaTriggerProgrammaticLaunchCompletion();
#endif
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

template <Half half>
__global__ void Scale(const float* x, float* y) {
  const int i = Begin<half>();
  if (i < kElements) y[i] = x[i] * 0.5f;
}

template <Half half>
__global__ void Add(const float* x, float* y) {
  const int i = Begin<half>();
  if (i < kElements) y[i] += x[i];
}

namespace {

using Kernel = void (*)(const float*, float*);

void LaunchEarly(Kernel kernel, cudaStream_t stream, const float* x, float* y) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((kElements + kThreads - 1) / kThreads);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, x, y));
}

template <Half half>
void Run(cudaStream_t stream, float* x, float* y, const char* name) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int layer = 0; layer < kLayers; ++layer) {
    LaunchEarly(Scale<half>, stream, x, y);
    LaunchEarly(Add<half>, stream, y, x);
  }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  std::printf("untriggered: %s done\n", name);
}

}  // namespace

int main() {
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) {
    std::printf("untriggered: skipped, it needs compute capability 9.0\n");
    return kSkipped;
  }
  cudaStream_t stream = nullptr;
  float* x = nullptr;
  float* y = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&x, kSize));
  CHECK(cudaMalloc(&y, kSize));

  Run<Half::kWait>(stream, x, y, "silent");
  Run<Half::kNeither>(stream, x, y, "neither");
  Run<Half::kBoth>(stream, x, y, "whole");

  CHECK(cudaFree(y));
  CHECK(cudaFree(x));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
