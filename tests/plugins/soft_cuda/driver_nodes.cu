// Nodes of every type through the driver API: adding, asking, changing.
#include <cudaTypedefs.h>

#include <vector>

#include "graphs.h"
#include "kernels.h"
#include "older.h"

using namespace conformance;

namespace {

CUcontext context;
CUstream stream;
unsigned* words;  // on the device
CUdeviceptr memory;

CUgraph NewCuGraph() {
  CUgraph graph = nullptr;
  EXPECT_OK(cuGraphCreate(&graph, 0));
  return graph;
}

CUfunction TouchFunction() {
  cudaFunction_t function = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Touch)));
  return function;
}

// effect: cuGraphAddKernelNode cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams
// effect: cuGraphAddKernelNode_v1 cuGraphKernelNodeGetParams_v1 cuGraphKernelNodeSetParams_v1
// effect: cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v1
CASE(Kernels) {
  CUgraph graph = NewCuGraph();
  float* data = nullptr;
  void* arguments[] = {&data};
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = TouchFunction();
  params.gridDimX = 2;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 64;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUDA_KERNEL_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphKernelNodeGetParams(node, &got));
  EXPECT(got.gridDimX == 2 && got.blockDimX == 64 && got.func == params.func);
  params.gridDimX = 3;
  EXPECT_OK(cuGraphKernelNodeSetParams(node, &params));
  EXPECT_OK(cuGraphKernelNodeGetParams(node, &got));
  EXPECT(got.gridDimX == 3);
  CUgraphExec exec = Instantiate(graph);
  params.gridDimX = 4;
  EXPECT_OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));

  using Params = CUDA_KERNEL_NODE_PARAMS_v1;
  const auto cuGraphAddKernelNode_v1 =
      OfVersion<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const Params*)>(
          "cuGraphAddKernelNode", 10000);
  const auto cuGraphKernelNodeGetParams_v1 =
      OfVersion<CUresult (*)(CUgraphNode, Params*)>("cuGraphKernelNodeGetParams", 10000);
  const auto cuGraphKernelNodeSetParams_v1 =
      OfVersion<CUresult (*)(CUgraphNode, const Params*)>("cuGraphKernelNodeSetParams", 10000);
  const auto cuGraphExecKernelNodeSetParams_v1 =
      OfVersion<CUresult (*)(CUgraphExec, CUgraphNode, const Params*)>(
          "cuGraphExecKernelNodeSetParams", 10010);
  Params old = {};
  old.func = params.func;
  old.gridDimX = 5;
  old.gridDimY = old.gridDimZ = old.blockDimX = old.blockDimY = old.blockDimZ = 1;
  old.kernelParams = arguments;
  EXPECT_OK(cuGraphExecKernelNodeSetParams_v1(exec, node, &old));
  EXPECT_OK(cuGraphKernelNodeSetParams_v1(node, &old));
  Params old_got = {};
  EXPECT_OK(cuGraphKernelNodeGetParams_v1(node, &old_got));
  EXPECT(old_got.gridDimX == 5 && old_got.func == params.func);
  CUgraphNode second = nullptr;
  EXPECT_OK(cuGraphAddKernelNode_v1(&second, graph, &node, 1, &old));
  EXPECT_OK(cuGraphKernelNodeGetParams(second, &got));
  EXPECT(got.gridDimX == 5);

  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphKernelNodeGetParams(empty, &got));
  EXPECT_FAILS(cuGraphKernelNodeGetParams_v1(empty, &old_got));
  EXPECT_FAILS(cuGraphKernelNodeSetParams(empty, &params));
  EXPECT_FAILS(cuGraphKernelNodeSetParams_v1(empty, &old));
  EXPECT_FAILS(cuGraphExecKernelNodeSetParams(exec, empty, &params));
  EXPECT_FAILS(cuGraphExecKernelNodeSetParams_v1(exec, empty, &old));
  params.blockDimX = old.blockDimX = 0;
  EXPECT_FAILS(cuGraphAddKernelNode(&second, graph, nullptr, 0, &params));
  EXPECT_FAILS(cuGraphAddKernelNode_v1(&second, graph, nullptr, 0, &old));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute
