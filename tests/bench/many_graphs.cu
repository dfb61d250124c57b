// Many graphs at once: G graphs of N kernel nodes are captured and instantiated, each is launched L
// times in turn, and all are destroyed. Run untraced and traced, the difference is the tracer's.
//
//     many_graphs GRAPHS NODES LAUNCHES
#include <cstdlib>
#include <vector>

#include "testdata/workloads/cuda_check.h"

__global__ void Advance(float* data, int n) { data[threadIdx.x] += n; }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int nodes = std::atoi(argv[2]), launches = std::atoi(argv[3]);
  cudaStream_t stream;
  float* data = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&data, 4096));
  std::vector<cudaGraph_t> graphs(static_cast<size_t>(std::atoi(argv[1])));
  std::vector<cudaGraphExec_t> execs;
  for (cudaGraph_t& graph : graphs) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) {
      Advance<<<1, 32, 0, stream>>>(data, 3);
      CHECK(cudaGetLastError());
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    execs.emplace_back();
    CHECK(cudaGraphInstantiate(&execs.back(), graph, 0));
  }
  for (int i = 0; i < launches; ++i) {
    for (cudaGraphExec_t exec : execs) CHECK(cudaGraphLaunch(exec, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  for (cudaGraphExec_t exec : execs) CHECK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t graph : graphs) CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
