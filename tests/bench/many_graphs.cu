// Many graphs at once: G graphs of N kernel nodes are captured and instantiated, each is launched L
// times in turn, and all are destroyed. Run untraced and traced, the difference is the tracer's.
// FRAMES: how many functions deep the launches are called, beside main(). Prints ns per launch.
//
//     many_graphs GRAPHS NODES LAUNCHES [FRAMES]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "testdata/workloads/cuda_check.h"

__global__ void Advance(float* data, int n) { data[threadIdx.x] += n; }

[[gnu::noinline]] void Launch(cudaGraphExec_t exec, cudaStream_t stream, int frames) {
  if (frames > 1) {
    Launch(exec, stream, frames - 1);
    asm volatile("");  // a call at a function's end would take its frame
  } else {
    CHECK(cudaGraphLaunch(exec, stream));
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int nodes = std::atoi(argv[2]), launches = std::atoi(argv[3]);
  const int frames = argc > 4 ? std::atoi(argv[4]) : 1;
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
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) {
    for (cudaGraphExec_t exec : execs) Launch(exec, stream, frames);
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  const double count = static_cast<double>(execs.size()) * launches;
  if (count > 0) std::printf("%.0f ns per launch\n", time.count() / count);
  CHECK(cudaStreamSynchronize(stream));
  for (cudaGraphExec_t exec : execs) CHECK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t graph : graphs) CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
