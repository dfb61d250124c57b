#include "plugins/cupti_tracer/driver_calls.h"

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "plugins/cupti_tracer/cupti_abi.h"
#include "plugins/cupti_tracer/driver_decoders.h"

namespace graphkit {
namespace {

static_assert(sizeof(cupti::CallbackData) == sizeof(CUpti_CallbackData));
static_assert(offsetof(cupti::CallbackData, params) ==
              offsetof(CUpti_CallbackData, functionParams));
static_assert(offsetof(cupti::CallbackData, return_value) ==
              offsetof(CUpti_CallbackData, functionReturnValue));
static_assert(offsetof(cupti::CallbackData, symbol_name) ==
              offsetof(CUpti_CallbackData, symbolName));
static_assert(offsetof(cupti::CallbackData, context) == offsetof(CUpti_CallbackData, context));
static_assert(sizeof(cupti::ResourceData) == sizeof(CUpti_ResourceData));
static_assert(offsetof(cupti::ResourceData, descriptor) ==
              offsetof(CUpti_ResourceData, resourceDescriptor));
static_assert(sizeof(cupti::GraphData) == sizeof(CUpti_GraphData));
static_assert(offsetof(cupti::GraphData, node_type) == offsetof(CUpti_GraphData, nodeType));
static_assert(offsetof(cupti::GraphData, exec) == offsetof(CUpti_GraphData, graphExec));
static_assert(cupti::kDriverDomain == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(cupti::kRuntimeDomain == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(cupti::kResourceDomain == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(cupti::kNodeCreateStarting == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
static_assert(cupti::kNodeCloned == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
static_assert(cupti::kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

using K = CallKind;
using namespace decode;

// The callback id of a driver function, by its name in CUPTI's header: an id never changes, so that
// the table serves every version of CUPTI.
#define GRAPHKIT_ID(call) CUPTI_DRIVER_TRACE_CBID_##call
// A function, and its twin whose stream 0 is the thread's. Pasted here, as cuda.h defines some
// names as others.
#define GRAPHKIT_CALLS(call, ...)                            \
  {CUPTI_DRIVER_TRACE_CBID_##call, __VA_ARGS__}, {           \
    CUPTI_DRIVER_TRACE_CBID_##call##_ptsz, __VA_ARGS__, true \
  }

constexpr DriverCall kCalls[] = {
    // streams, events
    {GRAPHKIT_ID(cuStreamCreate), K::kStreamCreate, StreamCreate},
    {GRAPHKIT_ID(cuStreamCreateWithPriority), K::kStreamCreate, StreamCreateWithPriority},
    {GRAPHKIT_ID(cuGreenCtxStreamCreate), K::kStreamCreate, GreenStreamCreate},
    {GRAPHKIT_ID(cuStreamDestroy), K::kStreamDestroy, OfStream},
    {GRAPHKIT_ID(cuStreamDestroy_v2), K::kStreamDestroy, OfStream},
    {GRAPHKIT_ID(cuEventCreate), K::kEventCreate, EventCreate},
    {GRAPHKIT_ID(cuIpcOpenEventHandle), K::kEventCreate, EventCreate},
    {GRAPHKIT_ID(cuEventCreateFromEGLSync), K::kEventCreate, EventCreate},
    {GRAPHKIT_ID(cuEventDestroy), K::kEventDestroy, OfEvent},
    {GRAPHKIT_ID(cuEventDestroy_v2), K::kEventDestroy, OfEvent},
    GRAPHKIT_CALLS(cuEventRecord, K::kEventRecord, EventRecord),
    GRAPHKIT_CALLS(cuEventRecordWithFlags, K::kEventRecord, EventRecordWithFlags),
    GRAPHKIT_CALLS(cuStreamWaitEvent, K::kEventWait, StreamWaitEvent),
    GRAPHKIT_CALLS(cuStreamSynchronize, K::kStreamSync, OfStream),
    {GRAPHKIT_ID(cuEventQuery), K::kEventSync, OfEvent},
    {GRAPHKIT_ID(cuEventSynchronize), K::kEventSync, OfEvent},
    {GRAPHKIT_ID(cuCtxSynchronize), K::kDeviceSync},
    {GRAPHKIT_ID(cuCtxSynchronize_v2), K::kDeviceSync},
    // captures
    GRAPHKIT_CALLS(cuStreamBeginCapture, K::kBeginCapture, BeginCaptureV1),
    GRAPHKIT_CALLS(cuStreamBeginCapture_v2, K::kBeginCapture, BeginCapture),
    GRAPHKIT_CALLS(cuStreamBeginCaptureToGraph, K::kBeginCapture, BeginCaptureToGraph),
    GRAPHKIT_CALLS(cuStreamEndCapture, K::kEndCapture, EndCapture),
    GRAPHKIT_CALLS(cuStreamUpdateCaptureDependencies, K::kUpdateDependencies, UpdateDependenciesV1),
    GRAPHKIT_CALLS(cuStreamUpdateCaptureDependencies_v2, K::kUpdateDependencies,
                   UpdateDependencies),
    // work
    GRAPHKIT_CALLS(cuLaunchKernel, K::kWork, KernelLaunch),
    GRAPHKIT_CALLS(cuLaunchKernelEx, K::kWork, LaunchEx),
    GRAPHKIT_CALLS(cuLaunchCooperativeKernel, K::kWork, CooperativeLaunch),
    GRAPHKIT_CALLS(cuMemcpyHtoDAsync_v2, K::kWork, CopyToDevice),
    GRAPHKIT_CALLS(cuMemcpyDtoHAsync_v2, K::kWork, CopyToHost),
    GRAPHKIT_CALLS(cuMemcpyDtoDAsync_v2, K::kWork, CopyOnDevice),
    GRAPHKIT_CALLS(cuMemcpyAsync, K::kWork, CopyAny),
    GRAPHKIT_CALLS(cuMemcpyPeerAsync, K::kWork, CopyPeer),
    GRAPHKIT_CALLS(cuMemcpy2DAsync_v2, K::kWork, Copy2D),
    GRAPHKIT_CALLS(cuMemcpy3DAsync_v2, K::kWork, Copy3D),
    GRAPHKIT_CALLS(cuMemcpyHtoAAsync_v2, K::kWork, HostToArray),
    GRAPHKIT_CALLS(cuMemcpyAtoHAsync_v2, K::kWork, ArrayToHost),
    GRAPHKIT_CALLS(cuMemcpy3DPeerAsync, K::kWork, Copy3DPeer),
    GRAPHKIT_CALLS(cuMemsetD8Async, K::kWork, Set8),
    GRAPHKIT_CALLS(cuMemsetD16Async, K::kWork, Set16),
    GRAPHKIT_CALLS(cuMemsetD32Async, K::kWork, Set32),
    GRAPHKIT_CALLS(cuMemsetD2D8Async, K::kWork, Set2D8),
    GRAPHKIT_CALLS(cuMemsetD2D16Async, K::kWork, Set2D16),
    GRAPHKIT_CALLS(cuMemsetD2D32Async, K::kWork, Set2D32),
    GRAPHKIT_CALLS(cuLaunchHostFunc, K::kWork, HostFunction),
    GRAPHKIT_CALLS(cuSignalExternalSemaphoresAsync, K::kWork, SignalSemaphores),
    GRAPHKIT_CALLS(cuWaitExternalSemaphoresAsync, K::kWork, WaitSemaphores),
    // several operations in one call
    GRAPHKIT_CALLS(cuStreamWaitValue32, K::kWork, WaitValue32),
    GRAPHKIT_CALLS(cuStreamWriteValue32, K::kWork, WriteValue32),
    GRAPHKIT_CALLS(cuStreamWaitValue64, K::kWork, WaitValue64),
    GRAPHKIT_CALLS(cuStreamWriteValue64, K::kWork, WriteValue64),
    GRAPHKIT_CALLS(cuStreamWaitValue32_v2, K::kWork, WaitValue32),
    GRAPHKIT_CALLS(cuStreamWaitValue64_v2, K::kWork, WaitValue64),
    GRAPHKIT_CALLS(cuStreamWriteValue32_v2, K::kWork, WriteValue32),
    GRAPHKIT_CALLS(cuStreamWriteValue64_v2, K::kWork, WriteValue64),
    GRAPHKIT_CALLS(cuStreamBatchMemOp, K::kWork, ValueBatch),
    GRAPHKIT_CALLS(cuStreamBatchMemOp_v2, K::kWork, ValueBatch),
    GRAPHKIT_CALLS(cuMemcpyBatchAsync, K::kWork, CopyBatchV1),
    GRAPHKIT_CALLS(cuMemcpyBatchAsync_v2, K::kWork, CopyBatch),
    GRAPHKIT_CALLS(cuMemcpy3DBatchAsync, K::kWork, Copy3DBatchV1),
    GRAPHKIT_CALLS(cuMemcpy3DBatchAsync_v2, K::kWork, Copy3DBatch),
    GRAPHKIT_CALLS(cuMemBatchDecompressAsync, K::kWork, Decompress),
    // memory
    {GRAPHKIT_ID(cuMemAlloc_v2), K::kAlloc, Alloc},
    {GRAPHKIT_ID(cuMemAllocPitch_v2), K::kAlloc, AllocPitch},
    {GRAPHKIT_ID(cuMemAllocHost_v2), K::kAlloc, AllocHost},
    {GRAPHKIT_ID(cuMemHostAlloc), K::kAlloc, AllocHost},
    {271, K::kAlloc, AllocHost},  // cuMemHostAlloc_v2
    {GRAPHKIT_ID(cuMemAllocManaged), K::kAlloc, AllocManaged},
    GRAPHKIT_CALLS(cuMemAllocAsync, K::kAlloc, AllocAsync),
    GRAPHKIT_CALLS(cuMemAllocFromPoolAsync, K::kAlloc, AllocFromPool),
    {GRAPHKIT_ID(cuMemMap), K::kAlloc, Map},
    {GRAPHKIT_ID(cuMemFree_v2), K::kFree, Free},
    {GRAPHKIT_ID(cuMemFreeHost), K::kFree, Free},
    {GRAPHKIT_ID(cuMemUnmap), K::kFree, Free},
    GRAPHKIT_CALLS(cuMemFreeAsync, K::kFree, FreeAsync),
    {GRAPHKIT_ID(cuMemPoolCreate), K::kPoolCreate, PoolCreate},
    {GRAPHKIT_ID(cuMemPoolImportFromShareableHandle), K::kPoolCreate, PoolCreate},
    {GRAPHKIT_ID(cuMemPoolDestroy), K::kPoolDestroy, OfPool},
    // graphs
    {GRAPHKIT_ID(cuGraphCreate), K::kGraphCreate},
    {GRAPHKIT_ID(cuGraphClone), K::kGraphClone, GraphClone},
    {GRAPHKIT_ID(cuGraphDestroy), K::kGraphDestroy, OfGraph},
    {GRAPHKIT_ID(cuGraphDestroyNode), K::kDestroyNode, OfNode},
    {GRAPHKIT_ID(cuGraphAddKernelNode), K::kAddNode, AddKernel},
    {GRAPHKIT_ID(cuGraphAddKernelNode_v2), K::kAddNode, AddKernelV2},
    {GRAPHKIT_ID(cuGraphAddMemcpyNode), K::kAddNode, AddCopy},
    {GRAPHKIT_ID(cuGraphAddMemsetNode), K::kAddNode, AddSet},
    {GRAPHKIT_ID(cuGraphAddHostNode), K::kAddNode, AddPlain},
    {GRAPHKIT_ID(cuGraphAddChildGraphNode), K::kAddNode, AddChild},
    {GRAPHKIT_ID(cuGraphAddEmptyNode), K::kAddNode, AddPlain},
    {GRAPHKIT_ID(cuGraphAddEventRecordNode), K::kAddNode, AddEvent},
    {GRAPHKIT_ID(cuGraphAddEventWaitNode), K::kAddNode, AddEvent},
    {GRAPHKIT_ID(cuGraphAddExternalSemaphoresSignalNode), K::kAddNode, AddPlain},
    {GRAPHKIT_ID(cuGraphAddExternalSemaphoresWaitNode), K::kAddNode, AddPlain},
    {GRAPHKIT_ID(cuGraphAddMemAllocNode), K::kAddNode, AddAlloc},
    {GRAPHKIT_ID(cuGraphAddMemFreeNode), K::kAddNode, AddFree},
    {GRAPHKIT_ID(cuGraphAddBatchMemOpNode), K::kAddNode, AddBatch},
    {GRAPHKIT_ID(cuGraphAddNode), K::kAddNode, AddNode},
    {GRAPHKIT_ID(cuGraphAddNode_v2), K::kAddNode, AddNodeV2},
    {GRAPHKIT_ID(cuGraphKernelNodeSetParams), K::kNodeSet, SetKernel},
    {GRAPHKIT_ID(cuGraphKernelNodeSetParams_v2), K::kNodeSet, SetKernelV2},
    {GRAPHKIT_ID(cuGraphExecKernelNodeSetParams), K::kNodeSet, ExecSetKernel},
    {GRAPHKIT_ID(cuGraphExecKernelNodeSetParams_v2), K::kNodeSet, ExecSetKernelV2},
    {GRAPHKIT_ID(cuGraphMemcpyNodeSetParams), K::kNodeSet, SetCopy},
    {GRAPHKIT_ID(cuGraphExecMemcpyNodeSetParams), K::kNodeSet, ExecSetCopy},
    {GRAPHKIT_ID(cuGraphMemsetNodeSetParams), K::kNodeSet, SetFill},
    {GRAPHKIT_ID(cuGraphExecMemsetNodeSetParams), K::kNodeSet, ExecSetFill},
    {GRAPHKIT_ID(cuGraphEventRecordNodeSetEvent), K::kNodeSet, SetEvent},
    {GRAPHKIT_ID(cuGraphEventWaitNodeSetEvent), K::kNodeSet, SetEvent},
    {GRAPHKIT_ID(cuGraphExecEventRecordNodeSetEvent), K::kNodeSet, ExecSetEvent},
    {GRAPHKIT_ID(cuGraphExecEventWaitNodeSetEvent), K::kNodeSet, ExecSetEvent},
    {GRAPHKIT_ID(cuGraphHostNodeSetParams), K::kNodeSet, SetOther},
    {GRAPHKIT_ID(cuGraphExecHostNodeSetParams), K::kNodeSet, ExecSetOther},
    {GRAPHKIT_ID(cuGraphExecChildGraphNodeSetParams), K::kNodeSet, ExecSetChild},
    {GRAPHKIT_ID(cuGraphExternalSemaphoresSignalNodeSetParams), K::kNodeSet, SetOther},
    {GRAPHKIT_ID(cuGraphExternalSemaphoresWaitNodeSetParams), K::kNodeSet, SetOther},
    {GRAPHKIT_ID(cuGraphExecExternalSemaphoresSignalNodeSetParams), K::kNodeSet, ExecSetOther},
    {GRAPHKIT_ID(cuGraphExecExternalSemaphoresWaitNodeSetParams), K::kNodeSet, ExecSetOther},
    {GRAPHKIT_ID(cuGraphBatchMemOpNodeSetParams), K::kNodeSet, SetBatch},
    {GRAPHKIT_ID(cuGraphExecBatchMemOpNodeSetParams), K::kNodeSet, ExecSetBatch},
    {GRAPHKIT_ID(cuGraphNodeSetParams), K::kNodeSet, SetAny},
    {GRAPHKIT_ID(cuGraphExecNodeSetParams), K::kNodeSet, ExecSetAny},
    {GRAPHKIT_ID(cuGraphNodeSetEnabled), K::kNodeEnabled, SetEnabled},
    {GRAPHKIT_ID(cuGraphKernelNodeSetAttribute), K::kNodeUpdatable, SetAttribute},
    {GRAPHKIT_ID(cuGraphAddDependencies), K::kAddDependencies, AddEdges},
    {GRAPHKIT_ID(cuGraphAddDependencies_v2), K::kAddDependencies, AddEdgesV2},
    {GRAPHKIT_ID(cuGraphRemoveDependencies), K::kRemoveDependencies, RemoveEdges},
    {GRAPHKIT_ID(cuGraphRemoveDependencies_v2), K::kRemoveDependencies, RemoveEdgesV2},
    {GRAPHKIT_ID(cuGraphInstantiate), K::kInstantiate, Instantiate},
    {GRAPHKIT_ID(cuGraphInstantiate_v2), K::kInstantiate, Instantiate},
    {GRAPHKIT_ID(cuGraphInstantiateWithFlags), K::kInstantiate, InstantiateWithFlags},
    GRAPHKIT_CALLS(cuGraphInstantiateWithParams, K::kInstantiate, InstantiateWithParams),
    {GRAPHKIT_ID(cuGraphExecDestroy), K::kExecDestroy, OfExec},
    {GRAPHKIT_ID(cuGraphExecUpdate), K::kExecUpdate, UpdateExecV1},
    {GRAPHKIT_ID(cuGraphExecUpdate_v2), K::kExecUpdate, UpdateExec},
    GRAPHKIT_CALLS(cuGraphLaunch, K::kGraphLaunch, GraphLaunch),
    {GRAPHKIT_ID(cuGraphUpload), K::kInternal},
    {GRAPHKIT_ID(cuGraphUpload_ptsz), K::kInternal},
    // told only when they fail: what a capture forbids
    GRAPHKIT_CALLS(cuStreamQuery, K::kOther, OfStream),
    GRAPHKIT_CALLS(cuStreamAddCallback, K::kOther, OfStream),
    GRAPHKIT_CALLS(cuStreamAttachMemAsync, K::kOther, OfStream),
    GRAPHKIT_CALLS(cuMemPrefetchBatchAsync, K::kOther, StreamAt56),
    GRAPHKIT_CALLS(cuMemDiscardBatchAsync, K::kOther, StreamAt32),
    GRAPHKIT_CALLS(cuMemDiscardAndPrefetchBatchAsync, K::kOther, StreamAt56),
    GRAPHKIT_CALLS(cuMemMapArrayAsync, K::kOther, StreamAt16),
};

// Told only when they fail, and without a stream: copies and sets that wait, prefetches, limits,
// and registrations.
constexpr uint16_t kFailuresOnly[] = {GRAPHKIT_ID(cuCtxSetLimit),
                                      248,  // cuMemcpy_v2: some headers have no name for it
                                      GRAPHKIT_ID(cuMemsetD8_v2),
                                      GRAPHKIT_ID(cuMemsetD16_v2),
                                      GRAPHKIT_ID(cuMemsetD32_v2),
                                      GRAPHKIT_ID(cuMemsetD2D8_v2),
                                      GRAPHKIT_ID(cuMemsetD2D16_v2),
                                      GRAPHKIT_ID(cuMemsetD2D32_v2),
                                      GRAPHKIT_ID(cuMemcpyHtoD_v2),
                                      GRAPHKIT_ID(cuMemcpyDtoH_v2),
                                      GRAPHKIT_ID(cuMemcpyDtoD_v2),
                                      GRAPHKIT_ID(cuMemcpy2D_v2),
                                      GRAPHKIT_ID(cuMemcpy2DUnaligned_v2),
                                      GRAPHKIT_ID(cuMemcpy3D_v2),
                                      GRAPHKIT_ID(cuMemHostRegister),
                                      GRAPHKIT_ID(cuMemHostUnregister),
                                      GRAPHKIT_ID(cuMemcpy),
                                      GRAPHKIT_ID(cuMemcpyPeer),
                                      GRAPHKIT_ID(cuMemcpy3DPeer),
                                      GRAPHKIT_ID(cuMemHostRegister_v2),
                                      GRAPHKIT_ID(cuMemcpyHtoD_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpyDtoH_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpyDtoD_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpy2D_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpy2DUnaligned_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpy3D_v2_ptds),
                                      GRAPHKIT_ID(cuMemcpy_ptds),
                                      GRAPHKIT_ID(cuMemcpyPeer_ptds),
                                      GRAPHKIT_ID(cuMemcpy3DPeer_ptds),
                                      GRAPHKIT_ID(cuMemsetD8_v2_ptds),
                                      GRAPHKIT_ID(cuMemsetD16_v2_ptds),
                                      GRAPHKIT_ID(cuMemsetD32_v2_ptds),
                                      GRAPHKIT_ID(cuMemsetD2D8_v2_ptds),
                                      GRAPHKIT_ID(cuMemsetD2D16_v2_ptds),
                                      GRAPHKIT_ID(cuMemsetD2D32_v2_ptds),
                                      GRAPHKIT_ID(cuMemPrefetchAsync),
                                      GRAPHKIT_ID(cuMemPrefetchAsync_ptsz),
                                      GRAPHKIT_ID(cuMemCreate),
                                      GRAPHKIT_ID(cuMemPoolTrimTo),
                                      GRAPHKIT_ID(cuMemPrefetchAsync_v2),
                                      GRAPHKIT_ID(cuMemPrefetchAsync_v2_ptsz)};

#define GRAPHKIT_RUNTIME_ID(call) CUPTI_RUNTIME_TRACE_CBID_##call
// cudaGetLastError and the like, device and attribute queries, what nvcc emits around launches.
constexpr uint16_t kRuntimeNoise[] = {
    GRAPHKIT_RUNTIME_ID(cudaDriverGetVersion_v3020),
    GRAPHKIT_RUNTIME_ID(cudaRuntimeGetVersion_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceCount_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceProperties_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetLastError_v3020),
    GRAPHKIT_RUNTIME_ID(cudaPeekAtLastError_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetErrorString_v3020),
    GRAPHKIT_RUNTIME_ID(cudaSetDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaFreeHost_v3020),
    GRAPHKIT_RUNTIME_ID(cudaMemGetInfo_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetSymbolAddress_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetSymbolSize_v3020),
    GRAPHKIT_RUNTIME_ID(cudaSetDoubleForDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaPointerGetAttributes_v4000),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetAttribute_v5000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetPriority_v5050),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetFlags_v5050),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetStreamPriorityRange_v5050),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000),
    GRAPHKIT_RUNTIME_ID(cudaGetErrorName_v6050),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceFlags_v7000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetPriority_ptsz_v7000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetFlags_ptsz_v7000),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetP2PAttribute_v8000),
    GRAPHKIT_RUNTIME_ID(cudaStreamIsCapturing_v10000),
    GRAPHKIT_RUNTIME_ID(cudaStreamIsCapturing_ptsz_v10000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v10010),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_ptsz_v10010),
    GRAPHKIT_RUNTIME_ID(cudaGetFuncBySymbol_v11000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetAttribute_v11000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetAttribute_ptsz_v11000),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPoint_v11030),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPoint_ptsz_v11030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v2_v11030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v2_ptsz_v11030),
    GRAPHKIT_RUNTIME_ID(cudaGetKernel_v12000),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceProperties_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetId_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetId_ptsz_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v12030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_ptsz_v12030),
    GRAPHKIT_RUNTIME_ID(cudaFuncGetParamInfo_v12040),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPointByVersion_v12050),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPointByVersion_ptsz_v12050),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetDevice_v12080),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetDevice_ptsz_v12080),
    GRAPHKIT_RUNTIME_ID(cudaGetExportTable_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFatBinary_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFatBinaryEnd_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaUnregisterFatBinary_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterHostVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFunction_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterManagedVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaInitModule_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaPushCallConfiguration_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaPopCallConfiguration_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaGetKernel_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterUnifiedTable_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaGetProcAddress_v13000)};

