// Contexts: the primary one, others, and each thread's stack of them.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/submit.h"

namespace graphkit::soft::driver {
namespace {

size_t DefaultLimit(CUlimit limit) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      return 1024;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      return size_t{7} << 20;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      return size_t{8} << 20;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      return 2048;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      return 64;
    default:
      return 0;
  }
}

}  // namespace

CUresult DevicePrimaryCtxRetain(CUcontext* out, CUdevice dev) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  Device& device = Device::Get();
  const Lock lock = LockDevice();
  if (device.primary == nullptr) {
    device.primary = device.MakeContext(device.primary_flags);
    device.primary->primary = true;
  }
  ++device.primary->retained;
  *out = device.primary->handle();
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxReset_v2(CUdevice dev) {
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  Device& device = Device::Get();
  const Lock lock = LockDevice();
  if (device.primary == nullptr) return CUDA_SUCCESS;
  device.DestroyContext(device.primary);
  std::erase(CurrentThread().contexts, device.primary);
  device.primary = nullptr;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRelease_v2(CUdevice dev) {
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  const Lock lock = LockDevice();
  Context* primary = Device::Get().primary;
  if (primary == nullptr || primary->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return --primary->retained == 0 ? DevicePrimaryCtxReset_v2(dev) : CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  const Lock lock = LockDevice();
  Device::Get().primary_flags = flags;
  if (Device::Get().primary != nullptr) Device::Get().primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  *flags = Device::Get().primary_flags;
  *active = Device::Get().primary != nullptr;
  return CUDA_SUCCESS;
}

CUresult CtxGetCurrent(CUcontext* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  *out = context != nullptr ? context->handle() : nullptr;
  return CUDA_SUCCESS;
}

CUresult CtxSetCurrent(CUcontext handle) {
  std::vector<Context*>& stack = CurrentThread().contexts;
  auto* context = Resolve<Context>(handle);
  if (handle != nullptr && context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult CtxPushCurrent_v2(CUcontext handle) {
  auto* context = Resolve<Context>(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  CurrentThread().contexts.push_back(context);
  return CUDA_SUCCESS;
}

CUresult CtxPopCurrent_v2(CUcontext* out) {
  std::vector<Context*>& stack = CurrentThread().contexts;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (out != nullptr) *out = stack.back()->handle();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult CtxDestroy_v2(CUcontext handle) {
  const Lock lock = LockDevice();
  auto* context = Resolve<Context>(handle);
  if (context == nullptr || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  std::erase(CurrentThread().contexts, context);
  Device::Get().DestroyContext(context);
  return CUDA_SUCCESS;
}

CUresult CtxCreate_v4(CUcontext* out, CUctxCreateParams*, unsigned int flags, CUdevice dev) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
  const Lock lock = LockDevice();
  Context* context = Device::Get().MakeContext(flags);
  CurrentThread().contexts.push_back(context);
  *out = context->handle();
  return CUDA_SUCCESS;
}

CUresult CtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice dev) {
  return CtxCreate_v4(out, nullptr, flags, dev);
}

CUresult CtxGetDevice(CUdevice* dev) {
  if (dev == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult CtxGetFlags(unsigned int* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult CtxGetId(CUcontext handle, unsigned long long* id) {
  auto* context = handle != nullptr ? Resolve<Context>(handle) : CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *id = context->uid;
  return CUDA_SUCCESS;
}

CUresult CtxGetApiVersion(CUcontext handle, unsigned int* version) {
  if (handle != nullptr && Resolve<Context>(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult CtxGetStreamPriorityRange(int* least, int* greatest) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return CUDA_SUCCESS;
}

CUresult CtxGetLimit(size_t* value, CUlimit limit) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const Lock lock = LockDevice();
  auto set = context->limits.find(limit);
  *value = set != context->limits.end() ? set->second : DefaultLimit(limit);
  return CUDA_SUCCESS;
}

CUresult CtxSetLimit(CUlimit limit, size_t value) {
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const Lock lock = LockDevice();
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult CtxSynchronize() {
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Lock lock = LockDevice();
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS) return error;
  for (const Stream* stream : context->streams) HostWaits(stream->time_ns);
  HostWaits(context->left_ns);
  return WaitForAll(lock);
}

}  // namespace graphkit::soft::driver
