// A WHILE node whose handle starts at 1: on a GPU a kernel would end the loop. Here none runs,
// which the launch says. Software device only.
#include "conformance.h"

int main() {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
                                             cudaGraphCondAssignDefault));
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaGraphLaunch(exec, nullptr));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaGraphLaunch(exec, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  return conformance::Finish("endless_while");
}