// effect: cuGraphKernelNodeCopyAttributes
CASE(KernelAttributes) {
  CUgraph graph = NewCuGraph();
  CUDA_KERNEL_NODE_PARAMS params = {};
  float* data = nullptr;
  void* arguments[] = {&data};
  params.func = TouchFunction();
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraphNode a = nullptr;
  CUgraphNode b = nullptr;
  EXPECT_OK(cuGraphAddKernelNode(&a, graph, nullptr, 0, &params));
  EXPECT_OK(cuGraphAddKernelNode(&b, graph, nullptr, 0, &params));
  CUkernelNodeAttrValue value = {};
  value.priority = -2;
  EXPECT_OK(cuGraphKernelNodeSetAttribute(a, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  value.priority = 9;
  EXPECT_OK(cuGraphKernelNodeGetAttribute(a, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  EXPECT(value.priority == -2);
  EXPECT_OK(cuGraphKernelNodeCopyAttributes(b, a));
  value.priority = 9;
  EXPECT_OK(cuGraphKernelNodeGetAttribute(b, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  EXPECT(value.priority == -2);
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphKernelNodeSetAttribute(empty, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  EXPECT_FAILS(cuGraphKernelNodeGetAttribute(empty, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  EXPECT_FAILS(cuGraphKernelNodeCopyAttributes(empty, a));
  EXPECT_OK(cuGraphDestroy(graph));
}

CUDA_MEMCPY3D CopyWords(const void* from, size_t count) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.WidthInBytes = 4 * count;
  copy.Height = copy.Depth = 1;
  return copy;
}

// effect: cuGraphAddMemcpyNode cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams
// effect: cuGraphExecMemcpyNodeSetParams
CASE(Copies) {
  unsigned* values = nullptr;
  EXPECT_OK(cuMemAllocHost(reinterpret_cast<void**>(&values), 64));
  values[0] = 41;
  values[1] = 42;
  values[2] = 43;
  CUgraph graph = NewCuGraph();
  CUDA_MEMCPY3D copy = CopyWords(values, 1);
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
  CUgraphExec exec = Instantiate(graph);
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == 41);
  CUDA_MEMCPY3D got = {};
  EXPECT_OK(cuGraphMemcpyNodeGetParams(node, &got));
  EXPECT(got.WidthInBytes == 4 && got.srcHost == values);
  copy.srcHost = values + 1;
  EXPECT_OK(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == 42);
  copy.srcHost = values + 2;
  EXPECT_OK(cuGraphMemcpyNodeSetParams(node, &copy));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 43);
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphMemcpyNodeGetParams(empty, &got));
  EXPECT_FAILS(cuGraphMemcpyNodeSetParams(empty, &copy));
  EXPECT_FAILS(cuGraphExecMemcpyNodeSetParams(exec, empty, &copy, context));
  EXPECT_FAILS(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr, context));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuMemFreeHost(values));
}

void AddTwo(void* value) { *static_cast<int*>(value) += 2; }

// effect: cuGraphAddHostNode cuGraphHostNodeGetParams cuGraphHostNodeSetParams
// effect: cuGraphExecHostNodeSetParams
CASE(HostFunctions) {
  CUgraph graph = NewCuGraph();
  int value = 0;
  CUDA_HOST_NODE_PARAMS params = {conformance::AddOne, &value};
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
  RunOnce(graph, stream);
  EXPECT(value == 1);
  CUDA_HOST_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphHostNodeGetParams(node, &got));
  EXPECT(got.fn == params.fn && got.userData == &value);
  CUgraphExec exec = Instantiate(graph);
  params.fn = AddTwo;
  EXPECT_OK(cuGraphExecHostNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  EXPECT(value == 3);
  EXPECT_OK(cuGraphHostNodeSetParams(node, &params));
  RunOnce(graph, stream);
  EXPECT(value == 5);
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphHostNodeGetParams(empty, &got));
  EXPECT_FAILS(cuGraphHostNodeSetParams(empty, &params));
  EXPECT_FAILS(cuGraphExecHostNodeSetParams(exec, empty, &params));
  params.fn = nullptr;
  EXPECT_FAILS(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphAddChildGraphNode cuGraphChildGraphNodeGetGraph cuGraphExecChildGraphNodeSetParams
CASE(Children) {
  CUgraph graph = NewCuGraph();
  CUgraph child = NewCuGraph();
  AddSetWords(child, words, 7);
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  CUgraph inside = nullptr;
  EXPECT_OK(cuGraphChildGraphNodeGetGraph(node, &inside));
  size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(inside, nullptr, &count));
  EXPECT(inside != child && count == 1);
  CUgraphExec exec = Instantiate(graph);
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 7);
  CUgraph other = NewCuGraph();
  AddSetWords(other, words, 8);
  EXPECT_OK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 8);
  AddEmpty(other);
  EXPECT_FAILS(cuGraphExecChildGraphNodeSetParams(exec, node, other));
  EXPECT_FAILS(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cuGraphChildGraphNodeGetGraph(AddEmpty(graph), &inside));
  EXPECT_OK(cuGraphExecDestroy(exec));
  for (CUgraph g : {graph, child, other}) EXPECT_OK(cuGraphDestroy(g));
}

// effect: cuGraphAddEventRecordNode cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent
// effect: cuGraphExecEventRecordNodeSetEvent cuGraphAddEventWaitNode cuGraphEventWaitNodeGetEvent
// effect: cuGraphEventWaitNodeSetEvent cuGraphExecEventWaitNodeSetEvent
CASE(Events) {
  CUevent events[2];
  for (CUevent& e : events) EXPECT_OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  CUgraph graph = NewCuGraph();
  CUgraphNode record = nullptr;
  CUgraphNode wait = nullptr;
  EXPECT_OK(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, events[0]));
  EXPECT_OK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, events[1]));
  CUevent got = nullptr;
  EXPECT_OK(cuGraphEventRecordNodeGetEvent(record, &got));
  EXPECT(got == events[0]);
  EXPECT_OK(cuGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == events[1]);
  CUgraphExec exec = Instantiate(graph);
  EXPECT_OK(cuGraphExecEventRecordNodeSetEvent(exec, record, events[1]));
  EXPECT_OK(cuGraphExecEventWaitNodeSetEvent(exec, wait, events[0]));
  LaunchAndWait(exec, stream);
  EXPECT_OK(cuEventQuery(events[1]));
  EXPECT_OK(cuGraphEventRecordNodeSetEvent(record, events[1]));
  EXPECT_OK(cuGraphEventRecordNodeGetEvent(record, &got));
  EXPECT(got == events[1]);
  EXPECT_OK(cuGraphEventWaitNodeSetEvent(wait, events[0]));
  EXPECT_OK(cuGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == events[0]);
  EXPECT_FAILS(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, nullptr));
  EXPECT_FAILS(cuGraphEventRecordNodeGetEvent(wait, &got));
  EXPECT_FAILS(cuGraphEventRecordNodeSetEvent(wait, events[0]));
  EXPECT_FAILS(cuGraphExecEventRecordNodeSetEvent(exec, wait, events[0]));
  EXPECT_FAILS(cuGraphEventWaitNodeGetEvent(record, &got));
  EXPECT_FAILS(cuGraphEventWaitNodeSetEvent(record, events[0]));
  EXPECT_FAILS(cuGraphExecEventWaitNodeSetEvent(exec, record, events[0]));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
  for (CUevent e : events) EXPECT_OK(cuEventDestroy(e));
}

