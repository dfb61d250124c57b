// Contexts: the primary one, others, and each thread's stack of them.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

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

// Destroys a context when its work is done; it leaves the thread's stack.
CUresult EndContext(Lock& lock, Context* context) {
  if (CUresult error = WaitForAll(lock); error != CUDA_SUCCESS) return error;
  Device::Get().DestroyContext(context);
  Device::Get().backing.ForgetUnmapped();
  std::erase(CurrentThread().contexts, context);
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRetain(CUcontext* out, CUdevice dev) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Device& device = Device::Get();
  const Lock lock = LockDevice();
  Gpu* gpu = device.FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (gpu->primary == nullptr) {
    gpu->primary = device.MakeContext(gpu, gpu->primary_flags);
    gpu->primary->primary = true;
  }
  ++gpu->primary->retained;
  *out = gpu->primary->handle();
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxReset_v2(CUdevice dev) {
  Lock lock = LockDevice();
  const Gpu* gpu = Device::Get().FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  return gpu->primary != nullptr ? EndContext(lock, gpu->primary) : CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRelease_v2(CUdevice dev) {
  Lock lock = LockDevice();
  const Gpu* gpu = Device::Get().FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Context* primary = gpu->primary;
  if (primary == nullptr || primary->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return --primary->retained == 0 ? EndContext(lock, primary) : CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  const Lock lock = LockDevice();
  Gpu* gpu = Device::Get().FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if ((flags & ~kContextFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  gpu->primary_flags = flags;
  if (gpu->primary != nullptr) gpu->primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  const Lock lock = LockDevice();
  const Gpu* gpu = Device::Get().FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = gpu->primary_flags;
  *active = gpu->primary != nullptr;
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
  Lock lock = LockDevice();
  auto* context = Resolve<Context>(handle);
  if (context == nullptr || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  return EndContext(lock, context);
}

CUresult CtxCreate_v4(CUcontext* out, CUctxCreateParams*, unsigned int flags, CUdevice dev) {
  if (out == nullptr || (flags & ~kContextFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Gpu* gpu = Device::Get().FindGpu(dev);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = Device::Get().MakeContext(gpu, flags);
  CurrentThread().contexts.push_back(context);
  *out = context->handle();
  return CUDA_SUCCESS;
}

CUresult CtxGetDevice_v2(CUdevice* dev, CUcontext handle) {
  if (dev == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* context = handle != nullptr ? Resolve<Context>(handle) : CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *dev = context->gpu->ordinal;
  return CUDA_SUCCESS;
}

CUresult CtxGetDevice(CUdevice* dev) { return CtxGetDevice_v2(dev, nullptr); }

CUresult CtxGetFlags(unsigned int* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult CtxSetFlags(unsigned int flags) {
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if ((flags & ~kContextFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  context->flags = flags;
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

// Banks of shared memory have a fixed width.
CUresult CtxGetSharedMemConfig(CUsharedconfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult CtxSetSharedMemConfig(CUsharedconfig config) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                     config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CtxSynchronize() { return CtxSynchronize_v2(nullptr); }

CUresult CtxSynchronize_v2(CUcontext handle) {
  const auto* context = handle != nullptr ? Resolve<Context>(handle) : CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Lock lock = LockDevice();
  const CUresult error = Device::Get().captures.CheckWaitForAll(context);
  if (error != CUDA_SUCCESS) return error;
  for (const Stream* stream : context->streams) {
    HostWaits(stream->time_ns);
    Follow(Device::Get().host_frees, stream->frees);
  }
  HostWaits(context->left_ns);
  Follow(Device::Get().host_frees, context->left_frees);
  return Synchronized(WaitForAll(lock));
}

}  // namespace graphkit::soft::driver
