// A graph with a node of every kind, and one with an edge of every kind, drawn with each flag:
// argument, a folder for the drawings.
// The external semaphore is the software device's (semaphore.cu).
#include <cuda.h>
#include <fcntl.h>

#include <string>

#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

cudaGraphNode_t AddKernel(cudaGraph_t graph, const Nodes& after, dim3 grid) {
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = grid;
  params.blockDim = dim3(8, 4);
  params.sharedMemBytes = 256;
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

cudaGraphNode_t AddChild(cudaGraph_t graph, cudaGraphNode_t after) {
  cudaGraph_t inner = NewGraph();
  AddKernel(inner, {AddEmpty(inner)}, dim3(2));
  cudaGraph_t outer = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, inner));
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, &after, 1, outer));
  EXPECT_OK(cudaGraphDestroy(inner));
  EXPECT_OK(cudaGraphDestroy(outer));
  return node;
}

cudaGraphNode_t AddConditional(cudaGraph_t graph, cudaGraphNode_t after) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.type = cudaGraphCondTypeSwitch;
  params.conditional.size = 2;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 0,
                                             cudaGraphCondAssignDefault));
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, &after, nullptr, 1, &params));
  AddKernel(params.conditional.phGraph_out[1], {}, dim3(1, 2, 3));
  AddEmpty(params.conditional.phGraph_out[0]);
  return node;
}

cudaGraphNode_t AddSemaphores(cudaGraph_t graph, cudaGraphNode_t node) {
  cudaExternalSemaphoreHandleDesc desc = {};
  desc.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
  desc.handle.fd = open("/dev/null", O_RDONLY);
  cudaExternalSemaphore_t semaphore = nullptr;
  EXPECT_OK(cudaImportExternalSemaphore(&semaphore, &desc));
  cudaExternalSemaphoreSignalParams signal = {};
  cudaExternalSemaphoreSignalNodeParams signals = {&semaphore, &signal, 1};
  EXPECT_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, &node, 1, &signals));
  cudaExternalSemaphoreWaitParams wait = {};
  cudaExternalSemaphoreWaitNodeParams waits = {&semaphore, &wait, 1};
  EXPECT_OK(cudaGraphAddExternalSemaphoresWaitNode(&node, graph, &node, 1, &waits));
  return node;
}

cudaGraphNode_t AddBatch(cudaGraph_t graph, cudaGraphNode_t after, unsigned* word) {
  CUstreamBatchMemOpParams op = {};
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = reinterpret_cast<CUdeviceptr>(word);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {};
  params.count = 1;
  params.paramArray = &op;
  EXPECT_OK(cuCtxGetCurrent(&params.ctx));
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddBatchMemOpNode(&node, graph, &after, 1, &params));
  return node;
}

// The driver's type 12 is none of the runtime's, so nothing but a drawing shows all of them.
void Build(cudaGraph_t graph) {
  unsigned* memory = nullptr;
  cudaEvent_t event = nullptr;
  static int counter = 0;
  EXPECT_OK(cudaMalloc(&memory, 64));
  EXPECT_OK(cudaEventCreate(&event));
  cudaMemAllocNodeParams allocation = AllocationOf(4096);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &allocation));
  const cudaMemsetParams fill = SetWords(memory, 7, 16);
  cudaGraphNode_t set = nullptr;
  EXPECT_OK(cudaGraphAddMemsetNode(&set, graph, &node, 1, &fill));
  node = AddKernel(graph, {node, set}, dim3(16, 10, 2));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, memory, memory + 8, 32,
                                     cudaMemcpyDeviceToDevice));
  node = AddCounter(graph, &counter, {node});
  EXPECT_OK(cudaGraphAddEventRecordNode(&node, graph, &node, 1, event));
  EXPECT_OK(cudaGraphAddEventWaitNode(&node, graph, &node, 1, event));
  node = AddSemaphores(graph, AddChild(graph, node));
  node = AddEmpty(graph, {AddBatch(graph, node, memory), AddConditional(graph, node)});
  EXPECT_OK(cudaGraphAddMemFreeNode(&node, graph, &node, 1, allocation.dptr));
}

// A full edge, one from each programmatic port, and one from a kernel's launch.
void BuildEdges(cudaGraph_t graph) {
  const cudaGraphNode_t from = AddKernel(graph, {}, dim3(2));
  const int kinds[][2] = {{0, 0}, {1, 1}, {2, 1}, {2, 0}};
  for (const auto& [port, type] : kinds) {
    const cudaGraphNode_t to = AddKernel(graph, {}, dim3(2));
    cudaGraphEdgeData data = {};
    data.from_port = static_cast<unsigned char>(port);
    data.type = static_cast<unsigned char>(type);
    EXPECT_OK(cudaGraphAddDependencies(graph, &from, &to, &data, 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  cudaGraph_t graph = NewGraph(), edges = NewGraph();
  Build(graph);
  BuildEdges(edges);
  const auto draw = [&](unsigned flags) {
    const std::string folder = std::string(argv[1]) + "/", name = std::to_string(flags) + ".dot";
    EXPECT_OK(cuGraphDebugDotPrint(graph, (folder + name).c_str(), flags));
    EXPECT_OK(cuGraphDebugDotPrint(edges, (folder + "edges_" + name).c_str(), flags));
  };
  constexpr unsigned kFlags = 16;
  draw(0);
  draw((1u << kFlags) - 1);
  for (unsigned flag = 0; flag < kFlags; ++flag) {
    draw(1u << flag);
    draw(1u << flag | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    draw(((1u << kFlags) - 1) & ~CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE & ~(1u << flag));
  }
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(edges));
  return Finish("graph_drawings");
}
