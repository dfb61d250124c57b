// Makes nodes of every kind, by every kind of call, in graphs of every origin: added one by one,
// captured into a graph that exists, cloned, embedded, and added through the driver. The tests in
// Python know what the trace has to say.
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>

#include "testdata/workloads/cuda_check.h"

namespace {

cudaStream_t stream;
cudaEvent_t event;
cudaExternalSemaphore_t semaphore;  // null: the device takes none that isn't a graphics API's
unsigned* words;                    // on the device

__global__ void Touch(unsigned* data) { data[threadIdx.x] += 1; }

void Nothing(void*) {}

// A function of the driver, by the version that it came with.
template <typename Function>
Function* Driver(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult state{};
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &state));
  return reinterpret_cast<Function*>(found);
}

cudaGraphNode_t Add(cudaGraph_t graph, cudaGraphNodeParams params, cudaGraphNode_t after = nullptr,
                    cudaGraphEdgeData edge = {}) {
  cudaGraphNode_t node = nullptr;
  const size_t count = after != nullptr ? 1 : 0;
  CHECK(cudaGraphAddNode(&node, graph, &after, count != 0 ? &edge : nullptr, count, &params));
  return node;
}

cudaGraphNodeParams Of(cudaGraphNodeType type) {
  cudaGraphNodeParams params = {};
  params.type = type;
  return params;
}

cudaGraphNodeParams Kernel() {
  static void* arguments[] = {&words};
  cudaGraphNodeParams params = Of(cudaGraphNodeTypeKernel);
  params.kernel.func = reinterpret_cast<void*>(Touch);
  params.kernel.gridDim = params.kernel.blockDim = dim3(1);
  params.kernel.kernelParams = arguments;
  return params;
}

cudaGraphNodeParams Semaphore(cudaGraphNodeType type) {
  static cudaExternalSemaphoreSignalParams signal = {};
  static cudaExternalSemaphoreWaitParams wait = {};
  cudaGraphNodeParams params = Of(type);
  if (type == cudaGraphNodeTypeExtSemaphoreSignal) {
    params.extSemSignal = {&semaphore, &signal, 1};
  } else {
    params.extSemWait = {&semaphore, &wait, 1};
  }
  return params;
}

CUdeviceptr Word(int i) { return reinterpret_cast<CUdeviceptr>(words + i); }

CUstreamBatchMemOpParams WriteValue() {
  CUstreamBatchMemOpParams write = {};
  write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = Word(0);
  write.writeValue.value = 7;
  return write;
}

// Those that a child graph may have, too.
cudaGraph_t Plain() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first = Add(graph, Kernel());
  cudaGraphEdgeData edge = {};
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  Add(graph, Kernel(), first, edge);
  cudaGraphNodeParams copy = Of(cudaGraphNodeTypeMemcpy);
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(words, 64, 64, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(words + 16, 64, 64, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(64, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
  Add(graph, copy, first);
  cudaGraphNodeParams fill = Of(cudaGraphNodeTypeMemset);
  fill.memset.dst = words;
  fill.memset.elementSize = 4;
  fill.memset.width = 16;
  fill.memset.height = 1;
  Add(graph, fill);
  cudaGraphNodeParams host = Of(cudaGraphNodeTypeHost);
  host.host.fn = Nothing;
  Add(graph, host);
  Add(graph, Of(cudaGraphNodeTypeEmpty));
  cudaGraphNodeParams record = Of(cudaGraphNodeTypeEventRecord);
  record.eventRecord.event = event;
  Add(graph, record);
  cudaGraphNodeParams wait = Of(cudaGraphNodeTypeWaitEvent);
  wait.eventWait.event = event;
  Add(graph, wait);
  if (semaphore != nullptr) {
    Add(graph, Semaphore(cudaGraphNodeTypeExtSemaphoreSignal));
    Add(graph, Semaphore(cudaGraphNodeTypeExtSemaphoreWait));
  }
  return graph;
}

// Those that only an outermost graph has.
void Whole(cudaGraph_t plain) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams child = Of(cudaGraphNodeTypeGraph);
  child.graph.graph = plain;
  const cudaGraphNode_t embedded = Add(graph, child);
  cudaGraphNodeParams allocate = Of(cudaGraphNodeTypeMemAlloc);
  allocate.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  allocate.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  allocate.alloc.bytesize = 4096;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &allocate));
  cudaGraphNodeParams free = Of(cudaGraphNodeTypeMemFree);
  free.free.dptr = allocate.alloc.dptr;
  Add(graph, free, node);
  cudaGraphConditionalHandle handle{};
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams conditional = Of(cudaGraphNodeTypeConditional);
  conditional.conditional.handle = handle;
  conditional.conditional.type = cudaGraphCondTypeIf;
  conditional.conditional.size = 1;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &conditional));
  Add(conditional.conditional.phGraph_out[0], Kernel());
  CUstreamBatchMemOpParams write = WriteValue();
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {};
  const auto current = Driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent", 4000);
  CHECK(static_cast<cudaError_t>(current(&batch.ctx)));
  batch.count = 1;
  batch.paramArray = &write;
  const auto add = Driver<decltype(cuGraphAddBatchMemOpNode)>("cuGraphAddBatchMemOpNode", 11070);
  CHECK(static_cast<cudaError_t>(add(&node, graph, nullptr, 0, &batch)));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphExecChildGraphNodeSetParams(exec, embedded, plain));
  CHECK(cudaGraphUpload(exec, stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void LaunchBySpecialWays() {
  void* arguments[] = {&words};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(Touch), 1, 32, arguments, 0, stream));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(Touch), arguments));
}

