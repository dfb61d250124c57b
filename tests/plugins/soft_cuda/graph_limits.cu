// Calls that graphs refuse, and their errors, where headers leave them open. Sources, by check:
//   [1] others' record of an RTX 3060 (driver 13.2)
//   [2] hip-tests (ROCm/hip-tests), which run on NVIDIA GPUs as well: hipGraphAddMemAllocNode.cc
//   [3] hip-tests: hipGraphChildGraphNodeGetGraph.cc
//   [4] hip-tests: graph_memset_node_test_common.hh, graph_memcpy_to_from_symbol_common.hh,
//       hipGraphAddMemcpyNode.cc, hipGraphExecMemcpyNodeSetParams1D.cc,
//       hipGraphKernelNodeSetAttribute.cc
//   [5] the tests of cuda-python's bindings, and hip-tests: hipDeviceSetGraphMemAttribute.cc
#include <limits>
#include <tuple>

#include "code.h"
#include "conformance.h"
#include "graphs.h"
#include "kernels.h"

using namespace conformance;

__device__ int variable[4];

namespace {

cudaGraph_t AddBody(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphNode_t* node) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  EXPECT_OK(cudaGraphAddNode(node, graph, nullptr, nullptr, 0, &params));
  return params.conditional.phGraph_out != nullptr ? params.conditional.phGraph_out[0] : nullptr;
}

cudaGraphConditionalHandle Handle(cudaGraph_t graph) {
  cudaGraphConditionalHandle handle = 0;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  return handle;
}

// [1]
CASE(ConditionalGraphsHaveOneExec) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = AddBody(graph, Handle(graph), &node);
  AddEmpty(body);
  cudaGraphExec_t exec = Instantiate(graph);
  cudaGraphExec_t second = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, graph, 0));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, body, 0));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphExecDestroy(Instantiate(graph)));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// [1]
CASE(AHostNodeInABodyIsRefusedByTheInstantiation) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = AddBody(graph, Handle(graph), &node);
  int count = 0;
  AddCounter(body, &count);
  cudaGraphExec_t exec = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// [1]
CASE(AHandleWithoutItsNodeIsUnused) {
  cudaGraph_t graph = NewGraph();
  const cudaGraphConditionalHandle handle = Handle(graph);
  cudaGraphNode_t node = nullptr;
  AddBody(graph, handle, &node);
  EXPECT_OK(cudaGraphDestroyNode(node));
  cudaGraphExec_t exec = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  AddBody(graph, handle, &node);
  EXPECT_OK(cudaGraphExecDestroy(Instantiate(graph)));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// [2]
CASE(GraphsWithMemoryNodes) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t allocation = nullptr;
  void* memory = AddAllocation(graph, 1024, &allocation);
  cudaGraphNode_t after = AddEmpty(graph, {allocation});
  cudaGraphExec_t exec = Instantiate(graph);
  cudaGraphExec_t second = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, graph, 0));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  cudaGraph_t clone = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
  cudaGraph_t parent = NewGraph();
  cudaGraphNode_t child = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported,
               cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  EXPECT_OK(cudaGraphDestroy(parent));
  EXPECT_ERROR(cudaErrorNotSupported,
               cudaGraphRemoveDependencies(graph, &allocation, &after, nullptr, 1));
  cudaMemAllocNodeParams all = AllocationOf(std::numeric_limits<size_t>::max());
  EXPECT_ERROR(cudaErrorMemoryAllocation,
               cudaGraphAddMemAllocNode(&child, graph, nullptr, 0, &all));
  // Not after an exec was made of the graph.
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&child, graph, &after, 1, memory));
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(TheGraphOfAChildNodeCannotBeInstantiated) {
  cudaGraph_t source = NewGraph();
  AddEmpty(source);
  cudaGraph_t parent = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, source));
  cudaGraph_t inside = nullptr;
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
  cudaGraphExec_t exec = nullptr;
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&exec, inside, 0));
  EXPECT_OK(cudaGraphDestroy(parent));
  EXPECT_OK(cudaGraphDestroy(source));
}

// [1] A function of a driver module has no name in the runtime.
CASE(ParametersOfADriversFunction) {
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuModuleGetFunction(&add, module, "bounded"));
  void* pointer = nullptr;
  void* arguments[] = {&pointer};
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = add;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  cudaKernelNodeParams got = {};
  EXPECT_ERROR(cudaErrorInvalidDeviceFunction, cudaGraphKernelNodeGetParams(node, &got));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cuModuleUnload(module));
}

