// Streams: making, asking, waiting. Capture is in capture.cpp.
#include "plugins/soft_cuda/model/stream.h"

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/launch_rules.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

// Looks a stream up for a query.
CUresult Find(CUstream handle, Stream** stream) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = FindStream(handle);
  return *stream != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// A wait for, or a question about a stream's progress is never possible while it captures.
CUresult CheckProgress(Stream* stream) {
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Captures& captures = Device::Get().captures;
  if (stream->kind == StreamKind::kLegacy) {
    if (CUresult error = captures.CheckLegacy(stream->context); error != CUDA_SUCCESS) return error;
  }
  return CheckUnsafe();
}

template <typename T, typename Read>
CUresult Ask(CUstream handle, T* value, Read&& read) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = Find(handle, &stream); error != CUDA_SUCCESS) return error;
  *value = read(*stream);
  return CUDA_SUCCESS;
}

// Calls `use` with an attribute in `value` and where the stream keeps it.
template <typename Value, typename Use>
CUresult WithAttribute(CUstream handle, CUstreamAttrID attr, Value* value, Use&& use) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = Find(handle, &stream); error != CUDA_SUCCESS) return error;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return use(value->accessPolicyWindow, stream->window);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return use(value->syncPolicy, stream->sync_policy);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      return use(value->priority, stream->priority);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return use(value->memSyncDomainMap, stream->domain_map);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return use(value->memSyncDomain, stream->domain);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Keep(const CUaccessPolicyWindow& given, CUaccessPolicyWindow& kept) {
  if (!IsWindow(given)) return CUDA_ERROR_INVALID_VALUE;
  kept = given;
  return CUDA_SUCCESS;
}
template <typename T>
CUresult Keep(const T& given, T& kept) {
  kept = given;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult StreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  if (out == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  *out = Device::Get().MakeStream(context, StreamKind::kUser, flags, priority)->handle();
  return CUDA_SUCCESS;
}

CUresult StreamCreate(CUstream* out, unsigned int flags) {
  return StreamCreateWithPriority(out, flags, 0);
}

CUresult StreamDestroy_v2(CUstream handle) {
  const Lock lock = LockDevice();
  auto* stream = Resolve<Stream>(
      handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD ? nullptr : handle);
  if (stream == nullptr || stream->kind != StreamKind::kUser) return CUDA_ERROR_INVALID_HANDLE;
  Device::Get().DestroyStream(stream);
  return CUDA_SUCCESS;
}

CUresult StreamSynchronize(CUstream handle) {
  Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = Find(handle, &stream); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckProgress(stream); error != CUDA_SUCCESS) return error;
  Advance(stream, 0);
  HostWaits(stream->time_ns);
  Follow(Device::Get().host_frees, stream->frees);
  return Synchronized(WaitFor(lock, End(stream)));
}

CUresult StreamQuery(CUstream handle) {
  const Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = Find(handle, &stream); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckProgress(stream); error != CUDA_SUCCESS) return error;
  return End(stream).line == nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult StreamGetPriority(CUstream handle, int* priority) {
  return Ask(handle, priority, [](Stream& s) { return s.priority; });
}
CUresult StreamGetFlags(CUstream handle, unsigned int* flags) {
  return Ask(handle, flags, [](Stream& s) { return s.flags; });
}
CUresult StreamGetId(CUstream handle, unsigned long long* id) {
  return Ask(handle, id, [](Stream& s) { return s.id; });
}
CUresult StreamGetCtx(CUstream handle, CUcontext* context) {
  return Ask(handle, context, [](Stream& s) { return s.context->handle(); });
}
// No stream belongs to a green context here.
CUresult StreamGetGreenCtx(CUstream handle, CUgreenCtx* context) {
  return Ask(handle, context, [](Stream&) { return CUgreenCtx{}; });
}
CUresult StreamGetDevice(CUstream handle, CUdevice* device) {
  return Ask(handle, device, [](Stream& s) { return s.context->gpu->ordinal; });
}

CUresult StreamGetAttribute(CUstream handle, CUstreamAttrID attr, CUstreamAttrValue* value) {
  return WithAttribute(handle, attr, value, [](auto& given, const auto& kept) {
    given = kept;
    return CUDA_SUCCESS;
  });
}

CUresult StreamSetAttribute(CUstream handle, CUstreamAttrID attr, const CUstreamAttrValue* value) {
  return WithAttribute(handle, attr, value,
                       [](const auto& given, auto& kept) { return Keep(given, kept); });
}

CUresult StreamCopyAttributes(CUstream to, CUstream from) {
  const Lock lock = LockDevice();
  Stream* target = nullptr;
  Stream* source = nullptr;
  if (CUresult error = Find(to, &target); error != CUDA_SUCCESS) return error;
  if (CUresult error = Find(from, &source); error != CUDA_SUCCESS) return error;
  if (target->context != source->context) return CUDA_ERROR_INVALID_VALUE;
  target->window = source->window;
  target->sync_policy = source->sync_policy;
  target->domain_map = source->domain_map;
  target->domain = source->domain;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