// effect: cuGraphAddMemAllocNode cuGraphMemAllocNodeGetParams cuGraphAddMemFreeNode
// effect: cuGraphMemFreeNodeGetParams cuDeviceGetGraphMemAttribute cuDeviceSetGraphMemAttribute
// effect: cuDeviceGraphMemTrim
CASE(Memory) {
  CUgraph graph = NewCuGraph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = {};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.bytesize = 4 << 20;
  CUgraphNode allocate = nullptr;
  CUgraphNode release = nullptr;
  EXPECT_OK(cuGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &params));
  EXPECT(params.dptr != 0);
  EXPECT_OK(cuGraphAddMemFreeNode(&release, graph, &allocate, 1, params.dptr));
  CUDA_MEM_ALLOC_NODE_PARAMS got = {};
  EXPECT_OK(cuGraphMemAllocNodeGetParams(allocate, &got));
  EXPECT(got.dptr == params.dptr && got.bytesize == 4 << 20);
  CUdeviceptr freed = 0;
  EXPECT_OK(cuGraphMemFreeNodeGetParams(release, &freed));
  EXPECT(freed == params.dptr);
  cuuint64_t value = 0;
  EXPECT_OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
  RunOnce(graph, stream);
  EXPECT_OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
  EXPECT(value >= 4 << 20);
  EXPECT_OK(cuDeviceGraphMemTrim(0));
  EXPECT_OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT(value == 0);
  value = 5;
  EXPECT_FAILS(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
  EXPECT_FAILS(cuDeviceGetGraphMemAttribute(9999, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
  EXPECT_ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGraphMemTrim(9999));
  EXPECT_FAILS(cuGraphMemAllocNodeGetParams(release, &got));
  EXPECT_FAILS(cuGraphMemFreeNodeGetParams(allocate, &freed));
  EXPECT_FAILS(cuGraphAddMemFreeNode(&release, graph, &allocate, 1, params.dptr));  // twice
  params.bytesize = 0;
  EXPECT_FAILS(cuGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &params));
  EXPECT_OK(cuGraphDestroy(graph));
}

