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
  uint32_t uid = 0;
  if (shared.current_context(&uid) != nullptr) return cudaSuccess;
  return MakePrimaryCurrent(shared.thread()->runtime_device);
}

cudaError_t MakePrimaryCurrent(int device) {
  static const Shared& shared = *graphkit_soft_shared();
  uint32_t uid = 0;
  CUcontext context = shared.current_context(&uid);
  if (context != nullptr && context == shared.primary(device)) return cudaSuccess;
  if (CUresult error = cuDevicePrimaryCtxRetain(&context, device); error != CUDA_SUCCESS)
    return ToRuntime(error);
  return ToRuntime(cuCtxSetCurrent(context));
}

bool HasContext() {
  static const Shared& shared = *graphkit_soft_shared();
  uint32_t uid = 0;
  if (shared.current_context(&uid) != nullptr) return true;
  const int device = shared.thread()->runtime_device;
  return shared.primary(device) != nullptr && MakePrimaryCurrent(device) == cudaSuccess;
}

int CurrentDevice() {
  static const Shared& shared = *graphkit_soft_shared();
  uint32_t uid = 0;
  uint32_t device = 0;
  const CUcontext context = shared.current_context(&uid);
  if (context != nullptr && shared.device_id(context, &device)) return static_cast<int>(device);
  return shared.thread()->runtime_device;
}

}  // namespace graphkit::soft::runtime
