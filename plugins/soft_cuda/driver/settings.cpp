// Settings that tune a device and change nothing here: preferred cache sizes and the profiler's
// switch. What is set is kept and told.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/submit.h"

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

}  // namespace graphkit::soft::driver
