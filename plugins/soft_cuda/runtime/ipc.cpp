// Handles for other processes: the driver's, under the runtime's names.
#include <cstring>

#include "plugins/soft_cuda/runtime/forward.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

template <typename To, typename From>
To Same(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace

cudaError_t IpcGetMemHandle(cudaIpcMemHandle_t* out, void* memory) {
  CUipcMemHandle handle{};
  const CUresult result =
      cuIpcGetMemHandle(out != nullptr ? &handle : nullptr, reinterpret_cast<CUdeviceptr>(memory));
  if (result == CUDA_SUCCESS) *out = Same<cudaIpcMemHandle_t>(handle);
  return ToRuntime(result);
}

cudaError_t IpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned int flags) {
  return ToRuntime(
      cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(out), Same<CUipcMemHandle>(handle), flags));
}

cudaError_t IpcCloseMemHandle(void* memory) {
  return ToRuntime(cuIpcCloseMemHandle(reinterpret_cast<CUdeviceptr>(memory)));
}

cudaError_t IpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t event) {
  CUipcEventHandle handle{};
  const CUresult result = cuIpcGetEventHandle(out != nullptr ? &handle : nullptr, event);
  if (result == CUDA_SUCCESS) *out = Same<cudaIpcEventHandle_t>(handle);
  return ToRuntime(result);
}

cudaError_t IpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  return ToRuntime(cuIpcOpenEventHandle(out, Same<CUipcEventHandle>(handle)));
}

}  // namespace graphkit::soft::runtime
