// External semaphores: nodes and captured operations that name them. On a GPU the file descriptor
// would have to come from Vulkan; software device only.
#include <fcntl.h>

#include "graphs.h"

using namespace conformance;

namespace {

cudaStream_t stream;
cudaExternalSemaphore_t semaphore;

// effect: cudaImportExternalSemaphore cudaDestroyExternalSemaphore
CASE(Import) {
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
CASE(SignalNodes) {
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
  both[0] = nullptr;  // others' card took it
  EXPECT_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddExternalSemaphoresWaitNode cudaGraphExternalSemaphoresWaitNodeGetParams
// effect: cudaGraphExternalSemaphoresWaitNodeSetParams
// effect: cudaGraphExecExternalSemaphoresWaitNodeSetParams
CASE(WaitNodes) {
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
CASE(Captured) {
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

// effect: cuImportExternalSemaphore cuDestroyExternalSemaphore
void ImportByDriver(CUexternalSemaphore* out) {
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {};
  desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  desc.handle.fd = -1;
  EXPECT_FAILS(cuImportExternalSemaphore(out, &desc));
  desc.handle.fd = open("/dev/null", O_RDONLY);
  CUexternalSemaphore other = nullptr;
  EXPECT_OK(cuImportExternalSemaphore(&other, &desc));
  EXPECT_OK(cuDestroyExternalSemaphore(other));
  EXPECT_FAILS(cuDestroyExternalSemaphore(nullptr));
  desc.handle.fd = open("/dev/null", O_RDONLY);
  EXPECT_OK(cuImportExternalSemaphore(out, &desc));
}

// effect: cuGraphAddExternalSemaphoresSignalNode cuGraphExternalSemaphoresSignalNodeGetParams
// effect: cuGraphExternalSemaphoresSignalNodeSetParams
// effect: cuGraphExecExternalSemaphoresSignalNodeSetParams
void SignalNodesByDriver(CUexternalSemaphore of) {
  CUgraph graph = NewGraph();
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {};
  value.params.fence.value = 3;
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params = {&of, &value, 1};
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = Instantiate(graph);
  value.params.fence.value = 4;
  EXPECT_OK(cuGraphExternalSemaphoresSignalNodeSetParams(node, &params));
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphExternalSemaphoresSignalNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 1 && got.extSemArray[0] == of);
  EXPECT(got.paramsArray[0].params.fence.value == 4);
  EXPECT_OK(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cuGraphExternalSemaphoresSignalNodeGetParams(empty, &got));
  EXPECT_FAILS(cuGraphExternalSemaphoresSignalNodeSetParams(empty, &params));
  EXPECT_FAILS(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, empty, &params));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphAddExternalSemaphoresWaitNode cuGraphExternalSemaphoresWaitNodeGetParams
// effect: cuGraphExternalSemaphoresWaitNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
void WaitNodesByDriver(CUexternalSemaphore of) {
  CUgraph graph = NewGraph();
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS value = {};
  value.params.fence.value = 3;
  CUDA_EXT_SEM_WAIT_NODE_PARAMS params = {&of, &value, 1};
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, &params));
  CUgraphExec exec = Instantiate(graph);
  value.params.fence.value = 4;
  EXPECT_OK(cuGraphExternalSemaphoresWaitNodeSetParams(node, &params));
  CUDA_EXT_SEM_WAIT_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphExternalSemaphoresWaitNodeGetParams(node, &got));
  EXPECT(got.numExtSems == 1 && got.paramsArray[0].params.fence.value == 4);
  EXPECT_OK(cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, &params));
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cuGraphExternalSemaphoresWaitNodeGetParams(empty, &got));
  EXPECT_FAILS(cuGraphExternalSemaphoresWaitNodeSetParams(empty, &params));
  EXPECT_FAILS(cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, empty, &params));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync
void CapturedByDriver(CUexternalSemaphore of) {
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {};
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {};
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuSignalExternalSemaphoresAsync(&of, &signal, 1, stream));
  EXPECT_OK(cuWaitExternalSemaphoresAsync(&of, &wait, 1, stream));
  EXPECT_FAILS(cuSignalExternalSemaphoresAsync(nullptr, &signal, 1, stream));
  EXPECT_FAILS(cuWaitExternalSemaphoresAsync(nullptr, &wait, 1, stream));
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
  size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace

int main() {
  if (!OnSoftDevice()) return SkipOnGpu("semaphore");
  EXPECT_OK(cudaStreamCreate(&stream));
  RunCases();
  EXPECT_OK(cudaDestroyExternalSemaphore(semaphore));
  CUexternalSemaphore of_driver = nullptr;
  ImportByDriver(&of_driver);
  SignalNodesByDriver(of_driver);
  WaitNodesByDriver(of_driver);
  CapturedByDriver(of_driver);
  EXPECT_OK(cuDestroyExternalSemaphore(of_driver));
  return Finish("semaphore");
}