#undef GRAPHKIT_ID
#undef GRAPHKIT_CALLS
#undef GRAPHKIT_RUNTIME_ID

struct CallIndex {
  std::vector<DriverCall> rows;
  std::array<int16_t, kDriverCallLimit> by_id{};  // 0: none
};

CallIndex MakeIndex() {
  CallIndex index;
  index.rows.push_back({});  // so that 0 is none
  for (const DriverCall& row : kCalls) index.rows.push_back(row);
  for (uint16_t id : kFailuresOnly) index.rows.push_back({id});
  for (size_t i = 1; i < index.rows.size(); ++i) {
    index.by_id[index.rows[i].id] = static_cast<int16_t>(i);
  }
  return index;
}

const CallIndex& Index() {
  static const CallIndex index = MakeIndex();
  return index;
}

}  // namespace

std::span<const DriverCall> DriverCalls() { return std::span(Index().rows).subspan(1); }

const DriverCall* FindDriverCall(uint32_t id) {
  int16_t row = id < kDriverCallLimit ? Index().by_id[id] : int16_t{0};
  return row == 0 ? nullptr : &Index().rows[static_cast<size_t>(row)];
}

bool IsRuntimeNoise(uint32_t id) {
  return std::binary_search(std::begin(kRuntimeNoise), std::end(kRuntimeNoise), id);
}

uint64_t StreamHandle(const void* stream, bool per_thread) {
  if (stream == nullptr) return per_thread ? kPerThreadStream : kLegacyStream;
  return reinterpret_cast<uint64_t>(stream);
}

}  // namespace graphkit
