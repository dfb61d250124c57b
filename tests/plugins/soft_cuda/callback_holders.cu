// A program whose callbacks callback_holders.expected lists: child, conditional and memory nodes,
// new parameters and an update of an exec.
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

CASE(Children) {
  cudaGraph_t child = NewGraph();
  AddEmpty(child);
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(child));
}

CASE(Conditionals) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
                                             cudaGraphCondAssignDefault));
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  AddEmpty(params.conditional.phGraph_out[0]);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(Memory) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, 4096, &alloc);
  AddFree(graph, memory, {alloc});
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(Changes) {
  cudaGraph_t graph = NewGraph();
  int counter = 0;
  cudaGraphNode_t node = AddCounter(graph, &counter);
  cudaGraphExec_t exec = Instantiate(graph);
  const cudaHostNodeParams params = {AddOne, &counter};
  EXPECT_OK(cudaGraphExecHostNodeSetParams(exec, node, &params));
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_OK(cudaGraphExecUpdate(exec, graph, &info));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  RunCases();
  return Finish("callback_holders");
}