// Two copies in one call, and a copy of two rows of 8 bytes out of rows of 32.
cudaError_t CopyBatches() {
  const void* from[] = {words, words + 64};
  void* to[] = {words + 128, words + 192};
  size_t sizes[] = {16, 32};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t first = 0;
  const cudaError_t error =
      cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream);
  if (error != cudaSuccess) return error;
  cudaMemcpy3DBatchOp rows = {};
  rows.src.type = rows.dst.type = cudaMemcpyOperandTypePointer;
  rows.src.op.ptr.ptr = words;
  rows.src.op.ptr.rowLength = 32;
  rows.dst.op.ptr.ptr = words + 256;
  rows.extent = make_cudaExtent(8, 2, 1);
  rows.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return cudaMemcpy3DBatchAsync(1, &rows, 0, stream);
}

// In a capture of their own, which refuses them and goes on.
void Batches() {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  if (CopyBatches() != cudaErrorStreamCaptureUnsupported)
    std::printf("every_way: batches of copies in captures\n");
  static_cast<void>(cudaGetLastError());
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphDestroy(graph));
}

void OperateOnValues() {
  CUstreamBatchMemOpParams write = WriteValue();
  const auto operate = Driver<decltype(cuStreamBatchMemOp)>("cuStreamBatchMemOp", 11070);
  CHECK(static_cast<cudaError_t>(operate(stream, 1, &write, 0)));
  const auto wait = Driver<decltype(cuStreamWaitValue64)>("cuStreamWaitValue64", 11070);
  CHECK(static_cast<cudaError_t>(wait(stream, Word(2), 0, CU_STREAM_WAIT_VALUE_GEQ)));
}

// Into a graph that has a node.
void Captured() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first = Add(graph, Of(cudaGraphNodeTypeEmpty));
  CHECK(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1,
                                      cudaStreamCaptureModeRelaxed));
  nvtxDomainHandle_t domain = nvtxDomainCreateA("every");
  nvtxEventAttributes_t range = {};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.colorType = NVTX_COLOR_ARGB;
  range.color = 0xff76b900;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = "way";
  nvtxDomainRangePushEx(domain, &range);
  LaunchBySpecialWays();
  nvtxDomainRangePop(domain);
  CHECK(cudaLaunchHostFunc(stream, Nothing, nullptr));
  CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  CHECK(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
  cudaExternalSemaphoreSignalParams signal = {};
  if (semaphore != nullptr) {
    CHECK(cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1, stream));
  }
  OperateOnValues();
  CHECK(cudaStreamEndCapture(stream, &graph));
  int held = 0;
  cudaUserObject_t object = nullptr;
  CHECK(cudaUserObjectCreate(&object, &held, Nothing, 1, cudaUserObjectNoDestructorSync));
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraph_t copy = nullptr;
  CHECK(cudaGraphClone(&copy, graph));
  CHECK(cudaGraphDestroy(copy));
  CHECK(cudaGraphDestroy(graph));
}

// As a program that calls the driver only: two kernels with a programmatic edge, and a batch of
// operations on values behind both.
void Direct() {
  const auto check = [](CUresult result) { CHECK(static_cast<cudaError_t>(result)); };
  const auto create = Driver<decltype(cuGraphCreate)>("cuGraphCreate", 10000);
  const auto add = Driver<decltype(cuGraphAddNode)>("cuGraphAddNode", 12030);
  const auto connect = Driver<decltype(cuGraphAddDependencies)>("cuGraphAddDependencies", 12030);
  const auto destroy = Driver<decltype(cuGraphDestroy)>("cuGraphDestroy", 10000);
  CUgraph graph = nullptr;
  check(create(&graph, 0));
  void* arguments[] = {&words};
  CUgraphNodeParams kernel = {};
  kernel.type = CU_GRAPH_NODE_TYPE_KERNEL;
  cudaFunction_t function = nullptr;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<void*>(Touch)));
  kernel.kernel.func = function;
  kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
  kernel.kernel.blockDimX = kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1;
  kernel.kernel.kernelParams = arguments;
  CUgraphNode first = nullptr, second = nullptr, last = nullptr;
  check(add(&first, graph, nullptr, nullptr, 0, &kernel));
  CUgraphEdgeData early = {};
  early.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  early.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  check(add(&second, graph, &first, &early, 1, &kernel));
  CUstreamBatchMemOpParams operations[3] = {WriteValue()};
  operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = Word(0);
  operations[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[2].writeValue.address = Word(4);
  CUgraphNodeParams batch = {};
  batch.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  check(Driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent", 4000)(&batch.memOp.ctx));
  batch.memOp.count = 3;
  batch.memOp.paramArray = operations;
  check(add(&last, graph, &second, nullptr, 1, &batch));
  check(connect(graph, &first, &last, nullptr, 1));
  check(destroy(graph));
}

}  // namespace

int main() {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMalloc(&words, 4096));
  cudaExternalSemaphoreHandleDesc desc = {};
  desc.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
  desc.handle.fd = open("/dev/null", O_RDONLY);
  if (cudaImportExternalSemaphore(&semaphore, &desc) != cudaSuccess) {
    semaphore = nullptr;
    static_cast<void>(cudaGetLastError());
    std::printf("every_way: no external semaphores\n");
  }
  const cudaGraph_t plain = Plain();
  Whole(plain);
  CHECK(cudaGraphDestroy(plain));
  Captured();
  Batches();
  Direct();
  if (semaphore != nullptr) CHECK(cudaDestroyExternalSemaphore(semaphore));
  CHECK(cudaFree(words));
  return 0;
}
