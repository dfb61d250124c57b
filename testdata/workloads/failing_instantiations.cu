// Graphs that CUDA makes no exec of, or doesn't bring to the device, each by a rule of its own.
//
//   alloc    the body of a conditional node allocates memory
//   second   a second exec of a graph with memory nodes
//   device   a graph for launch on the device with a host function
//   cycle    two nodes that depend on each other
//   handle   a conditional handle without a conditional node
//   memory   an upload when the device is full
//
//     failing_instantiations CASE [fixed]     fixed: the same without the fault
#include "testdata/workloads/cuda_check.h"
#include "testdata/workloads/cuda_forms.h"

__global__ void Scale(float* data) { data[threadIdx.x] *= 2; }

namespace {

cudaStream_t stream = nullptr;
float* memory = nullptr;
bool fixed = false;

void CUDART_CB Nothing(void*) {}

cudaGraph_t NewGraph() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  return graph;
}

void CaptureTo(cudaGraph_t graph) {
  CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
}

void EndCapture() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
}

// Instantiates, and launches where that succeeds.
void Run(cudaGraph_t graph, cudaError_t fault = cudaErrorInvalidValue) {
  cudaGraphExec_t exec = nullptr;
  if (!fixed) {
    EXPECT(fault, cudaGraphInstantiate(&exec, graph, 0));
    return;
  }
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
}

void AllocateAndFree() {
  float* scratch = nullptr;
  CHECK(cudaMallocAsync(&scratch, kMiB, stream));
  Scale<<<1, 32, 0, stream>>>(scratch);
  CHECK(cudaFreeAsync(scratch, stream));
}

void Alloc(cudaGraph_t graph) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
                                         cudaGraphCondAssignDefault));
  cudaGraphNode_t node = nullptr;
  CHECK(AddNode(&node, graph, nullptr, 0, &params));
  CaptureTo(params.conditional.phGraph_out[0]);
  if (!fixed) AllocateAndFree();
  Scale<<<1, 32, 0, stream>>>(memory);
  EndCapture();
  Run(graph);
}

void Second(cudaGraph_t graph) {
  CaptureTo(graph);
  AllocateAndFree();
  EndCapture();
  cudaGraphExec_t first = nullptr;
  CHECK(cudaGraphInstantiate(&first, graph, 0));
  CHECK(cudaGraphLaunch(first, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (fixed) CHECK(cudaGraphExecDestroy(first));
  Run(graph, cudaErrorNotSupported);
  if (!fixed) CHECK(cudaGraphExecDestroy(first));
}

void Device(cudaGraph_t graph) {
  CaptureTo(graph);
  Scale<<<1, 32, 0, stream>>>(memory);
  if (!fixed) CHECK(cudaLaunchHostFunc(stream, Nothing, nullptr));
  EndCapture();
  cudaGraphInstantiateParams params = {};
  params.flags = cudaGraphInstantiateFlagDeviceLaunch;
  cudaGraphExec_t exec = nullptr;
  if (!fixed) {
    EXPECT(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
    return;
  }
  CHECK(cudaGraphInstantiateWithParams(&exec, graph, &params));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
}

void Cycle(cudaGraph_t graph) {
  cudaGraphNode_t nodes[2];
  for (cudaGraphNode_t& node : nodes) {
    cudaMemsetParams params = {};
    params.dst = memory + (&node - nodes);
    params.elementSize = 4;
    params.width = params.height = 1;
    CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  }
  CHECK(AddDependencies(graph, &nodes[0], &nodes[1], 1));
  if (!fixed) CHECK(AddDependencies(graph, &nodes[1], &nodes[0], 1));
  cudaGraphInstantiateParams params = {};
  cudaGraphExec_t exec = nullptr;
  if (!fixed) EXPECT(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
  if (fixed) Run(graph);
}

void Handle(cudaGraph_t graph) {
  cudaGraphConditionalHandle handle = 0;
  if (!fixed) CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, 0));
  CaptureTo(graph);
  Scale<<<1, 32, 0, stream>>>(memory);
  EndCapture();
  cudaGraphInstantiateParams params = {};
  cudaGraphExec_t exec = nullptr;
  if (!fixed) EXPECT(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
  if (fixed) Run(graph);
}

void Memory(cudaGraph_t graph) {
  CaptureTo(graph);
  AllocateAndFree();
  EndCapture();
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  void* rest = nullptr;
  CHECK(cudaMalloc(&rest, free));
  if (fixed) CHECK(cudaFree(rest));
  if (!fixed) EXPECT(cudaErrorMemoryAllocation, cudaGraphUpload(exec, stream));
  if (fixed) {
    CHECK(cudaGraphUpload(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaGraphExecDestroy(exec));
  if (!fixed) CHECK(cudaFree(rest));
}

struct Case {
  const char* name;
  void (*run)(cudaGraph_t graph);
};
constexpr Case kCases[] = {{"alloc", Alloc}, {"second", Second}, {"device", Device},
                           {"cycle", Cycle}, {"handle", Handle}, {"memory", Memory}};

}  // namespace

int main(int argc, char** argv) {
  fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&memory, kMiB));
  for (const Case& of : kCases) {
    if (!Flag(argc, argv, of.name)) continue;
    cudaGraph_t graph = NewGraph();
    of.run(graph);
    CHECK(cudaGraphDestroy(graph));
  }
  CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(stream));
  std::printf("failing_instantiations: done\n");
  return 0;
}
