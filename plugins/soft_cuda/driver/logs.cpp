// Callbacks for the driver's log. Nothing is logged here: they are kept and never called.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

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
