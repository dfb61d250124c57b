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
// Spot checks of the callback ids below; all of them are in the same append-only list.
static_assert(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel == 307);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2 == 243);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 == 539);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch == 514);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync == 598);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2 == 798);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2 == 723);
static_assert(CUPTI_DRIVER_TRACE_CBID_cuStreamUpdateCaptureDependencies_v2_ptsz == 732);

using K = CallKind;
using namespace decode;

constexpr DriverCall kCalls[] = {
    // streams, events
    {124, K::kStreamCreate, StreamCreate},
    {367, K::kStreamCreate, StreamCreateWithPriority},
    {758, K::kStreamCreate, GreenStreamCreate},
    {127, K::kStreamDestroy, OfStream},
    {326, K::kStreamDestroy, OfStream},
    {118, K::kEventCreate, EventCreate},
    {335, K::kEventCreate, EventCreate},  // cuIpcOpenEventHandle
    {479, K::kEventCreate, EventCreate},  // cuEventCreateFromEGLSync
    {122, K::kEventDestroy, OfEvent},
    {325, K::kEventDestroy, OfEvent},
    {119, K::kEventRecord, EventRecord},
    {441, K::kEventRecord, EventRecord, true},
    {587, K::kEventRecord, EventRecordWithFlags},
    {588, K::kEventRecord, EventRecordWithFlags, true},
    {295, K::kEventWait, StreamWaitEvent},
    {436, K::kEventWait, StreamWaitEvent, true},
    {126, K::kStreamSync, OfStream},
    {440, K::kStreamSync, OfStream, true},
    {120, K::kEventSync, OfEvent},  // cuEventQuery
    {121, K::kEventSync, OfEvent},
    {17, K::kDeviceSync},
    {800, K::kDeviceSync},
    // captures
    {495, K::kBeginCapture, BeginCaptureV1},
    {496, K::kBeginCapture, BeginCaptureV1, true},
    {539, K::kBeginCapture, BeginCapture},
    {540, K::kBeginCapture, BeginCapture, true},
    {720, K::kBeginCapture, BeginCaptureToGraph},
    {721, K::kBeginCapture, BeginCaptureToGraph, true},
    {497, K::kEndCapture, EndCapture},
    {498, K::kEndCapture, EndCapture, true},
    {631, K::kUpdateDependencies, UpdateDependenciesV1},
    {632, K::kUpdateDependencies, UpdateDependenciesV1, true},
    {731, K::kUpdateDependencies, UpdateDependencies},
    {732, K::kUpdateDependencies, UpdateDependencies, true},
    // work
    {307, K::kWork, KernelLaunch},
    {442, K::kWork, KernelLaunch, true},
    {652, K::kWork, LaunchEx},
    {653, K::kWork, LaunchEx, true},
    {477, K::kWork, CooperativeLaunch},
    {478, K::kWork, CooperativeLaunch, true},
    {277, K::kWork, CopyToDevice},
    {421, K::kWork, CopyToDevice, true},
    {279, K::kWork, CopyToHost},
    {422, K::kWork, CopyToHost, true},
    {281, K::kWork, CopyOnDevice},
    {423, K::kWork, CopyOnDevice, true},
    {306, K::kWork, CopyAny},
    {418, K::kWork, CopyAny, true},
    {319, K::kWork, CopyPeer},
    {426, K::kWork, CopyPeer, true},
    {289, K::kWork, Copy2D},
    {424, K::kWork, Copy2D, true},
    {291, K::kWork, Copy3D},
    {425, K::kWork, Copy3D, true},
    {293, K::kWork, HostToArray},
    {419, K::kWork, HostToArray, true},
    {283, K::kWork, ArrayToHost},
    {420, K::kWork, ArrayToHost, true},
    {321, K::kWork, Copy3DPeer},
    {427, K::kWork, Copy3DPeer, true},
    {216, K::kWork, Set8},
    {428, K::kWork, Set8, true},
    {218, K::kWork, Set16},
    {429, K::kWork, Set16, true},
    {220, K::kWork, Set32},
    {430, K::kWork, Set32, true},
    {222, K::kWork, Set2D8},
    {431, K::kWork, Set2D8, true},
    {224, K::kWork, Set2D16},
    {432, K::kWork, Set2D16, true},
    {226, K::kWork, Set2D32},
    {433, K::kWork, Set2D32, true},
    {527, K::kWork, HostFunction},
    {528, K::kWork, HostFunction, true},
    {490, K::kWork, SignalSemaphores},
    {491, K::kWork, SignalSemaphores, true},
    {492, K::kWork, WaitSemaphores},
    {493, K::kWork, WaitSemaphores, true},
    // several operations in one call
    {458, K::kWork, WaitValue32},  // waits for and writes of values
    {459, K::kWork, WaitValue32, true},
    {460, K::kWork, WriteValue32},
    {461, K::kWork, WriteValue32, true},
    {473, K::kWork, WaitValue64},
    {474, K::kWork, WaitValue64, true},
    {475, K::kWork, WriteValue64},
    {476, K::kWork, WriteValue64, true},
    {659, K::kWork, WaitValue32},
    {660, K::kWork, WaitValue32, true},
    {661, K::kWork, WaitValue64},
    {662, K::kWork, WaitValue64, true},
    {663, K::kWork, WriteValue32},
    {664, K::kWork, WriteValue32, true},
    {665, K::kWork, WriteValue64},
    {666, K::kWork, WriteValue64, true},
    {462, K::kWork, ValueBatch},
    {463, K::kWork, ValueBatch, true},
    {667, K::kWork, ValueBatch},
    {668, K::kWork, ValueBatch, true},
    {776, K::kWork, CopyBatchV1},  // batches of copies
    {777, K::kWork, CopyBatchV1, true},
    {796, K::kWork, CopyBatch},
    {797, K::kWork, CopyBatch, true},
    {778, K::kWork, Copy3DBatchV1},
    {779, K::kWork, Copy3DBatchV1, true},
    {798, K::kWork, Copy3DBatch},
    {799, K::kWork, Copy3DBatch, true},
    {761, K::kWork, Decompress},
    {762, K::kWork, Decompress, true},
    // memory
    {243, K::kAlloc, Alloc},
    {244, K::kAlloc, AllocPitch},
    {294, K::kAlloc, AllocHost},
    {39, K::kAlloc, AllocHost},
    {271, K::kAlloc, AllocHost},
    {371, K::kAlloc, AllocManaged},
    {598, K::kAlloc, AllocAsync},
    {599, K::kAlloc, AllocAsync, true},
    {611, K::kAlloc, AllocFromPool},
    {612, K::kAlloc, AllocFromPool, true},
    {551, K::kAlloc, Map},
    {245, K::kFree, Free},
    {38, K::kFree, Free},   // cuMemFreeHost
    {552, K::kFree, Free},  // cuMemUnmap
    {600, K::kFree, FreeAsync},
    {601, K::kFree, FreeAsync, true},
    {607, K::kPoolCreate, PoolCreate},
    {614, K::kPoolCreate, PoolCreate},  // cuMemPoolImportFromShareableHandle
    {608, K::kPoolDestroy, OfPool},
    // graphs
    {501, K::kGraphCreate},
    {523, K::kGraphClone, GraphClone},
    {517, K::kGraphDestroy, OfGraph},
    {522, K::kDestroyNode, OfNode},
    {502, K::kAddNode, AddKernel},
    {689, K::kAddNode, AddKernelV2},
    {504, K::kAddNode, AddCopy},
    {506, K::kAddNode, AddSet},
    {530, K::kAddNode, AddPlain},  // host
    {525, K::kAddNode, AddChild},
    {526, K::kAddNode, AddPlain},  // empty
    {589, K::kAddNode, AddEvent},
    {590, K::kAddNode, AddEvent},
    {618, K::kAddNode, AddPlain},  // semaphores
    {621, K::kAddNode, AddPlain},
    {638, K::kAddNode, AddAlloc},
    {639, K::kAddNode, AddFree},
    {669, K::kAddNode, AddBatch},  // memory operations
    {712, K::kAddNode, AddNode},
    {723, K::kAddNode, AddNodeV2},
    {521, K::kNodeSet, SetKernel},
    {691, K::kNodeSet, SetKernelV2},
    {538, K::kNodeSet, ExecSetKernel},
    {692, K::kNodeSet, ExecSetKernelV2},
    {520, K::kNodeSet, SetCopy},
    {562, K::kNodeSet, ExecSetCopy},
    {508, K::kNodeSet, SetFill},
    {563, K::kNodeSet, ExecSetFill},
    {593, K::kNodeSet, SetEvent},
    {594, K::kNodeSet, SetEvent},
    {595, K::kNodeSet, ExecSetEvent},
    {596, K::kNodeSet, ExecSetEvent},
    {533, K::kNodeSet, SetOther},  // host
    {564, K::kNodeSet, ExecSetOther},
    {586, K::kNodeSet, ExecSetChild},
    {620, K::kNodeSet, SetOther},  // semaphores
    {623, K::kNodeSet, SetOther},
    {624, K::kNodeSet, ExecSetOther},
    {625, K::kNodeSet, ExecSetOther},
    {671, K::kNodeSet, SetBatch},  // memory operations
    {672, K::kNodeSet, ExecSetBatch},
    {713, K::kNodeSet, SetAny},
    {714, K::kNodeSet, ExecSetAny},
    {650, K::kNodeEnabled, SetEnabled},
    {571, K::kNodeUpdatable, SetAttribute},
    {518, K::kAddDependencies, AddEdges},
    {727, K::kAddDependencies, AddEdgesV2},
    {519, K::kRemoveDependencies, RemoveEdges},
    {728, K::kRemoveDependencies, RemoveEdgesV2},
    {513, K::kInstantiate, Instantiate},
    {578, K::kInstantiate, Instantiate},
    {643, K::kInstantiate, InstantiateWithFlags},
    {656, K::kInstantiate, InstantiateWithParams},
    {657, K::kInstantiate, InstantiateWithParams, true},
    {516, K::kExecDestroy, OfExec},
    {561, K::kExecUpdate, UpdateExecV1},
    {696, K::kExecUpdate, UpdateExec},
    {514, K::kGraphLaunch, GraphLaunch},
    {515, K::kGraphLaunch, GraphLaunch, true},
    {580, K::kInternal},  // cuGraphUpload
    {581, K::kInternal},
    // told only when they fail: what a capture forbids
    {125, K::kOther, OfStream},  // cuStreamQuery
    {439, K::kOther, OfStream, true},
    {346, K::kOther, OfStream},  // cuStreamAddCallback
    {437, K::kOther, OfStream, true},
    {377, K::kOther, OfStream},  // cuStreamAttachMemAsync
    {438, K::kOther, OfStream, true},
    {784, K::kOther, StreamAt56},  // batches of prefetches and discards
    {785, K::kOther, StreamAt56, true},
    {789, K::kOther, StreamAt32},
    {790, K::kOther, StreamAt32, true},
    {791, K::kOther, StreamAt56},
    {792, K::kOther, StreamAt56, true},
    {584, K::kOther, StreamAt16},  // cuMemMapArrayAsync
    {585, K::kOther, StreamAt16, true},
};

// Told only when they fail, and without a stream: copies and sets that wait, prefetches, limits,
// and registrations.
constexpr uint16_t kFailuresOnly[] = {136, 248, 249, 250, 251, 252, 253, 254, 276, 278, 280,
                                      287, 288, 290, 301, 302, 305, 318, 320, 379, 397, 398,
                                      399, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414,
                                      415, 416, 467, 468, 549, 602, 716, 717};

// cudaGetLastError and the like, device and attribute queries, what nvcc emits around launches.
constexpr uint16_t kRuntimeNoise[] = {
    1,   2,   3,   4,   10,  11,  12,  16,  17,  26,  30,  53,  54,  124, 151, 200,
    203, 204, 205, 207, 209, 210, 212, 237, 238, 251, 255, 317, 318, 324, 325, 336,
    343, 344, 406, 407, 409, 410, 439, 440, 441, 442, 461, 462, 467, 468, 469, 480,
    481, 493, 494, 495, 496, 497, 498, 499, 500, 501, 502, 503, 504, 507, 508};

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
