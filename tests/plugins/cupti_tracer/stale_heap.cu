// A captured copy of memory from malloc that is freed between two launches. Built with
// AddressSanitizer, which sees the copies that the software device makes.
//
//     stale_heap [fixed]    fixed: freed after the last launch
#include <cstdlib>

#include "testdata/workloads/cuda_check.h"

constexpr size_t kBytes = 4 * kKiB;

int main(int argc, char** argv) {
  const bool fixed = Flag(argc, argv, "fixed");
  cudaStream_t stream = nullptr;
  void* device = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&device, kBytes));
  void* heap = std::calloc(1, kBytes);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, heap, kBytes, cudaMemcpyHostToDevice, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (!fixed) std::free(heap);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (fixed) std::free(heap);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(device));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
