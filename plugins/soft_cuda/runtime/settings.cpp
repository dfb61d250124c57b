// Settings that tune a device, and which devices a program may use.
#include <algorithm>

#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

// As in cudaProfiler.h, which not every package of the toolkit has.
extern "C" CUresult CUDAAPI cuProfilerStart();
extern "C" CUresult CUDAAPI cuProfilerStop();

namespace graphkit::soft::runtime {

cudaError_t FuncSetCacheConfig(const void* func, cudaFuncCache config) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return ToRuntime(cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(config)));
}

cudaError_t FuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config) {
  if (FunctionOf(func) == nullptr) return NotAKernel(func);
  const bool known =
      config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
  return known ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t ProfilerStart() { return ToRuntime(cuProfilerStart()); }
cudaError_t ProfilerStop() { return ToRuntime(cuProfilerStop()); }

// The first device that has what is asked for: the compute capability and the memory; else the
// first.
cudaError_t ChooseDevice(int* device, const cudaDeviceProp* prop) {
  if (device == nullptr || prop == nullptr) return cudaErrorInvalidValue;
  *device = 0;
  int count = 0;
  if (cudaError_t error = ToRuntime(cuDeviceGetCount(&count)); error != cudaSuccess) return error;
  for (int candidate = 0; candidate < count; ++candidate) {
    cudaDeviceProp has;
    GetDeviceProperties(&has, candidate);
    const bool capable =
        has.major > prop->major || (has.major == prop->major && has.minor >= prop->minor);
    if (!capable || has.totalGlobalMem < prop->totalGlobalMem) continue;
    *device = candidate;
    break;
  }
  return cudaSuccess;
}

cudaError_t SetValidDevices(int* devices, int count) {
  if (count < 0 || (devices == nullptr && count > 0)) return cudaErrorInvalidValue;
  int existing = 0;
  if (cudaError_t error = ToRuntime(cuDeviceGetCount(&existing)); error != cudaSuccess)
    return error;
  const bool known = std::all_of(devices, devices + count,
                                 [&](int device) { return device >= 0 && device < existing; });
  return known ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace graphkit::soft::runtime
