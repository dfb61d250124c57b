// Events: in streams, and in captures, where a record notes the stream's dependency set and makes
// no node.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/ipc_event.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr unsigned kEventFlags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult CheckProgress(Event* event) {
  Captures& captures = Device::Get().captures;
  if (Capture* capture = captures.Find(event->capture)) {
    captures.Invalidate(capture);
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return event->capture != 0 ? CUDA_ERROR_CAPTURED_EVENT : CheckUnsafe();
}

void RecordOutside(Stream* stream, Event* event) {
  Advance(stream, 0);
  event->recorded = true;
  event->capture = 0;
  event->points.clear();
  event->time_ns = stream->time_ns;
  if (event->shared != nullptr) RecordShared(stream, event);
  event->mark = End(stream);
  event->frees = stream->frees;
}

// A stream that doesn't capture waits for a captured event: it joins.
CUresult JoinCapture(Stream* stream, Event* event) {
  Captures& captures = Device::Get().captures;
  Capture* capture = captures.Find(event->capture);
  if (capture == nullptr) return CUDA_ERROR_CAPTURED_EVENT;  // of a capture that is over
  if (!capture->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->kind == StreamKind::kLegacy) {
    captures.Invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (stream->capture != nullptr && stream->capture != capture) {
    captures.Invalidate(stream->capture);
    captures.Invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  captures.Join(stream, capture, event->points);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult EventCreate(CUevent* out, unsigned int flags) {
  if (out == nullptr || (flags & ~kEventFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  Event* event = Device::Get().events.Make();
  event->flags = flags;
  event->context = CurrentContext();
  *out = event->handle();
  return CUDA_SUCCESS;
}

CUresult EventDestroy_v2(CUevent handle) {
  const Lock lock = LockDevice();
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  DropShared(*event);
  Device::Get().events.Unmake(event);
  return CUDA_SUCCESS;
}

CUresult EventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned int flags) {
  Lock lock = LockDevice();
  if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  if (event->context->gpu != stream->context->gpu) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture == nullptr) {
    if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
    RecordOutside(stream, event);
    return CUDA_SUCCESS;
  }
  if ((flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
    return Submit(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, EventParams{event});
  }
  event->recorded = true;
  event->capture = stream->capture->id;
  event->points = stream->dependencies.edges();
  return CUDA_SUCCESS;
}

CUresult EventRecord(CUevent event, CUstream stream) {
  return EventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult StreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags) {
  Lock lock = LockDevice();
  if ((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Stream* stream = nullptr;
  if (event->capture != 0 && (flags & CU_EVENT_WAIT_EXTERNAL) == 0) {
    stream = FindStream(stream_handle);
    return stream != nullptr ? JoinCapture(stream, event) : CUDA_ERROR_INVALID_HANDLE;
  }
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  if (stream->capture == nullptr) {
    if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
    if (event->shared != nullptr) Push(stream, WaitForShared(*event));
    if (!event->recorded) return CUDA_SUCCESS;
    stream->time_ns = std::max(stream->time_ns, event->time_ns);
    Follow(stream->frees, event->frees);
    if (!Device::Get().worker.IsDone(event->mark)) {
      Push(stream, {.what = "an event", .after = {event->mark}});
    }
    return CUDA_SUCCESS;
  }
  if ((flags & CU_EVENT_WAIT_EXTERNAL) != 0) {
    return Submit(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, EventParams{event});
  }
  if (!event->recorded) return CUDA_SUCCESS;
  Device::Get().captures.Invalidate(stream->capture);
  return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

CUresult EventQuery(CUevent handle) {
  const Lock lock = LockDevice();
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = CheckProgress(event); error != CUDA_SUCCESS) return error;
  const bool done = event->shared != nullptr ? WaitForShared(*event).ready()
                                             : Device::Get().worker.IsDone(event->mark);
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult EventSynchronize(CUevent handle) {
  Lock lock = LockDevice();
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = CheckProgress(event); error != CUDA_SUCCESS) return error;
  HostWaits(event->time_ns);
  Follow(Device::Get().host_frees, event->frees);
  WorkMark end = event->mark;
  if (event->shared != nullptr)
    end = Device::Get().worker.Add(std::make_shared<WorkLine>(), WaitForShared(*event));
  return Synchronized(WaitFor(lock, end));
}

CUresult EventElapsedTime_v2(float* ms, CUevent start_handle, CUevent end_handle) {
  if (ms == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const auto* start = Resolve<Event>(start_handle);
  const auto* end = Resolve<Event>(end_handle);
  if (start == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->recorded || !end->recorded || !start->timing() || !end->timing())
    return CUDA_ERROR_INVALID_HANDLE;
  if (start->context->gpu != end->context->gpu) return CUDA_ERROR_INVALID_HANDLE;
  if (start->capture != 0 || end->capture != 0) return CUDA_ERROR_CAPTURED_EVENT;
  Worker& worker = Device::Get().worker;
  if (!worker.IsDone(start->mark) || !worker.IsDone(end->mark)) return CUDA_ERROR_NOT_READY;
  *ms = static_cast<float>(static_cast<int64_t>(end->time_ns - start->time_ns)) / 1e6f;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