// [4]
CASE(SizesOfCopiesAndFills) {
  int* memory = nullptr;
  int host[4] = {};
  EXPECT_OK(cudaMalloc(&memory, sizeof host));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  const auto copy = [&](void* to, const void* from, size_t bytes) {
    return cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes, cudaMemcpyDefault);
  };
  EXPECT_OK(copy(memory, host, sizeof host));
  EXPECT_ERROR(cudaErrorInvalidValue, copy(memory, host, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, copy(memory, host, sizeof host + 1));
  EXPECT_ERROR(cudaErrorInvalidValue, copy(host, memory, sizeof host + 1));
  EXPECT_ERROR(cudaErrorInvalidValue, copy(memory + 1, host, sizeof host));
  cudaMemsetParams set = SetWords(memory, 0, 4);
  EXPECT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  const auto refused = [&](size_t width, size_t height, size_t pitch) {
    cudaMemsetParams wrong = set;
    wrong.width = width;
    wrong.height = height;
    wrong.pitch = pitch;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &wrong));
  };
  refused(0, 1, 0);
  refused(4, 0, 0);
  refused(5, 1, 0);
  refused(2, 2, 4);
  refused(2, 2, 12);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(memory));
}

// [4]
CASE(PitchesOfCopies) {
  int limit = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxPitch, 0));
  constexpr size_t kPitch = 512;
  void* memory = nullptr;
  char host[16 * 4] = {};
  EXPECT_OK(cudaMalloc(&memory, kPitch * 4));
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(host, 16, 16, 4);
  parms.dstPtr = make_cudaPitchedPtr(memory, kPitch, kPitch, 4);
  parms.extent = make_cudaExtent(16, 4, 1);
  parms.kind = cudaMemcpyHostToDevice;
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &parms));
  cudaMemcpy3DParms narrow = parms;
  narrow.dstPtr.pitch = 15;
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &narrow));
  cudaMemcpy3DParms wide = parms;
  wide.dstPtr.pitch = static_cast<size_t>(limit);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &wide));
  cudaMemcpy3DParms behind = parms;
  behind.srcPos.x = 1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &behind));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaFree(memory));
}

// [4]
CASE(AnExecsCopyKeepsItsKind) {
  int* host[2] = {};
  int* device[2] = {};
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cudaMallocHost(&host[i], sizeof(int)));
    EXPECT_OK(cudaMalloc(&device[i], sizeof(int)));
  }
  using Case = std::tuple<cudaMemcpyKind, int*, int*>;
  for (const auto& [kind, to, from] : {Case{cudaMemcpyHostToHost, host[0], host[1]},
                                       Case{cudaMemcpyHostToDevice, device[0], host[0]},
                                       Case{cudaMemcpyDeviceToHost, host[0], device[0]},
                                       Case{cudaMemcpyDeviceToDevice, device[0], device[1]}}) {
    cudaGraph_t graph = NewGraph();
    cudaGraphNode_t node = nullptr;
    EXPECT_OK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, sizeof(int), kind));
    cudaGraphExec_t exec = Instantiate(graph);
    for (int other = cudaMemcpyHostToHost; other <= cudaMemcpyDefault; ++other) {
      const auto as = static_cast<cudaMemcpyKind>(other);
      EXPECT_ERROR(as == kind ? cudaSuccess : cudaErrorInvalidValue,
                   cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, sizeof(int), as));
    }
    EXPECT_OK(cudaGraphExecDestroy(exec));
    EXPECT_OK(cudaGraphDestroy(graph));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cudaFreeHost(host[i]));
    EXPECT_OK(cudaFree(device[i]));
  }
}

