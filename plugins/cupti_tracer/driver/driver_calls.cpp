#include "plugins/cupti_tracer/driver/driver_calls.h"

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "plugins/cupti_tracer/driver/cupti_abi.h"
#include "plugins/cupti_tracer/driver/driver_decode.h"

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

void Managed(Call& call) { call.pool_kind = PoolKind::kManaged; }
void Written(Call& call) { call.operations.front().touches[0].write = true; }
void Polled(Call& call) { call.polls = true; }
void Recaptured(Call& call) { call.recapture = true; }
void OnLegacyStream(Call& call) { call.stream = kLegacyStream, call.blocking = true; }
void OnThreadStream(Call& call) { call.stream = kPerThreadStream, call.blocking = true; }
// Memory that can't be registered is left as it is.
void Registered(Call& call) {
  call.pool_kind = PoolKind::kHost;
  call.registered = true;
  call.is_allocation = false;
}

// Memory of another process, or of another API.
void Imported(Call& call) { call.registered = true, call.mapping = call.kind == CallKind::kAlloc; }

// Queries of edges: what they ask about.
template <typename Params>
void ReadQuery(const CallParams& params, Call& call) {
  const auto& p = *static_cast<const Params*>(params.raw);
  if constexpr (requires { p.hGraph; }) call.graph = reinterpret_cast<uint64_t>(p.hGraph);
  if constexpr (requires { p.hNode; }) call.node = reinterpret_cast<uint64_t>(p.hNode);
}

// Since CUDA 13.3, as its cuda.h has them.
struct RecaptureParams {
  CUstream hStream;
  CUstreamCaptureMode mode;
  CUgraph hGraph;
  void* callbackFunc;
  void* userData;
};

