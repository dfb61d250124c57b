// A graph built by hand: memory, child and conditional nodes, every edge added explicitly.
//
//     alloc ─ memset ─ fill ─ child ─┬─ if ─────┬─ host ─┬─ join ─┬─ record
//                                    ├─ switch ─┤        │        └─ copy ─ free
//                                    │     └─────────────┤
//                                    └─ while ───────────┘
//
// 12 nodes: mem_alloc, memset, kernel, child graph, 3 conditional, host, empty, event record,
// memcpy, mem_free. 14 edges: alloc-memset-fill-child 3, child to the conditionals 3, if-host 1,
// host, switch and while to join 3, join-record, join-copy, copy-free 3, and switch-host, which is
// added afterwards.
//
// Other graphs: the template of the child (2 kernels, 1 edge), its copy inside the child node (the
// same), and 5 bodies (one kernel each): if 1, switch 3, while 1. Without a kernel that sets the
// handles, their defaults decide: if runs, switch takes its branch 1, while doesn't run.
//
// Memory: one block of 2 MiB, allocated and freed in the graph. Launched twice.
#include "testdata/workloads/cuda_check.h"
#include "testdata/workloads/cuda_forms.h"

constexpr int kThreads = 256;
constexpr size_t kSize = 2 * kMiB;
constexpr int kElements = static_cast<int>(kSize / sizeof(float));
constexpr size_t kCopied = 4 * kKiB;

__global__ void Fill(float* data, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value;
}

__global__ void Scale(float* data, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

namespace {

void CUDART_CB Count(void* counter) { ++*static_cast<int*>(counter); }

using Kernel = void (*)(float*, int, float);

cudaGraphNode_t AddKernel(cudaGraph_t graph, cudaGraphNode_t after, Kernel kernel, float* data,
                          float value) {
  int n = kElements;
  void* arguments[] = {&data, &n, &value};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3((kElements + kThreads - 1) / kThreads);
  params.blockDim = dim3(kThreads);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params));
  return node;
}

cudaGraphNode_t AddMemAlloc(cudaGraph_t graph, float** data) {
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = kSize;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  *data = static_cast<float*>(params.dptr);
  return node;
}

cudaGraphNode_t AddMemset(cudaGraph_t graph, cudaGraphNode_t after, float* data) {
  cudaMemsetParams params = {};
  params.dst = data;
  params.elementSize = 1;
  params.width = kSize;
  params.height = 1;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemsetNode(&node, graph, &after, 1, &params));
  return node;
}

cudaGraphNode_t AddChild(cudaGraph_t graph, cudaGraphNode_t after, float* data) {
  cudaGraph_t child = nullptr;
  CHECK(cudaGraphCreate(&child, 0));
  const cudaGraphNode_t first = AddKernel(child, nullptr, Scale, data, 2.0f);
  AddKernel(child, first, Scale, data, 0.5f);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&node, graph, &after, 1, child));
  CHECK(cudaGraphDestroy(child));
  return node;
}

// A conditional node; each of its `bodies` has one kernel.
cudaGraphNode_t AddConditional(cudaGraph_t graph, cudaGraphNode_t after,
                               cudaGraphConditionalNodeType type, unsigned bodies,
                               unsigned by_default, float* data) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.type = type;
  params.conditional.size = bodies;
  CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, by_default,
                                         cudaGraphCondAssignDefault));
  cudaGraphNode_t node = nullptr;
  CHECK(AddNode(&node, graph, &after, 1, &params));
  for (unsigned i = 0; i < bodies; ++i) {
    AddKernel(params.conditional.phGraph_out[i], nullptr, Scale, data, static_cast<float>(i));
  }
  return node;
}

cudaGraphNode_t AddHost(cudaGraph_t graph, cudaGraphNode_t after, int* counter) {
  cudaHostNodeParams params = {};
  params.fn = Count;
  params.userData = counter;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddHostNode(&node, graph, &after, 1, &params));
  return node;
}

// The nodes after the conditionals: join, record, copy and free.
void AddEnd(cudaGraph_t graph, const cudaGraphNode_t (&joined)[3], cudaEvent_t event, float* data,
            float* host) {
  cudaGraphNode_t join = nullptr;
  CHECK(cudaGraphAddEmptyNode(&join, graph, joined, 3));
  cudaGraphNode_t record = nullptr;
  CHECK(cudaGraphAddEventRecordNode(&record, graph, &join, 1, event));
  cudaGraphNode_t copy = nullptr;
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &join, 1, host, data, kCopied,
                                 cudaMemcpyDeviceToHost));
  cudaGraphNode_t free = nullptr;
  CHECK(cudaGraphAddMemFreeNode(&free, graph, &copy, 1, data));
}

cudaGraph_t Build(cudaEvent_t event, float* host, int* counter) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  float* data = nullptr;
  const cudaGraphNode_t alloc = AddMemAlloc(graph, &data);
  const cudaGraphNode_t clear = AddMemset(graph, alloc, data);
  const cudaGraphNode_t fill = AddKernel(graph, clear, Fill, data, 1.0f);
  const cudaGraphNode_t child = AddChild(graph, fill, data);
  const cudaGraphNode_t if_node = AddConditional(graph, child, cudaGraphCondTypeIf, 1, 1, data);
  const cudaGraphNode_t switch_node = AddConditional(graph, child, kConditionalSwitch, 3, 1, data);
  const cudaGraphNode_t while_node =
      AddConditional(graph, child, cudaGraphCondTypeWhile, 1, 0, data);
  const cudaGraphNode_t count = AddHost(graph, if_node, counter);
  AddEnd(graph, {count, switch_node, while_node}, event, data, host);
  CHECK(AddDependencies(graph, &switch_node, &count, 1));
  return graph;
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  float* host = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMallocHost(&host, kCopied));

  int counter = 0;
  cudaGraph_t graph = Build(event, host, &counter);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventSynchronize(event));
  std::printf("explicit_graph: the host node ran %d times\n", counter);

  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeHost(host));
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(stream));
  return counter == 2 ? 0 : 1;
}
