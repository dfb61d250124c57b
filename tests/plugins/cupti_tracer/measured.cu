// Execs of several shapes, many of each: what `graphkit trace --measure-execs` measures.
//
//     measured          each is instantiated, uploaded or not, and launched; half of them destroyed
//     measured noisy    meanwhile another thread allocates and frees; goes on until it did so
//     during
//                       few of the measured calls
#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "testdata/workloads/cuda_check.h"

namespace {

struct Shape {
  int kernels;
  int copies;
  int empty;
};
constexpr Shape kShapes[] = {{200, 0, 0}, {50, 50, 20}, {10, 200, 0}, {400, 20, 0}, {1, 0, 100}};
constexpr int kExecs = 40;  // of each

__global__ void Touch(char* data) { data[threadIdx.x] += 1; }

cudaGraph_t MakeGraph(const Shape& shape, cudaStream_t stream, char* data) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < shape.kernels; ++i) Touch<<<1, 32, 0, stream>>>(data);
  for (int i = 0; i < shape.copies; ++i)
    CHECK(cudaMemcpyAsync(data, data + 512, 512, cudaMemcpyDeviceToDevice, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node = nullptr;
  for (int i = 0; i < shape.empty; ++i) CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  return graph;
}

constexpr int kNoisy = 5;  // calls during which the other thread allocated, at least

struct Noise {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> rounds{0};
  int calls = 0;  // of `Call`, during which there was one
};

void Allocate(Noise& noise) {
  for (; !noise.done; ++noise.rounds) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 8 << 20));
    CHECK(cudaFree(memory));
  }
}

template <typename Function>
void Call(Noise& noise, const Function& function) {
  const uint64_t before = noise.rounds;
  function();
  noise.calls += noise.rounds != before;
}

}  // namespace

int main(int argc, char** argv) {
  const bool noisy = argc > 1 && std::strcmp(argv[1], "noisy") == 0;
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  char* data = nullptr;
  CHECK(cudaMalloc(&data, 1024));
  std::vector<cudaGraph_t> graphs;
  for (const Shape& shape : kShapes) graphs.push_back(MakeGraph(shape, stream, data));
  Noise noise;
  std::thread allocates;
  if (noisy) allocates = std::thread([&] { Allocate(noise); });
  std::vector<cudaGraphExec_t> execs;
  for (int i = 0; i < kExecs || (noisy && noise.calls < kNoisy); ++i) {
    for (cudaGraph_t graph : graphs) {
      cudaGraphExec_t exec = nullptr;
      Call(noise, [&] { CHECK(cudaGraphInstantiate(&exec, graph, 0)); });
      if (i % 2 == 0) CHECK(cudaGraphUpload(exec, stream));
      for (int launch = 0; launch < 2; ++launch) CHECK(cudaGraphLaunch(exec, stream));
      execs.push_back(exec);
    }
  }
  CHECK(cudaStreamSynchronize(stream));
  noise.done = true;
  if (noisy) allocates.join();
  for (size_t i = 0; i < execs.size(); i += 2) CHECK(cudaGraphExecDestroy(execs[i]));
  return 0;
}
