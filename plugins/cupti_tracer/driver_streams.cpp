// Parameters of calls about streams, events and captures.
#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstring>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {}  // namespace

void OfStream(const CallParams& params, Call& call) {
  call.stream = Stream(params, As<cuStreamSynchronize_params>(params).hStream);
}
void OfEvent(const CallParams& params, Call& call) {
  call.event = Address(As<cuEventSynchronize_params>(params).hEvent);
}

// Also cuIpcOpenEventHandle and cuEventCreateFromEGLSync: the event comes first.
void EventCreate(const CallParams& params, Call& call) {
  if (params.done) call.event = Address(*As<cuEventCreate_params>(params).phEvent);
}

void StreamCreate(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamCreate_params>(params);
  call.flags = p.Flags;
  if (params.done) call.stream = Address(*p.phStream);
}
void StreamCreateWithPriority(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamCreateWithPriority_params>(params);
  call.flags = p.flags;
  call.priority = p.priority;
  if (params.done) call.stream = Address(*p.phStream);
}
struct GreenStreamParams {  // cuGreenCtxStreamCreate_params, CUDA 12.5
  CUstream* phStream;
  void* greenCtx;
  unsigned int flags;
  int priority;
};
void GreenStreamCreate(const CallParams& params, Call& call) {
  const auto& p = As<GreenStreamParams>(params);
  call.flags = p.flags;
  call.priority = p.priority;
  if (params.done) call.stream = Address(*p.phStream);
}

void BeginCaptureV1(const CallParams& params, Call& call) {
  call.stream = Stream(params, As<cuStreamBeginCapture_params>(params).hStream);
}
void BeginCapture(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamBeginCapture_v2_params>(params);
  call.stream = Stream(params, p.hStream);
  call.mode = static_cast<uint8_t>(p.mode);
}
void Dependencies(const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count, Call& call) {
  for (size_t i = 0; nodes != nullptr && i < count; ++i) {
    CUgraphEdgeData of_edge = data != nullptr ? data[i] : CUgraphEdgeData{};
    call.dependencies.push_back(
        {Address(nodes[i]), 0, of_edge.from_port, of_edge.to_port, of_edge.type});
  }
}
void BeginCaptureToGraph(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamBeginCaptureToGraph_params>(params);
  call.stream = Stream(params, p.hStream);
  call.graph = Address(p.hGraph);
  call.mode = static_cast<uint8_t>(p.mode);
  Dependencies(p.dependencies, p.dependencyData, p.numDependencies, call);
}
void EndCapture(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamEndCapture_params>(params);
  call.stream = Stream(params, p.hStream);
}
void UpdateDependenciesV1(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamUpdateCaptureDependencies_params>(params);
  call.stream = Stream(params, p.hStream);
  call.flags = p.flags;
  Dependencies(p.dependencies, nullptr, p.numDependencies, call);
}
void UpdateDependencies(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamUpdateCaptureDependencies_v2_params>(params);
  call.stream = Stream(params, p.hStream);
  call.flags = p.flags;
  Dependencies(p.dependencies, p.dependencyData, p.numDependencies, call);
}

void EventRecord(const CallParams& params, Call& call) {
  const auto& p = As<cuEventRecord_params>(params);
  call.stream = Stream(params, p.hStream);
  call.event = Address(p.hEvent);
}
void EventRecordWithFlags(const CallParams& params, Call& call) {
  const auto& p = As<cuEventRecordWithFlags_params>(params);
  call.stream = Stream(params, p.hStream);
  call.event = Address(p.hEvent);
  call.flags = p.flags;
}
void StreamWaitEvent(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamWaitEvent_params>(params);
  call.stream = Stream(params, p.hStream);
  call.event = Address(p.hEvent);
  call.flags = p.Flags;
}

// Work that touches no memory that a trace knows.
void HostFunction(const CallParams& params, Call& call) {
  call.stream = Stream(params, As<cuLaunchHostFunc_params>(params).hStream);
  call.work_kind = NodeKind::kHost;
}
void SignalSemaphores(const CallParams& params, Call& call) {
  call.stream = Stream(params, As<cuSignalExternalSemaphoresAsync_params>(params).stream);
  call.work_kind = NodeKind::kExternalSemaphoreSignal;
}
void WaitSemaphores(const CallParams& params, Call& call) {
  call.stream = Stream(params, As<cuWaitExternalSemaphoresAsync_params>(params).stream);
  call.work_kind = NodeKind::kExternalSemaphoreWait;
}

// Calls of which only the stream matters, by where it stands in the parameters.
namespace {
void StreamAt(const CallParams& params, size_t offset, Call& call) {
  CUstream stream;
  std::memcpy(&stream, static_cast<const char*>(params.raw) + offset, sizeof stream);
  call.stream = Stream(params, stream);
}
}  // namespace
void StreamAt16(const CallParams& params, Call& call) { StreamAt(params, 16, call); }
void StreamAt32(const CallParams& params, Call& call) { StreamAt(params, 32, call); }
void StreamAt56(const CallParams& params, Call& call) { StreamAt(params, 56, call); }
static_assert(offsetof(cuMemMapArrayAsync_params, hStream) == 16);
static_assert(offsetof(cuMemDiscardBatchAsync_params, hStream) == 32);
static_assert(offsetof(cuMemPrefetchBatchAsync_params, hStream) == 56);
static_assert(offsetof(cuMemDiscardAndPrefetchBatchAsync_params, hStream) == 56);

}  // namespace graphkit::decode
