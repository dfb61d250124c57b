#include "plugins/soft_cuda/runtime/start.h"

#include "plugins/soft_cuda/device/shared.h"

namespace graphkit::soft::runtime {

cudaError_t StartDriver() {
  static const Shared& shared = *graphkit_soft_shared();
  if (shared.driver_ready()) return cudaSuccess;
  return ToRuntime(cuInit(0));
}

cudaError_t MakeContextCurrent() {
  static const Shared& shared = *graphkit_soft_shared();
  ThreadState& thread = *shared.thread();
  if (!thread.contexts.empty()) return cudaSuccess;
  CUcontext context = nullptr;
  if (CUresult error = cuDevicePrimaryCtxRetain(&context, thread.runtime_device);
      error != CUDA_SUCCESS) {
    return ToRuntime(error);
  }
  return ToRuntime(cuCtxSetCurrent(context));
}

}  // namespace graphkit::soft::runtime
