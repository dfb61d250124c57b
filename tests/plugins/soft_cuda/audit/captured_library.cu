// A library with the CUDA runtime inside and per-thread default streams, to be opened with dlopen.
// Capture() captures two kernels and a memset on the calling thread's default stream, and launches
// them.
#include <cuda_runtime.h>

#include "testdata/workloads/cuda_check.h"

namespace {

__global__ void Step(int* counter) { ++*counter; }

}  // namespace

extern "C" int Capture() {
  int* counter = nullptr;
  CHECK(cudaMalloc(&counter, sizeof(int)));
  CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(counter, 0, sizeof(int)));
  Step<<<1, 1>>>(counter);
  Step<<<1, 1>>>(counter);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, cudaStreamPerThread));
  CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(counter));
  return static_cast<int>(nodes);
}