// The callback id of a driver function, by its name in CUPTI's header: an id never changes, so that
// the table serves every version of CUPTI. Names are pasted at once, as cuda.h defines some as
// others.
#define GRAPHKIT_BARE(call, kind) \
  { CUPTI_DRIVER_TRACE_CBID_##call, CallKind::kind }
// One of which only failures are told, and its twin.
#define GRAPHKIT_FAILURES(call, twin) \
  {CUPTI_DRIVER_TRACE_CBID_##call}, { CUPTI_DRIVER_TRACE_CBID_##call##_##twin }
// A function whose parameters are read, and what adds to them.
#define GRAPHKIT_CALL(call, kind, ...)                   \
  {                                                      \
    CUPTI_DRIVER_TRACE_CBID_##call, CallKind::kind,      \
        Decode<call##_params __VA_OPT__(, ) __VA_ARGS__> \
  }
// The same, and its twin whose stream 0 is the thread's.
#define GRAPHKIT_CALLS(call, kind, ...)                        \
  {CUPTI_DRIVER_TRACE_CBID_##call, CallKind::kind,             \
   Decode<call##_params __VA_OPT__(, ) __VA_ARGS__>},          \
  {                                                            \
    CUPTI_DRIVER_TRACE_CBID_##call##_ptsz, CallKind::kind,     \
        Decode<call##_params __VA_OPT__(, ) __VA_ARGS__>, true \
  }
#define GRAPHKIT_QUERY(call) \
  { CUPTI_DRIVER_TRACE_CBID_##call, CallKind::kOther, ReadQuery<call##_params> }
// Work without a stream among its parameters, on the stream 0: the legacy one, and its twin's.
#define GRAPHKIT_WAITING(call)                                                                    \
  GRAPHKIT_CALL(call, kWork, OnLegacyStream), {                                                   \
    CUPTI_DRIVER_TRACE_CBID_##call##_ptds, CallKind::kWork, Decode<call##_params, OnThreadStream> \
  }

constexpr DriverCall kCalls[] = {
    // streams, events
    GRAPHKIT_CALL(cuStreamCreate, kStreamCreate),
    GRAPHKIT_CALL(cuStreamCreateWithPriority, kStreamCreate),
    GRAPHKIT_CALL(cuGreenCtxStreamCreate, kStreamCreate),
    GRAPHKIT_CALL(cuStreamDestroy, kStreamDestroy),
    GRAPHKIT_CALL(cuStreamDestroy_v2, kStreamDestroy),
    GRAPHKIT_CALL(cuEventCreate, kEventCreate),
    GRAPHKIT_CALL(cuIpcOpenEventHandle, kEventCreate),
    {CUPTI_DRIVER_TRACE_CBID_cuEventCreateFromEGLSync, CallKind::kEventCreate,
     Decode<cuEventCreate_params>},
    GRAPHKIT_CALL(cuEventDestroy, kEventDestroy),
    GRAPHKIT_CALL(cuEventDestroy_v2, kEventDestroy),
    GRAPHKIT_CALLS(cuEventRecord, kEventRecord),
    GRAPHKIT_CALLS(cuEventRecordWithFlags, kEventRecord),
    GRAPHKIT_CALLS(cuStreamWaitEvent, kEventWait),
    GRAPHKIT_CALLS(cuStreamSynchronize, kStreamSync),
    GRAPHKIT_CALLS(cuStreamQuery, kStreamSync, Polled),  // that it is done, else it fails
    GRAPHKIT_CALL(cuEventQuery, kEventSync),
    GRAPHKIT_CALL(cuEventSynchronize, kEventSync),
    GRAPHKIT_BARE(cuCtxSynchronize, kDeviceSync),
    GRAPHKIT_BARE(cuCtxSynchronize_v2, kDeviceSync),
    // captures
    GRAPHKIT_CALLS(cuStreamBeginCapture, kBeginCapture),
    GRAPHKIT_CALLS(cuStreamBeginCapture_v2, kBeginCapture),
    GRAPHKIT_CALLS(cuStreamBeginCaptureToGraph, kBeginCapture),
    {846, CallKind::kBeginCapture, Decode<RecaptureParams, Recaptured>},
    {847, CallKind::kBeginCapture, Decode<RecaptureParams, Recaptured>, true},
    GRAPHKIT_CALLS(cuStreamEndCapture, kEndCapture),
    GRAPHKIT_CALLS(cuStreamUpdateCaptureDependencies, kUpdateDependencies),
    GRAPHKIT_CALLS(cuStreamUpdateCaptureDependencies_v2, kUpdateDependencies),
    // work
    GRAPHKIT_CALLS(cuLaunchKernel, kWork),
    GRAPHKIT_CALLS(cuLaunchKernelEx, kWork),
    GRAPHKIT_CALLS(cuLaunchCooperativeKernel, kWork),
    GRAPHKIT_CALLS(cuMemcpyHtoDAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyDtoHAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyDtoDAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyAsync, kWork),
    GRAPHKIT_CALLS(cuMemcpyPeerAsync, kWork),
    GRAPHKIT_CALLS(cuMemcpy2DAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpy3DAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyHtoAAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyAtoHAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpy3DPeerAsync, kWork),
    GRAPHKIT_CALLS(cuMemsetD8Async, kWork),
    GRAPHKIT_CALLS(cuMemsetD16Async, kWork),
    GRAPHKIT_CALLS(cuMemsetD32Async, kWork),
    GRAPHKIT_CALLS(cuMemsetD2D8Async, kWork),
    GRAPHKIT_CALLS(cuMemsetD2D16Async, kWork),
    GRAPHKIT_CALLS(cuMemsetD2D32Async, kWork),
    GRAPHKIT_CALLS(cuLaunchHostFunc, kWork),
    GRAPHKIT_CALLS(cuSignalExternalSemaphoresAsync, kWork),
    GRAPHKIT_CALLS(cuWaitExternalSemaphoresAsync, kWork),
    // for which the host may wait
    GRAPHKIT_WAITING(cuMemcpyHtoD_v2),
    GRAPHKIT_WAITING(cuMemcpyDtoH_v2),
    GRAPHKIT_WAITING(cuMemcpyDtoD_v2),
    GRAPHKIT_WAITING(cuMemcpyHtoA_v2),
    GRAPHKIT_WAITING(cuMemcpyAtoH_v2),
    GRAPHKIT_WAITING(cuMemcpyDtoA_v2),
    GRAPHKIT_WAITING(cuMemcpyAtoD_v2),
    GRAPHKIT_WAITING(cuMemcpy2D_v2),
    GRAPHKIT_WAITING(cuMemcpy2DUnaligned_v2),
    GRAPHKIT_WAITING(cuMemcpy3D_v2),
    GRAPHKIT_WAITING(cuMemcpy),
    {248, CallKind::kWork,
     Decode<cuMemcpy_params, OnLegacyStream>},  // cuMemcpy_v2: some headers have no name for it
    GRAPHKIT_WAITING(cuMemcpyPeer),
    GRAPHKIT_WAITING(cuMemcpy3DPeer),
    GRAPHKIT_WAITING(cuMemsetD8_v2),
    GRAPHKIT_WAITING(cuMemsetD16_v2),
    GRAPHKIT_WAITING(cuMemsetD32_v2),
    GRAPHKIT_WAITING(cuMemsetD2D8_v2),
    GRAPHKIT_WAITING(cuMemsetD2D16_v2),
    GRAPHKIT_WAITING(cuMemsetD2D32_v2),
    // several operations in one call
    GRAPHKIT_CALLS(cuStreamWaitValue32, kWork),
    GRAPHKIT_CALLS(cuStreamWriteValue32, kWork, Written),
    GRAPHKIT_CALLS(cuStreamWaitValue64, kWork),
    GRAPHKIT_CALLS(cuStreamWriteValue64, kWork, Written),
    GRAPHKIT_CALLS(cuStreamWaitValue32_v2, kWork),
    GRAPHKIT_CALLS(cuStreamWaitValue64_v2, kWork),
    GRAPHKIT_CALLS(cuStreamWriteValue32_v2, kWork, Written),
    GRAPHKIT_CALLS(cuStreamWriteValue64_v2, kWork, Written),
    GRAPHKIT_CALLS(cuStreamBatchMemOp, kWork),
    GRAPHKIT_CALLS(cuStreamBatchMemOp_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpyBatchAsync, kWork),
    GRAPHKIT_CALLS(cuMemcpyBatchAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemcpy3DBatchAsync, kWork),
    GRAPHKIT_CALLS(cuMemcpy3DBatchAsync_v2, kWork),
    GRAPHKIT_CALLS(cuMemBatchDecompressAsync, kWork),
    // memory
    GRAPHKIT_CALL(cuMemAlloc_v2, kAlloc),
    GRAPHKIT_CALL(cuMemAllocPitch_v2, kAlloc),
    GRAPHKIT_CALL(cuMemAllocHost_v2, kAlloc),
    GRAPHKIT_CALL(cuMemHostAlloc, kAlloc),
    {271, CallKind::kAlloc,
     Decode<cuMemHostAlloc_params>},  // cuMemHostAlloc_v2: some headers have no name for it
    GRAPHKIT_CALL(cuTensorMapEncodeTiled, kTensorMap),
    GRAPHKIT_CALL(cuTensorMapEncodeIm2col, kTensorMap),
    GRAPHKIT_CALL(cuTensorMapEncodeIm2colWide, kTensorMap),
    GRAPHKIT_CALL(cuTensorMapReplaceAddress, kTensorMap),
    GRAPHKIT_CALL(cuMemHostRegister, kAlloc, Registered),
    GRAPHKIT_CALL(cuMemHostRegister_v2, kAlloc, Registered),
    GRAPHKIT_CALL(cuMemHostUnregister, kFree),
    GRAPHKIT_CALL(cuMemAllocManaged, kAlloc, Managed),
    GRAPHKIT_CALLS(cuMemAllocAsync, kAlloc),
    GRAPHKIT_CALLS(cuMemAllocFromPoolAsync, kAlloc),
    GRAPHKIT_CALL(cuMemCreate, kPhysical),
    GRAPHKIT_CALL(cuMemRelease, kPhysicalRelease),
    GRAPHKIT_CALL(cuMemAddressFree, kUnreserve),
    GRAPHKIT_CALL(cuMemMap, kAlloc),
    // memory whose content may come from another process, or through another device's mapping
    GRAPHKIT_CALL(cuMemExportToShareableHandle, kShare),
    GRAPHKIT_CALL(cuMemImportFromShareableHandle, kShare, Imported),
    GRAPHKIT_CALL(cuMulticastBindMem, kShare),
    GRAPHKIT_CALL(cuMulticastBindAddr, kShare),
    GRAPHKIT_CALL(cuIpcGetMemHandle, kShare),
    GRAPHKIT_CALL(cuIpcOpenMemHandle, kAlloc, Imported),
    GRAPHKIT_CALL(cuIpcOpenMemHandle_v2, kAlloc, Imported),
    GRAPHKIT_CALL(cuIpcCloseMemHandle, kFree),
    GRAPHKIT_CALL(cuExternalMemoryGetMappedBuffer, kAlloc, Imported),
    GRAPHKIT_CALL(cuMemFree_v2, kFree),
    GRAPHKIT_CALL(cuMemFreeHost, kFree),
    GRAPHKIT_CALL(cuMemUnmap, kFree),
    GRAPHKIT_CALLS(cuMemFreeAsync, kFree),
    GRAPHKIT_CALL(cuMemPoolCreate, kPoolCreate),
    GRAPHKIT_CALL(cuMemPoolImportFromShareableHandle, kPoolCreate),
    GRAPHKIT_CALL(cuMemGetDefaultMemPool, kPoolMet),
    GRAPHKIT_CALL(cuMemGetMemPool, kPoolMet),
    GRAPHKIT_CALL(cuMemPoolDestroy, kPoolDestroy),
    // graphs
    GRAPHKIT_BARE(cuGraphCreate, kGraphCreate),
    GRAPHKIT_CALL(cuGraphClone, kGraphClone),
    GRAPHKIT_CALL(cuGraphDestroy, kGraphDestroy),
    GRAPHKIT_CALL(cuGraphDestroyNode, kDestroyNode),
    GRAPHKIT_CALL(cuGraphAddKernelNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddKernelNode_v2, kAddNode),
    GRAPHKIT_CALL(cuGraphAddMemcpyNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddMemsetNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddHostNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddChildGraphNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddEmptyNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddEventRecordNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddEventWaitNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddExternalSemaphoresSignalNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddExternalSemaphoresWaitNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddMemAllocNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddMemFreeNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddBatchMemOpNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddNode, kAddNode),
    GRAPHKIT_CALL(cuGraphAddNode_v2, kAddNode),
    GRAPHKIT_CALL(cuGraphKernelNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphKernelNodeSetParams_v2, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecKernelNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecKernelNodeSetParams_v2, kNodeSet),
    GRAPHKIT_CALL(cuGraphMemcpyNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecMemcpyNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphMemsetNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecMemsetNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphEventRecordNodeSetEvent, kNodeSet),
    GRAPHKIT_CALL(cuGraphEventWaitNodeSetEvent, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecEventRecordNodeSetEvent, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecEventWaitNodeSetEvent, kNodeSet),
    GRAPHKIT_CALL(cuGraphHostNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecHostNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecChildGraphNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExternalSemaphoresSignalNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExternalSemaphoresWaitNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphBatchMemOpNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecBatchMemOpNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphExecNodeSetParams, kNodeSet),
    GRAPHKIT_CALL(cuGraphNodeSetEnabled, kNodeEnabled),
    GRAPHKIT_CALL(cuGraphKernelNodeSetAttribute, kNodeUpdatable),
    GRAPHKIT_CALL(cuGraphAddDependencies, kAddDependencies),
    GRAPHKIT_CALL(cuGraphAddDependencies_v2, kAddDependencies),
    GRAPHKIT_CALL(cuGraphRemoveDependencies, kRemoveDependencies),
    GRAPHKIT_CALL(cuGraphRemoveDependencies_v2, kRemoveDependencies),
    GRAPHKIT_CALL(cuGraphInstantiate, kInstantiate),
    GRAPHKIT_CALL(cuGraphInstantiate_v2, kInstantiate),
    GRAPHKIT_CALL(cuGraphInstantiateWithFlags, kInstantiate),
    GRAPHKIT_CALLS(cuGraphInstantiateWithParams, kInstantiate),
    GRAPHKIT_CALL(cuGraphExecDestroy, kExecDestroy),
    GRAPHKIT_CALL(cuGraphExecUpdate, kExecUpdate),
    GRAPHKIT_CALL(cuGraphExecUpdate_v2, kExecUpdate),
    GRAPHKIT_CALLS(cuGraphLaunch, kGraphLaunch),
    GRAPHKIT_CALLS(cuGraphUpload, kGraphUpload),
    // told only when they fail: what a capture forbids
    GRAPHKIT_CALLS(cuStreamAddCallback, kOther),
    GRAPHKIT_CALLS(cuStreamAttachMemAsync, kOther),
    GRAPHKIT_CALLS(cuMemPrefetchBatchAsync, kOther),
    GRAPHKIT_CALLS(cuMemDiscardBatchAsync, kOther),
    GRAPHKIT_CALLS(cuMemDiscardAndPrefetchBatchAsync, kOther),
    GRAPHKIT_CALLS(cuMemMapArrayAsync, kOther),
    // told only when they fail, and without a stream: prefetches, limits
    GRAPHKIT_BARE(cuCtxSetLimit, kOther),
    GRAPHKIT_FAILURES(cuMemPrefetchAsync, ptsz),
    GRAPHKIT_BARE(cuMemPoolTrimTo, kOther),
    GRAPHKIT_FAILURES(cuMemPrefetchAsync_v2, ptsz),
    // told only when they lack a place for the edges' data
    GRAPHKIT_QUERY(cuGraphGetEdges),
    GRAPHKIT_QUERY(cuGraphGetEdges_v2),
    GRAPHKIT_QUERY(cuGraphNodeGetDependencies),
    GRAPHKIT_QUERY(cuGraphNodeGetDependencies_v2),
    GRAPHKIT_QUERY(cuGraphNodeGetDependentNodes),
    GRAPHKIT_QUERY(cuGraphNodeGetDependentNodes_v2),
};

#undef GRAPHKIT_BARE
#undef GRAPHKIT_FAILURES
#undef GRAPHKIT_CALL
#undef GRAPHKIT_CALLS
#undef GRAPHKIT_QUERY
#undef GRAPHKIT_WAITING

// By callback id: the place in kCalls, from 1; 0: none.
constexpr auto kPlaces = [] {
  std::array<int16_t, kDriverCallLimit> places{};
  for (size_t i = 0; i < std::size(kCalls); ++i) places[kCalls[i].id] = static_cast<int16_t>(i + 1);
  return places;
}();
static_assert(std::ranges::count(kPlaces, 0) == kDriverCallLimit - std::size(kCalls),
              "two rows of one call");

constexpr uint16_t kRuntimeNoise[] = {
#include "runtime_noise.inc"
};

}  // namespace

std::span<const DriverCall> DriverCalls() { return kCalls; }

const DriverCall* FindDriverCall(uint32_t id) {
  const int16_t place = id < kDriverCallLimit ? kPlaces[id] : int16_t{0};
  return place == 0 ? nullptr : &kCalls[place - 1];
}

GraphLaunch ReadLaunch(const CallParams& params) {
  const auto& p = *static_cast<const cuGraphLaunch_params*>(params.raw);
  return {.exec = reinterpret_cast<uint64_t>(p.hGraph),
          .stream = StreamHandle(p.hStream, params.row->per_thread)};
}

bool IsRuntimeNoise(uint32_t id) {
  return std::ranges::find(kRuntimeNoise, id) != std::end(kRuntimeNoise);
}

uint64_t StreamHandle(const void* stream, bool per_thread) {
  if (stream == nullptr) return per_thread ? kPerThreadStream : kLegacyStream;
  return reinterpret_cast<uint64_t>(stream);
}

}  // namespace graphkit
