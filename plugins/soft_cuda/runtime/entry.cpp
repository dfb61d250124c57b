// Error names, channel formats, and driver functions by name.
#include "plugins/soft_cuda/abi/api_call.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

struct ErrorName {
  int code;
  const char* name;
};

constexpr ErrorName kErrors[] = {
#include "runtime_errors.inc"
};

}  // namespace

cudaError_t GetDriverEntryPointByVersion(const char* symbol, void** out, unsigned int version,
                                         unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* status) {
  CUdriverProcAddressQueryResult found{};
  const CUresult result =
      cuGetProcAddress_v2(symbol, out, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  if (result == CUDA_SUCCESS && status == nullptr && found != CU_GET_PROC_ADDRESS_SUCCESS) {
    return cudaErrorSymbolNotFound;
  }
  return ToRuntime(result);
}

cudaError_t GetDriverEntryPoint(const char* symbol, void** out, unsigned long long flags,
                                cudaDriverEntryPointQueryResult* status) {
  return GetDriverEntryPointByVersion(symbol, out, static_cast<unsigned>(kRuntimeVersion), flags,
                                      status);
}

static const char* ErrorNameOf(cudaError_t error) {
  for (const ErrorName& row : kErrors) {
    if (row.code == error) return row.name;
  }
  return "unrecognized error code";
}

}  // namespace graphkit::soft::runtime

EXPORT const char* cudaGetErrorName(cudaError_t error) {
  return graphkit::soft::runtime::ErrorNameOf(error);
}

EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(error), &text);
  return text != nullptr ? text : graphkit::soft::runtime::ErrorNameOf(error);
}

EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
