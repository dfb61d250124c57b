// Graphs through the driver API: batch memory operations, which only it has, and its entry points
// of older signatures.
#include "kernels.h"
#include "words.h"

using namespace conformance;

namespace {

CUstreamBatchMemOpParams Write(unsigned* to, unsigned value) {
  CUstreamBatchMemOpParams op = {};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = reinterpret_cast<CUdeviceptr>(to);
  op.writeValue.value = value;
  return op;
}

CUstreamBatchMemOpParams Wait(unsigned* at, unsigned value, unsigned flags) {
  CUstreamBatchMemOpParams op = {};
  op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = reinterpret_cast<CUdeviceptr>(at);
  op.waitValue.value = value;
  op.waitValue.flags = flags;
  return op;
}

// effect: cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
// effect: cuGraphExecBatchMemOpNodeSetParams cuCtxGetCurrent
CASE(BatchMemOps) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT(context != nullptr);
  CUstreamBatchMemOpParams ops[2] = {Write(words, 5), Wait(words, 4, CU_STREAM_WAIT_VALUE_GEQ)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 2, ops, 0};
  cudaGraph_t graph = NewGraph();
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 5);
  CUDA_BATCH_MEM_OP_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphBatchMemOpNodeGetParams(node, &got));
  EXPECT(got.count == 2 && got.paramArray[0].writeValue.value == 5 && got.ctx == context);
  cudaGraphExec_t exec = Instantiate(graph);
  ops[0].writeValue.value = 6;
  EXPECT_OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 6);
  ops[0].writeValue.value = 7;
  EXPECT_OK(cuGraphBatchMemOpNodeSetParams(node, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 7);

  params.count = 1;
  EXPECT_FAILS(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  params.paramArray = nullptr;
  EXPECT_FAILS(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  EXPECT_FAILS(cuGraphBatchMemOpNodeSetParams(node, &params));
  EXPECT_FAILS(cuGraphBatchMemOpNodeGetParams(AddEmpty(graph), &got));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cuGraphCreate cuGraphDestroy cuGraphAddEmptyNode cuGraphAddDependencies
// effect: cuGraphGetNodes cuGraphGetRootNodes cuGraphGetEdges cuGraphNodeGetType
// effect: cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphRemoveDependencies
// effect: cuGraphDestroyNode cuGraphClone cuGraphNodeFindInClone
CASE(Structure) {
  CUgraph graph = nullptr;
  EXPECT_OK(cuGraphCreate(&graph, 0));
  CUgraphNode a = nullptr;
  CUgraphNode b = nullptr;
  EXPECT_OK(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
  EXPECT_OK(cuGraphAddEmptyNode(&b, graph, nullptr, 0));
  EXPECT_OK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
  size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 1);
  CUgraphNode from = nullptr;
  CUgraphNode to = nullptr;
  EXPECT_OK(cuGraphGetEdges(graph, &from, &to, nullptr, &count));
  EXPECT(count == 1 && from == a && to == b);
  EXPECT_OK(cuGraphNodeGetDependencies(b, &from, nullptr, &count));
  EXPECT(count == 1 && from == a);
  EXPECT_OK(cuGraphNodeGetDependentNodes(a, &to, nullptr, &count));
  EXPECT(count == 1 && to == b);
  CUgraphNodeType type;
  EXPECT_OK(cuGraphNodeGetType(a, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_EMPTY);
  CUgraph clone = nullptr;
  CUgraphNode copy = nullptr;
  EXPECT_OK(cuGraphClone(&clone, graph));
  EXPECT_OK(cuGraphNodeFindInClone(&copy, b, clone));
  EXPECT(copy != nullptr && copy != b);
  EXPECT_OK(cuGraphDestroy(clone));
  EXPECT_OK(cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
  EXPECT_OK(cuGraphDestroyNode(b));
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 1);

  EXPECT_FAILS(cuGraphCreate(&clone, 1));
  EXPECT_FAILS(cuGraphDestroy(nullptr));
  EXPECT_FAILS(cuGraphAddEmptyNode(&b, nullptr, nullptr, 0));
  EXPECT_FAILS(cuGraphGetNodes(graph, nullptr, nullptr));
  EXPECT_FAILS(cuGraphGetRootNodes(graph, nullptr, nullptr));
  EXPECT_FAILS(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetDependencies(a, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetDependentNodes(a, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuGraphNodeGetType(a, nullptr));
  EXPECT_FAILS(cuGraphClone(nullptr, graph));
  EXPECT_FAILS(cuGraphNodeFindInClone(&copy, a, graph));
  EXPECT_FAILS(cuGraphDestroyNode(nullptr));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphAddMemsetNode cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams
// effect: cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphExecMemsetNodeSetParams
// effect: cuGraphLaunch cuGraphExecUpdate cuGraphExecGetFlags cuGraphExecDestroy cuGraphUpload
// effect: cuGraphNodeSetEnabled cuGraphNodeGetEnabled
CASE(Execs) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT_FAILS(cuCtxGetCurrent(nullptr));
  CUDA_MEMSET_NODE_PARAMS set = {reinterpret_cast<CUdeviceptr>(words), 0, 1, 4, 1, 1};
  cudaGraph_t graph = NewGraph();
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, context));
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_OK(cuGraphUpload(exec, stream));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT(ReadWord(words) == 1);
  set.value = 2;
  EXPECT_OK(cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT(ReadWord(words) == 2);
  set.value = 3;
  EXPECT_OK(cuGraphMemsetNodeSetParams(node, &set));
  EXPECT_OK(cuGraphMemsetNodeGetParams(node, &set));
  EXPECT(set.value == 3);
  CUgraphExecUpdateResultInfo info = {};
  EXPECT_OK(cuGraphExecUpdate(exec, graph, &info));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT(ReadWord(words) == 3);
  unsigned enabled = 1;
  EXPECT_OK(cuGraphNodeSetEnabled(exec, node, 0));
  EXPECT_OK(cuGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT(enabled == 0);
  cuuint64_t flags = 1;
  EXPECT_OK(cuGraphExecGetFlags(exec, &flags));
  EXPECT(flags == 0);
  EXPECT_OK(cuGraphExecDestroy(exec));
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  EXPECT_OK(cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);

  cudaGraph_t other = NewGraph();
  EXPECT_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
  CUgraphNode empty = AddEmpty(other);
  set.elementSize = 3;
  EXPECT_FAILS(cuGraphAddMemsetNode(&empty, graph, nullptr, 0, &set, context));
  EXPECT_FAILS(cuGraphMemsetNodeSetParams(node, &set));
  EXPECT_FAILS(cuGraphMemsetNodeGetParams(empty, &set));
  EXPECT_FAILS(cuGraphExecMemsetNodeSetParams(exec, empty, &set, context));
  EXPECT_FAILS(cuGraphNodeSetEnabled(exec, empty, 0));
  EXPECT_FAILS(cuGraphNodeGetEnabled(exec, empty, &enabled));
  EXPECT_FAILS(cuGraphInstantiateWithFlags(&exec, graph, 1ull << 40));
  EXPECT_FAILS(cuGraphInstantiateWithParams(&exec, nullptr, &params));
  EXPECT_FAILS(cuGraphLaunch(nullptr, stream));
  EXPECT_FAILS(cuGraphUpload(nullptr, stream));
  EXPECT_FAILS(cuGraphExecGetFlags(nullptr, &flags));
  EXPECT_FAILS(cuGraphExecDestroy(nullptr));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
}

}  // namespace

int main() { return RunOnWords("graph_driver"); }
