// A WHILE node whose handle starts at 1. Where a kernel of the graph has the handle, it would end
// the loop on a GPU: here the body is run once. Where none has it, the launch says that it would
// never end. A host node may set a handle on the software device. Software device only.
#include <dlfcn.h>

#include "conformance.h"

namespace {

// Would count down and call cudaGraphSetConditional, which needs the device runtime.
__global__ void EndLoop(int* steps, cudaGraphConditionalHandle) { --*steps; }

struct Made {
  cudaGraph_t graph;
  cudaGraph_t body;
  cudaGraphConditionalHandle handle;
};

unsigned* marks;  // on the device; the body writes the first

Made MakeLoop(unsigned value, cudaGraphConditionalNodeType type, cudaGraphNode_t after = nullptr,
              cudaGraph_t graph = nullptr) {
  Made made = {graph, nullptr, 0};
  if (graph == nullptr) EXPECT_OK(cudaGraphCreate(&made.graph, 0));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&made.handle, made.graph, value,
                                             cudaGraphCondAssignDefault));
  params.conditional.handle = made.handle;
  params.conditional.type = type;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, made.graph, &after, nullptr, after != nullptr, &params));
  made.body = params.conditional.phGraph_out[0];
  cudaMemsetParams set = {};
  set.dst = marks;
  set.value = 7;
  set.elementSize = 4;
  set.width = 1;
  set.height = 1;
  EXPECT_OK(cudaGraphAddMemsetNode(&node, made.body, nullptr, 0, &set));
  return made;
}

bool BodyRan(cudaGraphExec_t exec) {
  EXPECT_OK(cudaMemset(marks, 0, sizeof *marks));
  EXPECT_OK(cudaGraphLaunch(exec, nullptr));
  unsigned mark = 0;
  EXPECT_OK(cudaMemcpy(&mark, marks, sizeof mark, cudaMemcpyDeviceToHost));
  return mark == 7;
}

CASE(EndedByAKernel) {
  const Made made = MakeLoop(1, cudaGraphCondTypeWhile);
  int* steps = nullptr;
  cudaGraphConditionalHandle handle = made.handle;
  void* arguments[] = {&steps, &handle};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(EndLoop);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, made.body, nullptr, 0, &kernel));
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, made.graph, 0));
  EXPECT(BodyRan(exec));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(made.graph));
}

struct Choice {
  cudaGraphConditionalHandle handle;
  unsigned value;
};

void Set(void* data) {
  const auto set = reinterpret_cast<void (*)(unsigned long long, unsigned)>(
      dlsym(RTLD_DEFAULT, "graphkit_soft_set_conditional"));
  EXPECT(set != nullptr);
  const auto* choice = static_cast<const Choice*>(data);
  if (set != nullptr) set(choice->handle, choice->value);
}

CASE(SetByAHostNode) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  Choice choice = {};
  cudaHostNodeParams params = {Set, &choice};
  cudaGraphNode_t host = nullptr;
  EXPECT_OK(cudaGraphAddHostNode(&host, graph, nullptr, 0, &params));
  choice.handle = MakeLoop(0, cudaGraphCondTypeIf, host, graph).handle;
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (const unsigned value : {0u, 1u, 0u}) {
    choice.value = value;
    EXPECT(BodyRan(exec) == (value != 0));
  }
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&marks, sizeof *marks));
  conformance::RunCases();
  const Made made = MakeLoop(1, cudaGraphCondTypeWhile);
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, made.graph, 0));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaGraphLaunch(exec, nullptr));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaGraphLaunch(exec, nullptr));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(made.graph));
  EXPECT_OK(cudaFree(marks));
  return conformance::Finish("endless_while");
}
