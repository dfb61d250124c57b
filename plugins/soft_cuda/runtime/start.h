// How the runtime comes up: the driver on the first call, the primary context on the first call
// that needs one.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

// Of CUDA 12 or of CUDA 13, as cudaRuntimeGetVersion gives it (the entry points).
extern const int kRuntimeVersion;

// Each library has a last error of its own, where a program has both.
inline int RuntimeIndex() { return kRuntimeVersion >= 13000 ? 1 : 0; }

cudaError_t StartDriver();
cudaError_t MakeContextCurrent();  // any context, if none is
cudaError_t MakePrimaryCurrent(int device);
// The thread has a context, or its device has one that it takes. None is made: questions don't
// activate a device.
bool HasContext();
// Of the thread: that of its current context, else what it chose by cudaSetDevice.
int CurrentDevice();

// Where something lies, as the driver names it.
inline CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Runtime errors have the driver's numbers.
inline cudaError_t ToRuntime(CUresult result) { return static_cast<cudaError_t>(result); }

// The runtime's error for the result of a launch. CUDA 12's has an error of its own for grids and
// blocks that no device can run; CUDA 13.0's hasn't (an H200 with driver 580.159.04).
cudaError_t FromLaunch(CUresult result, dim3 grid, dim3 block);
// The error for a pointer that is no kernel: CUDA 13.0 takes it for a handle.
inline cudaError_t NotAKernel(const void* function) {
  return function == nullptr || kRuntimeVersion < 13000 ? cudaErrorInvalidDeviceFunction
                                                        : cudaErrorInvalidResourceHandle;
}

// The kernel behind what launches take: a host function that nvcc registered, or a cudaKernel_t.
// Loads its library on first use. Null: neither.
CUkernel KernelOf(const void* function);
// The host function of a kernel; null where it has none.
const void* HostFunctionOf(CUkernel kernel);
const void* HostFunctionOf(CUfunction function);
// The device address and size of a registered variable.
cudaError_t VariableOf(const void* symbol, CUdeviceptr* address, size_t* bytes);
CUfunction FunctionOf(const void* function);

}  // namespace graphkit::soft::runtime
