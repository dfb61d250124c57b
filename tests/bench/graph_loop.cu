// The cost of a large graph on the software device: a capture of N kernel nodes in one stream,
// instantiated and launched. Prints the seconds of each step and the peak of the program's memory.
//
//     graph_loop NODES
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "testdata/workloads/cuda_check.h"

__global__ void Advance(float* data) { data[threadIdx.x] += 1.0f; }

double Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

int main(int argc, char** argv) {
  const long nodes = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  float* data = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&data, 4096));
  const double begin = Now();
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (long i = 0; i < nodes; ++i) {
    Advance<<<1, 32, 0, stream>>>(data);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  const double captured = Now();
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const double instantiated = Now();
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  const double launched = Now();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("capture %.2f s, instantiate %.2f s, launch %.3f s, peak %.2f GiB\n",
              captured - begin, instantiated - captured, launched - instantiated,
              static_cast<double>(usage.ru_maxrss) / 1048576.0);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
