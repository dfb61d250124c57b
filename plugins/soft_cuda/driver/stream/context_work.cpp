// Calls that concern all work of a context at once.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

// Streams that capture can't take part: their captures end.
CUresult CheckCaptures(const Context& context) {
  CUresult result = CUDA_SUCCESS;
  for (Stream* stream : context.streams) {
    if (stream->capture == nullptr) continue;
    stream->capture->valid = false;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult Find(CUcontext context_handle, CUevent event_handle, Context** context, Event** event) {
  *context = Resolve<Context>(context_handle);
  *event = Resolve<Event>(event_handle);
  if (*context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (*event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return CheckCaptures(**context);
}

}  // namespace

CUresult CtxRecordEvent(CUcontext context_handle, CUevent event_handle) {
  const Lock lock = LockDevice();
  Context* context = nullptr;
  Event* event = nullptr;
  if (CUresult error = Find(context_handle, event_handle, &context, &event); error != CUDA_SUCCESS)
    return error;
  if (event->context != context) return CUDA_ERROR_INVALID_HANDLE;
  Work all{.what = "the work of a context"};
  event->time_ns = 0;
  event->frees.clear();
  for (Stream* stream : context->streams) {
    Advance(stream, 0);
    Follow(event->frees, stream->frees);
    event->time_ns = std::max(event->time_ns, stream->time_ns);
    if (WorkMark end = End(stream); end.line != nullptr) all.after.push_back(std::move(end));
  }
  event->recorded = true;
  event->capture = 0;
  event->points.clear();
  event->mark = Device::Get().worker.Add(std::make_shared<WorkLine>(), std::move(all));
  return CUDA_SUCCESS;
}

CUresult CtxWaitEvent(CUcontext context_handle, CUevent event_handle) {
  const Lock lock = LockDevice();
  Context* context = nullptr;
  Event* event = nullptr;
  if (CUresult error = Find(context_handle, event_handle, &context, &event); error != CUDA_SUCCESS)
    return error;
  if (event->capture != 0) {
    Captures& captures = Device::Get().captures;
    if (Capture* capture = captures.Find(event->capture)) captures.Invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (!event->recorded) return CUDA_SUCCESS;
  for (Stream* stream : context->streams) Follow(stream->frees, event->frees);
  if (Device::Get().worker.IsDone(event->mark)) return CUDA_SUCCESS;
  for (Stream* stream : context->streams) {
    stream->time_ns = std::max(stream->time_ns, event->time_ns);
    Push(stream, {.what = "an event", .after = {event->mark}});
  }
  context->gate = event->mark;
  return CUDA_SUCCESS;
}

// All multiprocessors: a context has fewer only under MPS.
CUresult CtxGetExecAffinity(CUexecAffinityParam* out, CUexecAffinityType type) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  out->type = type;
  out->param.smCount.val = static_cast<unsigned>(context->gpu->figures.multiprocessors);
  return CUDA_SUCCESS;
}

CUresult FlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                  CUflushGPUDirectRDMAWritesScope scope) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX) return CUDA_ERROR_INVALID_VALUE;
  const bool known = scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
                     scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace graphkit::soft::driver
