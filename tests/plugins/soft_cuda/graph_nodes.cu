// Nodes by type: what each does at a launch, its parameters read back and replaced.
#include "kernels.h"
#include "words.h"

using namespace conformance;

__device__ unsigned variable[4];

namespace {

// effect: cudaGraphAddKernelNode cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetParams
CASE(Kernels) {
  cudaGraph_t graph = NewGraph();
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams params = TouchNode(arguments, 2);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  data = reinterpret_cast<float*>(8);  // the node has copied the arguments
  cudaKernelNodeParams got = {};
  EXPECT_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.func == reinterpret_cast<void*>(Touch) && got.gridDim.x == 2);
  EXPECT(*static_cast<float**>(got.kernelParams[0]) == nullptr);
  // llama.cpp writes there, and keeps the pointers from then on.
  void** const kept = got.kernelParams;
  *static_cast<float**>(kept[0]) = data;
  got.gridDim = dim3(5);
  EXPECT_OK(cudaGraphKernelNodeSetParams(node, &got));
  EXPECT(*static_cast<float**>(kept[0]) == data);
  EXPECT_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.gridDim.x == 5 && *static_cast<float**>(got.kernelParams[0]) == data);

  cudaKernelNodeParams wrong = params;
  wrong.blockDim = dim3(2048);
  EXPECT_FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &wrong));
  EXPECT_FAILS(cudaGraphKernelNodeSetParams(node, &wrong));
  wrong = params;
  wrong.func = nullptr;
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction,
               cudaGraphAddKernelNode(&node, graph, nullptr, 0, &wrong));
  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(empty, &got));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(empty, &params));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddMemsetNode cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams
CASE(Memsets) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddSetWords(graph, words, 7);
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 7);
  cudaMemsetParams params = SetWords(words, 9);
  EXPECT_OK(cudaGraphMemsetNodeSetParams(node, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 9);
  EXPECT_OK(cudaGraphMemsetNodeGetParams(node, &params));
  EXPECT(params.dst == words && params.value == 9 && params.width == 1);
  params.elementSize = 3;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(node, &params));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(empty, &params));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddMemcpyNode cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
// effect: cudaGraphAddMemcpyNode1D cudaGraphMemcpyNodeSetParams1D
CASE(Memcpys) {
  const unsigned values[2] = {21, 22};
  cudaGraph_t graph = NewGraph();
  const cudaMemcpy3DParms params = CopyOf(words, &values[0], 4, cudaMemcpyHostToDevice);
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t second = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &params));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&second, graph, &first, 1, words + 1, &values[1], 4,
                                     cudaMemcpyHostToDevice));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 21 && ReadWord(words + 1) == 22);
  const cudaMemcpy3DParms other = CopyOf(words, &values[1], 4, cudaMemcpyHostToDevice);
  EXPECT_OK(cudaGraphMemcpyNodeSetParams(first, &other));
  EXPECT_OK(
      cudaGraphMemcpyNodeSetParams1D(second, words + 1, &values[0], 4, cudaMemcpyHostToDevice));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 22 && ReadWord(words + 1) == 21);
  cudaMemcpy3DParms got = {};
  EXPECT_OK(cudaGraphMemcpyNodeGetParams(second, &got));
  EXPECT(got.srcPtr.ptr == &values[0] && got.extent.width == 4);

  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&first, graph, nullptr, 1, &params));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddMemcpyNode1D(&first, graph, nullptr, 1, words, &values[0], 4,
                                        cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams(empty, &other));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphMemcpyNodeSetParams1D(empty, words, &values[0], 4, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeGetParams(empty, &got));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemcpyNodeFromSymbol
