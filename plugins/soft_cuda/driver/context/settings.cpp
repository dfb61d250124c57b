// Settings that tune a device and change nothing here: preferred cache sizes and the profiler's
// switch. What is set is kept and told.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

bool IsCachePreference(int value) {
  return value >= CU_FUNC_CACHE_PREFER_NONE && value <= CU_FUNC_CACHE_PREFER_EQUAL;
}

bool IsSharedConfig(int value) {
  return value >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
         value <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

CUresult CheckProfiler() {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  return CheckUnsafe();
}

}  // namespace

CUresult CtxGetCacheConfig(CUfunc_cache* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  *config = context->cache_config;
  return CUDA_SUCCESS;
}

CUresult CtxSetCacheConfig(CUfunc_cache config) {
  if (!IsCachePreference(config)) return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  context->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult FuncSetCacheConfig(CUfunction f, CUfunc_cache config) {
  if (Resolve<Function>(f) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return IsCachePreference(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult FuncSetSharedMemConfig(CUfunction f, CUsharedconfig config) {
  if (Resolve<Function>(f) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return IsSharedConfig(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CtxResetPersistingL2Cache() {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  return CheckUnsafe();
}

CUresult ProfilerStart() { return CheckProfiler(); }
CUresult ProfilerStop() { return CheckProfiler(); }

// Callbacks for the driver's log. Nothing is logged here: they are kept and never called.
CUresult LogsRegisterCallback(CUlogsCallback callback, void*, CUlogsCallbackHandle* out) {
  if (callback == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  std::set<uint64_t>& callbacks = Device::Get().log_callbacks;
  const uint64_t handle = callbacks.empty() ? 1 : *callbacks.rbegin() + 1;
  callbacks.insert(handle);
  if (out != nullptr) *out = reinterpret_cast<CUlogsCallbackHandle>(handle);
  return CUDA_SUCCESS;
}

CUresult LogsUnregisterCallback(CUlogsCallbackHandle handle) {
  const Lock lock = LockDevice();
  const bool known = Device::Get().log_callbacks.erase(reinterpret_cast<uint64_t>(handle)) > 0;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace graphkit::soft::driver
