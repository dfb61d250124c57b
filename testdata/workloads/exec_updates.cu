// Execs that are updated in vain, not at all, or that one exec could stand in for.
//
//   graphs 0, 1  Scale ─ Scale; Scale ─ memset. The exec of 0 can't be updated to 1 (a node of
//                another type), and is launched all the same: it runs 0.
//   graph 2      Scale, set in the graph once its exec is there; launched twice with what it had.
//   graph 3      Scale; set in the exec twice before its launch: the first one is lost.
//   graphs 4…6   Scale ─ Scale on 64, 32 and 16 KiB, an exec each, launched one after another.
//   graphs 7, 8  Scale, captured twice. The exec of 7 is updated to 8, which is the same; then it
//                is set, and set again to the same.
//
//     exec_updates [fixed]     fixed: 1 is instantiated, 2 is set in the exec, 3 is set once, 4…6
//                              share an exec that is updated, and 7 is only given what it hasn't
#include "testdata/workloads/cuda_check.h"

constexpr unsigned kThreads = 256;
constexpr int kMost = 64 * 1024 / static_cast<int>(sizeof(float));

__global__ void Scale(float* data, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

namespace {

cudaStream_t stream = nullptr;
float* memory = nullptr;

void LaunchScale(int n) {
  Scale<<<static_cast<unsigned>(n) / kThreads, kThreads, 0, stream>>>(memory, n, 2.0F);
  CHECK(cudaGetLastError());
}

cudaGraph_t Capture(int scales, bool clears, int n = kMost) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < scales; ++i) LaunchScale(n);
  if (clears) CHECK(cudaMemsetAsync(memory, 0, kKiB, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

cudaGraphExec_t Instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void Launch(cudaGraphExec_t exec) { CHECK(cudaGraphLaunch(exec, stream)); }

void End(cudaGraphExec_t exec, cudaGraph_t graph) {
  CHECK(cudaStreamSynchronize(stream));
  if (exec != nullptr) CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void FailingUpdate(bool fixed) {
  cudaGraph_t first = Capture(2, false), second = Capture(1, true);
  cudaGraphExec_t exec = Instantiate(first);
  Launch(exec);
  cudaGraphExecUpdateResultInfo info{};
  EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, second, &info));
  if (fixed) {
    CHECK(cudaGraphExecDestroy(exec));
    exec = Instantiate(second);
  }
  Launch(exec);
  End(exec, first);
  End(nullptr, second);
}

// The parameters of a graph's only node, for half of the elements.
void SetHalf(cudaGraph_t graph, cudaGraphExec_t exec, int n) {
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  CHECK(cudaGraphGetNodes(graph, &node, &count));
  float factor = 3.0F;
  void* arguments[] = {&memory, &n, &factor};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(Scale);
  params.gridDim = dim3(static_cast<unsigned>(n) / kThreads);
  params.blockDim = dim3(kThreads);
  params.kernelParams = arguments;
  if (exec != nullptr) {
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
  } else {
    CHECK(cudaGraphKernelNodeSetParams(node, &params));
  }
}

void SetInGraph(bool fixed) {
  cudaGraph_t graph = Capture(1, false);
  cudaGraphExec_t exec = Instantiate(graph);
  SetHalf(graph, fixed ? exec : nullptr, kMost / 2);
  Launch(exec);
  Launch(exec);
  End(exec, graph);
}

void SetTwice(bool fixed) {
  cudaGraph_t graph = Capture(1, false);
  cudaGraphExec_t exec = Instantiate(graph);
  if (!fixed) SetHalf(graph, exec, kMost / 2);
  SetHalf(graph, exec, kMost / 4);
  Launch(exec);
  End(exec, graph);
}

void OneForEachSize(bool fixed) {
  cudaGraph_t graphs[3];
  cudaGraphExec_t execs[3] = {};
  for (int i = 0; i < 3; ++i) graphs[i] = Capture(2, false, kMost >> i);
  for (int i = 0; i < (fixed ? 1 : 3); ++i) execs[i] = Instantiate(graphs[i]);
  for (int i = 0; i < 3; ++i) {
    cudaGraphExecUpdateResultInfo info{};
    if (fixed && i > 0) CHECK(cudaGraphExecUpdate(execs[0], graphs[i], &info));
    Launch(execs[fixed ? 0 : i]);
  }
  for (int i = 0; i < 3; ++i) End(execs[i], graphs[i]);
}

void UpdateToTheSame(bool fixed) {
  cudaGraph_t graph = Capture(1, false), again = Capture(1, false, fixed ? kMost / 2 : kMost);
  cudaGraphExec_t exec = Instantiate(graph);
  Launch(exec);
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(exec, again, &info));
  Launch(exec);
  for (int i = 1; i <= 2; ++i) {
    SetHalf(graph, exec, kMost / (fixed ? 2 * i : 2));
    Launch(exec);
  }
  End(exec, graph);
  End(nullptr, again);
}

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&memory, kMost * sizeof(float)));
  FailingUpdate(fixed);
  SetInGraph(fixed);
  SetTwice(fixed);
  OneForEachSize(fixed);
  UpdateToTheSame(fixed);
  CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(stream));
  std::printf("exec_updates: done\n");
  return 0;
}