// [4]
CASE(CopiesOfSymbolsGoTheirWay) {
  int host[4] = {};
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  const auto from = [&](cudaMemcpyKind kind, size_t bytes = sizeof host) {
    return cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host, variable, bytes, 0,
                                            kind);
  };
  const auto to = [&](cudaMemcpyKind kind, size_t bytes = sizeof host) {
    return cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, variable, host, bytes, 0, kind);
  };
  EXPECT_OK(from(cudaMemcpyDeviceToHost));
  EXPECT_OK(to(cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, from(cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, to(cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue, from(cudaMemcpyDefault, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, to(cudaMemcpyDefault, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// [4] Of kernel nodes, and so of streams.
CASE(WindowsOfPersistingAccesses) {
  int most = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  cudaGraph_t graph = NewGraph();
  cudaKernelNodeParams params = {};
  float* none = nullptr;
  void* arguments[] = {&none};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  void* base = nullptr;
  EXPECT_OK(cudaMalloc(&base, 4096));
  const auto set = [&](size_t bytes, float ratio, cudaAccessProperty miss) {
    cudaLaunchAttributeValue value = {};
    value.accessPolicyWindow.base_ptr = base;
    value.accessPolicyWindow.num_bytes = bytes;
    value.accessPolicyWindow.hitRatio = ratio;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = miss;
    const auto id = cudaLaunchAttributeAccessPolicyWindow;
    const cudaError_t of_node = cudaGraphKernelNodeSetAttribute(node, id, &value);
    EXPECT_ERROR(of_node, cudaStreamSetAttribute(cudaStreamPerThread, id, &value));
    return of_node;
  };
  const auto bytes = static_cast<size_t>(most);
  EXPECT_OK(set(bytes, 1.0f, cudaAccessPropertyStreaming));
  EXPECT_ERROR(cudaErrorInvalidValue, set(bytes + 1, 1.0f, cudaAccessPropertyStreaming));
  EXPECT_ERROR(cudaErrorInvalidValue, set(bytes, -0.6f, cudaAccessPropertyStreaming));
  EXPECT_ERROR(cudaErrorInvalidValue, set(bytes, 1.1f, cudaAccessPropertyStreaming));
  EXPECT_ERROR(cudaErrorInvalidValue, set(bytes, 0.5f, cudaAccessPropertyPersisting));
  EXPECT_OK(cudaFree(base));
  base = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, set(bytes, 1.0f, cudaAccessPropertyStreaming));
  EXPECT_OK(set(0, 0.0f, cudaAccessPropertyNormal));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// [5]
CASE(NullHandles) {
  const char* name = nullptr;
  CUmodule module = nullptr;
  size_t offset = 0;
  size_t size = 0;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(&name, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(&name, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetModule(&module, nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(nullptr, 0, &offset, &size));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t node = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
  CUevent event = nullptr;
  EXPECT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxRecordEvent(nullptr, event));
  EXPECT_OK(cuEventDestroy(event));
  CUgraphConditionalHandle handle = 0;
  EXPECT_ERROR(CUDA_ERROR_INVALID_CONTEXT,
               cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// Of none, of an object that is gone, of another kind of object, and numbers that are no address.
CASE(NodesThatAreNone) {
  cudaGraph_t graph = NewGraph();
  cudaGraph_t other = NewGraph();
  cudaGraphNode_t node = AddEmpty(graph);
  cudaGraphNode_t gone = AddEmpty(graph);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphDestroyNode(gone));
  const cudaGraphNode_t none[] = {nullptr, gone, reinterpret_cast<cudaGraphNode_t>(other),
                                  reinterpret_cast<cudaGraphNode_t>(64),
                                  reinterpret_cast<cudaGraphNode_t>(~uintptr_t{7})};
  for (cudaGraphNode_t wrong : none) {
    cudaGraphNode_t made = nullptr;
    cudaGraphNodeType type{};
    size_t count = 0;
    unsigned enabled = 0;
    cudaKernelNodeParams kernel{};
    cudaMemsetParams set{};
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetType(wrong, &type));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDestroyNode(wrong));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&made, graph, &wrong, 1));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&made, wrong, graph));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(wrong, &kernel));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(wrong, &set));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(wrong, &set));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, wrong, &set));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(wrong, node));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, wrong, &enabled));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, wrong, 0));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaGraphNodeGetDependencies(wrong, nullptr, nullptr, &count));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &wrong, &node, nullptr, 1));
  }
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(other));
  static_cast<void>(cudaGetLastError());
}

// [5] The value isn't looked at.
CASE(AttributesThatCannotBeSet) {
  void* nowhere = reinterpret_cast<void*>(8);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nowhere));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, nowhere));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  RunCases();
  return Finish("graph_limits");
}