CUgraphNodeParams SetTo(unsigned value) {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset.dst = memory;
  params.memset.value = value;
  params.memset.elementSize = 4;
  params.memset.width = params.memset.height = 1;
  params.memset.ctx = context;
  return params;
}

// effect: cuGraphAddNode cuGraphAddNode_v1 cuGraphNodeSetParams cuGraphExecNodeSetParams
CASE(AnyNode) {
  CUgraph graph = NewCuGraph();
  CUgraphNodeParams params = SetTo(21);
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  CUgraphExec exec = Instantiate(graph);
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 21);
  params = SetTo(22);
  EXPECT_OK(cuGraphExecNodeSetParams(exec, node, &params));
  LaunchAndWait(exec, stream);
  EXPECT(ReadWord(words) == 22);
  params = SetTo(23);
  EXPECT_OK(cuGraphNodeSetParams(node, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 23);
  const auto cuGraphAddNode_v1 =
      OfVersion<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                             CUgraphNodeParams*)>("cuGraphAddNode", 12020);
  CUgraphNode second = nullptr;
  params = SetTo(24);
  EXPECT_OK(cuGraphAddNode_v1(&second, graph, &node, 1, &params));
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 24);
  CUgraphNode empty = AddEmpty(graph);
  EXPECT_FAILS(cuGraphNodeSetParams(empty, &params));
  EXPECT_FAILS(cuGraphExecNodeSetParams(exec, empty, &params));
  params.type = static_cast<CUgraphNodeType>(77);
  EXPECT_FAILS(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  EXPECT_FAILS(cuGraphAddNode_v1(&node, graph, nullptr, 0, &params));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

// effect: cuGraphConditionalHandleCreate
CASE(Conditional) {
  CUgraph graph = NewCuGraph();
  CUgraphConditionalHandle handle = 0;
  EXPECT_OK(
      cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context;
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  AddSetWords(params.conditional.phGraph_out[0], words, 31);
  RunOnce(graph, stream);
  EXPECT(ReadWord(words) == 31);
  EXPECT_FAILS(cuGraphConditionalHandleCreate(&handle, nullptr, context, 1, 0));
  EXPECT_FAILS(cuGraphConditionalHandleCreate(nullptr, graph, context, 1, 0));
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&words, 64));
  memory = reinterpret_cast<CUdeviceptr>(words);
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  RunCases();
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cudaFree(words));
  return Finish("driver_nodes");
}
