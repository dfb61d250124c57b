// Updates of an exec by a graph, the result of each kind of difference, and what an instantiation
// accepts.
#include "kernels.h"
#include "words.h"

using namespace conformance;

namespace {

cudaGraphExecUpdateResultInfo Refuse(cudaGraphExec_t exec, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &info));
  return info;
}

// effect: cudaGraphExecUpdate
CASE(SameShape) {
  cudaGraph_t graph = NewGraph();
  AddSetWords(graph, words, 1);
  cudaGraph_t other = NewGraph();
  AddSetWords(other, words, 2);
  cudaGraphExec_t exec = Instantiate(graph);
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_OK(cudaGraphExecUpdate(exec, other, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 2);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
}

CASE(OtherShapes) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t a = AddEmpty(graph);
  cudaGraphNode_t b = AddEmpty(graph, {a});
  AddEmpty(graph, {b});
  cudaGraphExec_t exec = Instantiate(graph);

  cudaGraph_t more = NewGraph();
  for (int i = 0; i < 4; ++i) AddEmpty(more);
  cudaGraphExecUpdateResultInfo info = Refuse(exec, more);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == nullptr);

  cudaGraph_t fewer = NewGraph();
  AddEmpty(fewer, {AddEmpty(fewer)});
  info = Refuse(exec, fewer);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged && info.errorNode == nullptr);

  cudaGraph_t fewer_edges = NewGraph();
  a = AddEmpty(fewer_edges);
  b = AddEmpty(fewer_edges, {a});
  cudaGraphNode_t c = AddEmpty(fewer_edges);
  info = Refuse(exec, fewer_edges);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT(info.errorNode == b || info.errorNode == c);  // a node without dependents

  cudaGraph_t other_type = NewGraph();
  a = AddEmpty(other_type);
  int counter = 0;
  cudaGraphNode_t host = AddCounter(other_type, &counter, {a});
  AddEmpty(other_type, {host});
  info = Refuse(exec, other_type);
  EXPECT(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == host);
  LaunchAndWait(exec, stream);
  EXPECT(counter == 0);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t g : {graph, more, fewer, fewer_edges, other_type})
    EXPECT_OK(cudaGraphDestroy(g));
}

CASE(OtherParameters) {
  unsigned host = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, words, words + 1, 4,
                                     cudaMemcpyDeviceToDevice));
  cudaGraph_t other = NewGraph();
  EXPECT_OK(
      cudaGraphAddMemcpyNode1D(&node, other, nullptr, 0, words, &host, 4, cudaMemcpyHostToDevice));
  cudaGraphExec_t exec = Instantiate(graph);
  const cudaGraphExecUpdateResultInfo info = Refuse(exec, other);
  EXPECT(info.result == cudaGraphExecUpdateErrorParametersChanged && info.errorNode == node);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
}

cudaGraphNode_t AddKernel(cudaGraph_t graph, int cooperative) {
  float* data = nullptr;
  void* arguments[] = {&data};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = dim3(1);
  params.blockDim = dim3(32);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  cudaKernelNodeAttrValue value = {};
  value.cooperative = cooperative;
  EXPECT_OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  return node;
}

CASE(OtherAttributes) {
  cudaGraph_t graph = NewGraph();
  AddKernel(graph, 0);
  cudaGraph_t other = NewGraph();
  cudaGraphNode_t node = AddKernel(other, 1);
  cudaGraphExec_t exec = Instantiate(graph);
  const cudaGraphExecUpdateResultInfo info = Refuse(exec, other);
  EXPECT(info.result == cudaGraphExecUpdateErrorAttributesChanged && info.errorNode == node);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
}

// effect: cudaGraphKernelNodeSetAttribute cudaGraphKernelNodeGetAttribute
// effect: cudaGraphKernelNodeCopyAttributes
CASE(Attributes) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t first = AddKernel(graph, 1);
  cudaGraphNode_t second = AddKernel(graph, 0);
  cudaKernelNodeAttrValue value = {};
  EXPECT_OK(cudaGraphKernelNodeGetAttribute(first, cudaLaunchAttributeCooperative, &value));
  EXPECT(value.cooperative == 1);
  EXPECT_OK(cudaGraphKernelNodeCopyAttributes(second, first));
  value = {};
  EXPECT_OK(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributeCooperative, &value));
  EXPECT(value.cooperative == 1);
  cudaGraphNode_t empty = AddEmpty(graph);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributeCooperative, &value));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphKernelNodeSetAttribute(empty, cudaLaunchAttributeCooperative, &value));
  EXPECT_FAILS(cudaGraphKernelNodeCopyAttributes(empty, first));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphInstantiate cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams
// effect: cudaGraphExecGetFlags cudaGraphExecDestroy
CASE(Instantiations) {
  int counter = 0;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t host = AddCounter(graph, &counter);
  cudaGraphExec_t exec = Instantiate(graph, cudaGraphInstantiateFlagUseNodePriority);
  unsigned long long flags = 0;
  EXPECT_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT(flags == 0);  // node priorities are not reported
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecGetFlags(nullptr, &flags));
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecDestroy(nullptr));
  EXPECT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  LaunchAndWait(exec, stream);
  EXPECT(counter == 2);
  EXPECT_OK(cudaGraphExecDestroy(exec));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 1ull << 40));
  const unsigned long long both =
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&exec, graph, both));

  cudaGraphInstantiateParams params = {};
  params.flags = cudaGraphInstantiateFlagUpload;
  params.uploadStream = stream;
  EXPECT_OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == cudaGraphInstantiateSuccess && params.errNode_out == nullptr);
  LaunchAndWait(exec, stream);
  EXPECT(counter == 3);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  params.flags = cudaGraphInstantiateFlagDeviceLaunch;  // a host node can't be launched there
  EXPECT_FAILS(cudaGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == cudaGraphInstantiateNodeOperationNotSupported);
  EXPECT(params.errNode_out == host);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphUpload cudaGraphLaunch
CASE(UploadAndLaunch) {
  int counter = 0;
  cudaGraph_t graph = NewGraph();
  AddCounter(graph, &counter);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphUpload(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(counter == 0);
  LaunchAndWait(exec, stream);
  EXPECT(counter == 1);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphUpload(nullptr, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() { return RunOnWords("exec_update"); }
