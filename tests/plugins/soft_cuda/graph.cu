// Graphs made by explicit calls: nodes, edges, queries, clones, execs, and the errors of each.
#include <vector>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t stream;

void AddOne(void* value) { ++*static_cast<int*>(value); }

cudaGraphNode_t AddEmpty(cudaGraph_t graph, std::vector<cudaGraphNode_t> after = {}) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

// effect: cudaGraphCreate cudaGraphDestroy cudaGraphAddDependencies cudaGraphNodeGetDependencies
// effect: cudaGraphNodeGetDependentNodes
CASE(Edges) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t a = AddEmpty(graph);
  cudaGraphNode_t b = AddEmpty(graph, {a});
  cudaGraphNode_t c = AddEmpty(graph);
  EXPECT_OK(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &b, &c, nullptr, 1));
  // A cycle is refused by the instantiation.
  EXPECT_OK(cudaGraphAddDependencies(graph, &c, &a, nullptr, 1));
  cudaGraphInstantiateParams params = {};
  cudaGraphExec_t exec = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == cudaGraphInstantiateInvalidStructure &&
         params.errNode_out != nullptr);
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &c, &a, nullptr, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
  size_t count = 0;
  EXPECT_OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT(count == 1);
  cudaGraphNode_t nodes[4] = {a, a, a, a};
  count = 4;
  EXPECT_OK(cudaGraphNodeGetDependentNodes(a, nodes, nullptr, &count));
  EXPECT(count == 1 && nodes[0] == b && nodes[1] == nullptr);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetDependencies(c, nodes, nullptr, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetDependentNodes(a, nodes, nullptr, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nodes, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphGetRootNodes(graph, nodes, nullptr));
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_OK(cudaGraphDestroyNode(b));
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphCreate(&graph, 1));
  (void)cudaGetLastError();
}

CASE(HostNodesRunInOrder) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  int calls = 0;
  cudaHostNodeParams host = {AddOne, &calls};
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  cudaGraphNode_t child = nullptr;
  cudaGraph_t embedded = nullptr;
  EXPECT_OK(cudaGraphCreate(&embedded, 0));
  cudaGraphNode_t inner = nullptr;
  EXPECT_OK(cudaGraphAddHostNode(&inner, embedded, nullptr, 0, &host));
  EXPECT_OK(cudaGraphAddChildGraphNode(&child, graph, &node, 1, embedded));
  cudaGraph_t inside = nullptr;
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(child, &inside));
  EXPECT(inside != embedded);
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(calls == 0);
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 2);
  EXPECT_OK(cudaGraphDestroy(embedded));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphLaunch(exec, stream));  // an exec outlives its graph
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 4);
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

// effect: cudaGraphNodeFindInClone
CASE(KernelsByParams) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = dim3(2);
  params.blockDim = dim3(64);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void*>(Touch);
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(32);
  any.kernel.kernelParams = arguments;
  cudaGraphNode_t second = nullptr;
  EXPECT_OK(cudaGraphAddNode(&second, graph, &node, nullptr, 1, &any));

  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  cudaGraphNode_t copy = nullptr;
  EXPECT_OK(cudaGraphNodeFindInClone(&copy, second, clone));
  EXPECT(copy != second);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&copy, copy, clone));
  EXPECT_OK(cudaGraphDestroy(graph));
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(clone, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cudaGraphDestroy(clone));
}

CASE(ALaunchEndsACapture) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  AddEmpty(graph);
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, stream));
  cudaGraph_t outer = nullptr;
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &outer));
  EXPECT(outer == nullptr);
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaGraphUpload(exec, stream));
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &outer));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  conformance::RunCases();
  return conformance::Finish("graph");
}