// effect: cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemcpyNodeSetParamsFromSymbol
CASE(Symbols) {
  const unsigned values[2] = {31, 32};
  unsigned read = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t to = nullptr;
  cudaGraphNode_t from = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, &values[0], 4, 4,
                                           cudaMemcpyHostToDevice));
  EXPECT_OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &read, variable, 4, 4,
                                             cudaMemcpyDeviceToHost));
  RunOnce(graph, stream);
  EXPECT(read == 31);
  EXPECT_OK(
      cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, &values[1], 4, 8, cudaMemcpyHostToDevice));
  EXPECT_OK(
      cudaGraphMemcpyNodeSetParamsFromSymbol(from, &read, variable, 4, 8, cudaMemcpyDeviceToHost));
  RunOnce(graph, stream);
  EXPECT(read == 32);
  const int unknown = 0;
  EXPECT_ERROR(cudaErrorInvalidSymbol,
               cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, &unknown, values, 4, 0,
                                              cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidSymbol,
               cudaGraphAddMemcpyNodeFromSymbol(&to, graph, nullptr, 0, &read, &unknown, 4, 0,
                                                cudaMemcpyDeviceToHost));
  EXPECT_FAILS(
      cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, values, 4, 16, cudaMemcpyHostToDevice));
  EXPECT_FAILS(
      cudaGraphMemcpyNodeSetParamsFromSymbol(from, &read, variable, 4, 16, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddHostNode cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams
CASE(Hosts) {
  int first = 0;
  int second = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddCounter(graph, &first);
  RunOnce(graph, stream);
  EXPECT(first == 1);
  cudaHostNodeParams params = {AddOne, &second};
  EXPECT_OK(cudaGraphHostNodeSetParams(node, &params));
  params = {};
  EXPECT_OK(cudaGraphHostNodeGetParams(node, &params));
  EXPECT(params.fn == AddOne && params.userData == &second);
  RunOnce(graph, stream);
  EXPECT(first == 1 && second == 1);
  params.fn = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphHostNodeSetParams(node, &params));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, nullptr, 0, &params));
  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphHostNodeGetParams(empty, &params));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddEventRecordNode cudaGraphEventRecordNodeGetEvent
// effect: cudaGraphEventRecordNodeSetEvent cudaGraphAddEventWaitNode
// effect: cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
CASE(Events) {
  cudaEvent_t first, second, start;
  EXPECT_OK(cudaEventCreate(&first));
  EXPECT_OK(cudaEventCreate(&second));
  EXPECT_OK(cudaEventCreate(&start));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t record = nullptr;
  cudaGraphNode_t wait = nullptr;
  EXPECT_OK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, first));
  EXPECT_OK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, first));
  cudaEvent_t got = nullptr;
  EXPECT_OK(cudaGraphEventRecordNodeGetEvent(record, &got));
  EXPECT(got == first);
  EXPECT_OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == first);
  EXPECT_OK(cudaGraphEventRecordNodeSetEvent(record, second));
  EXPECT_OK(cudaGraphEventWaitNodeSetEvent(wait, start));
  EXPECT_OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == start);
  EXPECT_OK(cudaEventRecord(start, stream));
  RunOnce(graph, stream);
  float ms = -1;
  EXPECT_OK(cudaEventElapsedTime(&ms, start, second));  // the launch recorded the second event
  EXPECT(ms >= 0);
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, first));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeGetEvent(wait, &got));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(record, &got));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeSetEvent(wait, first));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphEventWaitNodeSetEvent(record, first));
  EXPECT_FAILS(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, nullptr));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaEventDestroy(first));
  EXPECT_OK(cudaEventDestroy(second));
  EXPECT_OK(cudaEventDestroy(start));
}

// effect: cudaGraphAddNode cudaGraphNodeSetParams
CASE(AnyType) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeMemset;
  params.memset.dst = words;
  params.memset.value = 41;
  params.memset.elementSize = 4;
  params.memset.width = 1;
  params.memset.height = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 41);
  params.memset.value = 42;
  EXPECT_OK(cudaGraphNodeSetParams(node, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 42);
  cudaGraphNodeParams host = {};
  host.type = cudaGraphNodeTypeHost;
  host.host.fn = AddOne;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetParams(node, &host));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 1, &params));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphAddEmptyNode cudaGraphNodeGetType
CASE(Empty) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = AddEmpty(graph);
  cudaGraphNodeType type;
  EXPECT_OK(cudaGraphNodeGetType(node, &type));
  EXPECT(type == cudaGraphNodeTypeEmpty);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetType(node, nullptr));
  const cudaGraphNode_t twice[] = {node, node};
  cudaGraphNode_t other = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&other, graph, twice, 2));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() { return RunOnWords("graph_nodes"); }
