// Three leaks, and beside them the same thing done right.
//
//   graph 0  done right: alloc 1 MiB ─ kernel ─ free; exec and graph are destroyed.
//            3 nodes, 2 edges.
//   graph 1  --exec: kernel ─ kernel on 1 MiB of cudaMalloc (freed); launched twice; the graph is
//            destroyed, its exec never is. 2 nodes, 1 edge.
//   graph 2  --graph-alloc: alloc 8 MiB ─ kernel; launched once; exec and graph are destroyed,
//            which frees nothing: 8 MiB of graph memory stay. 2 nodes, 1 edge.
//   block    --block: 3 MiB of cudaMalloc, never freed.
//
//     leaky [--exec] [--graph-alloc] [--block]      without any: all three
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 256;

__global__ void Touch(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = static_cast<float>(i);
}

namespace {

void LaunchTouch(float* data, size_t size, cudaStream_t stream) {
  const int n = static_cast<int>(size / sizeof(float));
  Touch<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(data, n);
  CHECK(cudaGetLastError());
}

cudaGraph_t CaptureAllocation(cudaStream_t stream, size_t size, bool free) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  float* data = nullptr;
  CHECK(cudaMallocAsync(&data, size, stream));
  LaunchTouch(data, size, stream);
  if (free) CHECK(cudaFreeAsync(data, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

cudaGraphExec_t InstantiateAndLaunch(cudaGraph_t graph, cudaStream_t stream, int times) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  return exec;
}

void DoneRight(cudaStream_t stream) {
  cudaGraph_t graph = CaptureAllocation(stream, kMiB, true);
  cudaGraphExec_t exec = InstantiateAndLaunch(graph, stream, 2);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void LeakExec(cudaStream_t stream) {
  float* data = nullptr;
  CHECK(cudaMalloc(&data, kMiB));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  LaunchTouch(data, kMiB, stream);
  LaunchTouch(data, kMiB, stream);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  InstantiateAndLaunch(graph, stream, 2);
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
}

void LeakGraphAllocation(cudaStream_t stream) {
  cudaGraph_t graph = CaptureAllocation(stream, 8 * kMiB, false);
  cudaGraphExec_t exec = InstantiateAndLaunch(graph, stream, 1);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void LeakBlock() {
  void* data = nullptr;
  CHECK(cudaMalloc(&data, 3 * kMiB));
}

}  // namespace

int main(int argc, char** argv) {
  const bool exec = Flag(argc, argv, "--exec");
  const bool graph_alloc = Flag(argc, argv, "--graph-alloc");
  const bool block = Flag(argc, argv, "--block");
  const bool all = !exec && !graph_alloc && !block;

  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  DoneRight(stream);
  if (exec || all) LeakExec(stream);
  if (graph_alloc || all) LeakGraphAllocation(stream);
  if (block || all) LeakBlock();
  CHECK(cudaStreamDestroy(stream));
  std::printf("leaky: done\n");
  return 0;
}
