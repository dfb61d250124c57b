// New parameters for single nodes of an exec: they change its next launch, and not the graph.
#include "kernels.h"
#include "words.h"

using namespace conformance;

__device__ unsigned variable[4];

namespace {

// effect: cudaGraphExecKernelNodeSetParams
CASE(Kernels) {
  cudaGraph_t graph = NewGraph();
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams params = TouchNode(arguments, 2);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  cudaGraphExec_t exec = Instantiate(graph);
  params.gridDim = dim3(3);
  EXPECT_OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
  cudaKernelNodeParams got = {};
  EXPECT_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.gridDim.x == 2);
  params.func = nullptr;
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction,
               cudaGraphExecKernelNodeSetParams(exec, node, &params));
  ON_SOFT(
      EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, node, nullptr)));
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphExecMemsetNodeSetParams cudaGraphExecNodeSetParams
CASE(Memsets) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddSetWords(graph, words, 1);
  cudaGraphNode_t late = nullptr;
  cudaGraphExec_t exec = Instantiate(graph);
  cudaMemsetParams params = SetWords(words + 1, 2);
  EXPECT_OK(cudaGraphExecMemsetNodeSetParams(exec, node, &params));
  EXPECT_OK(cudaMemset(words, 0, 64));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 0 && ReadWord(words + 1) == 2);
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset;
  any.memset.dst = words + 2;
  any.memset.value = 3;
  any.memset.elementSize = 4;
  any.memset.width = any.memset.height = 1;
  EXPECT_OK(cudaGraphExecNodeSetParams(exec, node, &any));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words + 2) == 3);
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 1);

  late = AddSetWords(graph, words, 1);  // not in the exec
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, late, &params));
  params.height = 2;
  params.pitch = 8;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
  any.type = cudaGraphNodeTypeEmpty;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec, node, &any));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
CASE(Memcpys) {
  const unsigned values[2] = {51, 52};
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, words, &values[0], 4,
                                     cudaMemcpyHostToDevice));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(
      cudaGraphExecMemcpyNodeSetParams1D(exec, node, words, &values[1], 4, cudaMemcpyHostToDevice));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 52);
  cudaMemcpy3DParms params = CopyOf(words + 1, &values[0], 4, cudaMemcpyHostToDevice);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words + 1) == 51);

  params.extent = make_cudaExtent(4, 2, 1);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
  EXPECT_ERROR(
      cudaErrorInvalidValue,
      cudaGraphExecMemcpyNodeSetParams1D(exec, node, words, &values[1], 0, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphExecMemcpyNodeSetParams1D(exec, node, words, words + 1, 4,
                                                  cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemcpyNodeSetParamsFromSymbol
CASE(Symbols) {
  const unsigned values[2] = {61, 62};
  unsigned read = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t to = nullptr;
  cudaGraphNode_t from = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, &values[0], 4, 0,
                                           cudaMemcpyHostToDevice));
  EXPECT_OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &read, variable, 4, 0,
                                             cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, &values[1], 4, 4,
                                                     cudaMemcpyHostToDevice));
  LaunchAndWait(exec, stream);
  EXPECT(read == 0);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &read, variable, 4, 4,
                                                       cudaMemcpyDeviceToHost));
  LaunchAndWait(exec, stream);
  EXPECT(read == 62);
  EXPECT_FAILS(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, values, 4, 16,
                                                        cudaMemcpyHostToDevice));
  EXPECT_FAILS(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &read, variable, 4, 16,
                                                          cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphExecHostNodeSetParams
CASE(Hosts) {
  int first = 0;
  int second = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddCounter(graph, &first);
  cudaGraphExec_t exec = Instantiate(graph);
  cudaHostNodeParams params = {AddOne, &second};
  EXPECT_OK(cudaGraphExecHostNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  EXPECT(first == 0 && second == 1);
  params.fn = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecHostNodeSetParams(exec, node, &params));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
CASE(Events) {
  cudaEvent_t first, second;
  EXPECT_OK(cudaEventCreate(&first));
  EXPECT_OK(cudaEventCreate(&second));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t record = nullptr;
  cudaGraphNode_t wait = nullptr;
  EXPECT_OK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, first));
  EXPECT_OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, first));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
  EXPECT_OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, second));
  LaunchAndWait(exec, stream);
  float ms = -1;
  EXPECT_OK(cudaEventElapsedTime(&ms, second, second));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, first, second));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(exec, wait, first));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecEventWaitNodeSetEvent(exec, record, first));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaEventDestroy(first));
  EXPECT_OK(cudaEventDestroy(second));
}

// effect: cudaGraphExecChildGraphNodeSetParams
CASE(Children) {
  cudaGraph_t child = NewGraph();
  AddSetWords(child, words, 71);
  cudaGraph_t other = NewGraph();
  AddSetWords(other, words, 72);
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, other));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 72);
  AddEmpty(other);
  EXPECT_FAILS(cudaGraphExecChildGraphNodeSetParams(exec, node, other));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 72);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t g : {child, other, graph}) EXPECT_OK(cudaGraphDestroy(g));
}

// effect: cudaGraphNodeSetEnabled cudaGraphNodeGetEnabled
CASE(Enabled) {
  int counter = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddSetWords(graph, words, 81);
  cudaGraphNode_t host = AddCounter(graph, &counter, {node});
  cudaGraphExec_t exec = Instantiate(graph);
  unsigned enabled = 0;
  EXPECT_OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT(enabled == 1);
  EXPECT_OK(cudaGraphNodeSetEnabled(exec, node, 0));
  EXPECT_OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT(enabled == 0);
  EXPECT_OK(cudaMemset(words, 0, 4));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 0 && counter == 1);
  EXPECT_OK(cudaGraphNodeSetEnabled(exec, node, 1));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 81 && counter == 2);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, host, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, host, &enabled));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() { return RunOnWords("exec_params"); }
