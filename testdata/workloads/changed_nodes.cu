// An exec whose nodes are changed between launches, and the graph that it was made from.
//
//     clear ─ scale ─ add ─ record ─ copy
//
// 5 nodes: memset, 2 kernels, event record, memcpy; 4 edges. Two blocks of 1 MiB: the graph works
// on the first; by its new parameters the exec works on the second.
//
//     launch            as captured
//     4 changes         clear, scale, record and copy of the exec: the second block, another event
//     launch
//     2 changes         add is switched off, and after a launch on again
//     1 change          add in the graph: twice the grid
//     1 update          the exec from the graph: the first block again
//     launch
//
// 7 changes, 1 update, 4 launches. Then two graphs of one kernel each, that other kernels may
// update: one node is captured so, the other one is made so afterwards. They aren't launched.
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 256;
constexpr size_t kSize = kMiB;
constexpr int kElements = static_cast<int>(kSize / sizeof(float));
constexpr int kBlocks = kElements / kThreads;
constexpr size_t kCopied = 4 * kKiB;

__global__ void Scale(float* data, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

__global__ void Add(float* data, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

namespace {

using Kernel = void (*)(float*, int, float);

// The launch of a kernel node. Stays where it is: `params` points into it.
struct KernelNode {
  float* data;
  int n = kElements;
  float value = 2.0f;
  void* arguments[3] = {&data, &n, &value};
  cudaKernelNodeParams params = {};

  KernelNode(Kernel kernel, float* memory, int blocks) : data(memory) {
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = dim3(static_cast<unsigned>(blocks));
    params.blockDim = dim3(kThreads);
    params.kernelParams = arguments;
  }
};

cudaMemsetParams Clear(float* data) {
  cudaMemsetParams params = {};
  params.dst = data;
  params.elementSize = 1;
  params.width = kSize;
  params.height = 1;
  return params;
}

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t clear = nullptr, scale = nullptr, add = nullptr, record = nullptr, copy = nullptr;
};

Graph Build(float* data, float* host, cudaEvent_t event) {
  Graph g;
  CHECK(cudaGraphCreate(&g.graph, 0));
  const cudaMemsetParams clear = Clear(data);
  CHECK(cudaGraphAddMemsetNode(&g.clear, g.graph, nullptr, 0, &clear));
  const KernelNode scale(Scale, data, kBlocks), add(Add, data, kBlocks);
  CHECK(cudaGraphAddKernelNode(&g.scale, g.graph, &g.clear, 1, &scale.params));
  CHECK(cudaGraphAddKernelNode(&g.add, g.graph, &g.scale, 1, &add.params));
  CHECK(cudaGraphAddEventRecordNode(&g.record, g.graph, &g.add, 1, event));
  CHECK(cudaGraphAddMemcpyNode1D(&g.copy, g.graph, &g.record, 1, host, data, kCopied,
                                 cudaMemcpyDeviceToHost));
  return g;
}

// From now on the exec works on `data`.
void MoveTo(float* data, float* host, cudaEvent_t event, const Graph& g, cudaGraphExec_t exec) {
  const cudaMemsetParams clear = Clear(data);
  CHECK(cudaGraphExecMemsetNodeSetParams(exec, g.clear, &clear));
  const KernelNode scale(Scale, data, kBlocks);
  CHECK(cudaGraphExecKernelNodeSetParams(exec, g.scale, &scale.params));
  CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, g.record, event));
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, g.copy, host, data, kCopied,
                                           cudaMemcpyDeviceToHost));
}

void Update(cudaGraphExec_t exec, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(exec, graph, &info));
}

cudaLaunchAttributeValue Updatable() {
  cudaLaunchAttributeValue value = {};
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  return value;
}

void CaptureUpdatable(float* data, cudaStream_t stream) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val = Updatable();
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaLaunchKernelEx(&config, Add, data, kElements, 1.0f));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphDestroy(graph));
}

void MakeUpdatable(float* data) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = nullptr;
  const KernelNode add(Add, data, kBlocks);
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &add.params));
  const cudaLaunchAttributeValue value = Updatable();
  CHECK(
      cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
  CHECK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  cudaEvent_t first = nullptr, second = nullptr;
  float *x = nullptr, *y = nullptr, *host = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
  CHECK(cudaMalloc(&x, kSize));
  CHECK(cudaMalloc(&y, kSize));
  CHECK(cudaMallocHost(&host, kCopied));

  const Graph g = Build(x, host, first);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, g.graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  MoveTo(y, host, second, g, exec);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphNodeSetEnabled(exec, g.add, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphNodeSetEnabled(exec, g.add, 1));
  const KernelNode wider(Add, x, 2 * kBlocks);
  CHECK(cudaGraphKernelNodeSetParams(g.add, &wider.params));
  Update(exec, g.graph);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventSynchronize(second));
  CaptureUpdatable(x, stream);
  MakeUpdatable(x);
  std::printf("changed_nodes: 7 changes, 1 update, 4 launches\n");

  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(g.graph));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaEventDestroy(first));
  CHECK(cudaEventDestroy(second));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}
