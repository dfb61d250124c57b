// External semaphores: nodes and captured operations that name them. On a GPU the file descriptor
// would have to come from Vulkan; software device only.
#include <fcntl.h>

#include "graphs.h"

using namespace conformance;

namespace {

cudaStream_t stream;
cudaExternalSemaphore_t semaphore;

// effect: cudaImportExternalSemaphore cudaDestroyExternalSemaphore
void Import() {
  cudaExternalSemaphoreHandleDesc desc = {};
  desc.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
  desc.handle.fd = -1;
  EXPECT_FAILS(cudaImportExternalSemaphore(&semaphore, &desc));
  desc.handle.fd = open("/dev/null", O_RDONLY);
  EXPECT_OK(cudaImportExternalSemaphore(&semaphore, &desc));
  EXPECT_FAILS(cudaDestroyExternalSemaphore(nullptr));
}

// effect: cudaGraphAddExternalSemaphoresSignalNode cudaGraphExternalSemaphoresSignalNodeGetParams
// effect: cudaGraphExternalSemaphoresSignalNodeSetParams
// effect: cudaGraphExecExternalSemaphoresSignalNodeSetParams
void SignalNodes() {
  cudaGraph_t graph = NewGraph();
  cudaExternalSemaphoreSignalParams values[2] = {};
  values[0].params.fence.value = 3;
  cudaExternalSemaphore_t both[2] = {semaphore, semaphore};
  cudaExternalSemaphoreSignalNodeParams params = {both, values, 1};
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
  cudaExternalSemaphoreSignalNodeParams got = {};
  EXPECT_OK(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 1 && got.extSemArray[0] == semaphore);
  EXPECT(got.paramsArray[0].params.fence.value == 3);
  cudaGraphExec_t exec = Instantiate(graph);
  values[0].params.fence.value = 4;
  EXPECT_OK(cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  params.numExtSems = 2;
  EXPECT_OK(cudaGraphExternalSemaphoresSignalNodeSetParams(node, &params));
  EXPECT_OK(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 2);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
  EXPECT_FAILS(cudaGraphExternalSemaphoresSignalNodeGetParams(AddEmpty(graph), &got));
  EXPECT_FAILS(cudaGraphExternalSemaphoresSignalNodeSetParams(AddEmpty(graph), &params));
  both[0] = nullptr;  // which others' card took
  EXPECT_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddExternalSemaphoresWaitNode cudaGraphExternalSemaphoresWaitNodeGetParams
// effect: cudaGraphExternalSemaphoresWaitNodeSetParams
// effect: cudaGraphExecExternalSemaphoresWaitNodeSetParams
void WaitNodes() {
  cudaGraph_t graph = NewGraph();
  cudaExternalSemaphoreWaitParams values[2] = {};
  values[0].params.fence.value = 3;
  cudaExternalSemaphore_t both[2] = {semaphore, semaphore};
  cudaExternalSemaphoreWaitNodeParams params = {both, values, 1};
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params));
  cudaExternalSemaphoreWaitNodeParams got = {};
  EXPECT_OK(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 1 && got.paramsArray[0].params.fence.value == 3);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, &params));
  params.numExtSems = 2;
  EXPECT_OK(cudaGraphExternalSemaphoresWaitNodeSetParams(node, &params));
  EXPECT_OK(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 2);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, &params));
  EXPECT_FAILS(cudaGraphExternalSemaphoresWaitNodeGetParams(AddEmpty(graph), &got));
  EXPECT_FAILS(cudaGraphExternalSemaphoresWaitNodeSetParams(AddEmpty(graph), &params));
  both[0] = nullptr;
  EXPECT_OK(cudaGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaSignalExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync
void Captured() {
  cudaExternalSemaphoreSignalParams signal = {};
  cudaExternalSemaphoreWaitParams wait = {};
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1, stream));
  EXPECT_OK(cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream));
  const cudaExternalSemaphore_t none = nullptr;
  EXPECT_FAILS(cudaSignalExternalSemaphoresAsync(&none, &signal, 1, stream));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 0, stream));
  EXPECT_FAILS(cudaWaitExternalSemaphoresAsync(&none, &wait, 1, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t nodes[2];
  size_t count = 2;
  EXPECT_OK(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphNodeType types[2];
  for (int i = 0; i < 2; ++i) EXPECT_OK(cudaGraphNodeGetType(nodes[i], &types[i]));
  EXPECT(types[0] == cudaGraphNodeTypeExtSemaphoreSignal);
  EXPECT(types[1] == cudaGraphNodeTypeExtSemaphoreWait);
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  Import();
  SignalNodes();
  WaitNodes();
  Captured();
  EXPECT_OK(cudaDestroyExternalSemaphore(semaphore));
  return Finish("semaphore");
}
