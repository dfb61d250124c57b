// External semaphores: imported by name only, recorded where they are used.
#include "plugins/soft_cuda/model/external_memory.h"

#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

CUresult CheckList(const CUexternalSemaphore* semaphores, unsigned int count) {
  if (semaphores == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool all = std::all_of(semaphores, semaphores + count,
                               [](CUexternalSemaphore s) { return s != nullptr; });
  return all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

template <typename Given, typename Values>
CUresult SubmitList(const CUexternalSemaphore* semaphores, const Values* values, unsigned count,
                    CUstream stream) {
  if (CUresult error = CheckList(semaphores, count); error != CUDA_SUCCESS) return error;
  const Lock lock = LockDevice();
  const CUgraphNodeParams given =
      AnyParams(Given{const_cast<CUexternalSemaphore*>(semaphores), values, count});
  NodeParams params;
  if (CUresult error = ReadParams(given, &params); error != CUDA_SUCCESS) return error;
  return Submit(stream, given.type, std::move(params));
}

}  // namespace

CUresult ImportExternalSemaphore(CUexternalSemaphore* out,
                                 const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* desc) {
  if (out == nullptr || desc == nullptr || desc->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const bool file = desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
                    desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
  if (!file) return CUDA_ERROR_NOT_SUPPORTED;  // the others are Windows's and NvSci's
  if (desc->handle.fd < 0) return CUDA_ERROR_INVALID_HANDLE;
  const Lock lock = LockDevice();
  Semaphore* semaphore = Device::Get().semaphores.Make();
  semaphore->type = desc->type;
  *out = semaphore->handle();
  return CUDA_SUCCESS;
}

CUresult DestroyExternalSemaphore(CUexternalSemaphore handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  auto* semaphore = Resolve<Semaphore>(handle);
  if (semaphore == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Device::Get().semaphores.Unmake(semaphore);
  return CUDA_SUCCESS;
}

CUresult SignalExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                       const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* values,
                                       unsigned int count, CUstream stream) {
  return SubmitList<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(semaphores, values, count, stream);
}

CUresult WaitExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                     const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* values,
                                     unsigned int count, CUstream stream) {
  return SubmitList<CUDA_EXT_SEM_WAIT_NODE_PARAMS>(semaphores, values, count, stream);
}

}  // namespace graphkit::soft::driver
