// Handles and their settings. One is made in a context that is there: cuBLAS's own workspace isn't
// modelled, so that making one allocates nothing.
#include "plugins/soft_cuda/libraries/blas/handle.h"

#include <new>

using graphkit::soft::blas::Handle;

extern "C" {

STAND_IN int cublasCreate_v2(Handle** out) {
  if (out == nullptr) return graphkit::soft::blas::kInvalidValue;
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) {
    return graphkit::soft::blas::kNotInitialized;
  }
  *out = new (std::nothrow) Handle;
  return *out != nullptr ? 0 : 3;
}
STAND_IN int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return 0;
}
STAND_IN int cublasGetVersion_v2(Handle*, int* version) {
  *version = static_cast<int>(graphkit::soft::blas::Version());
  return 0;
}
STAND_IN int cublasGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return graphkit::soft::blas::kInvalidValue;
  *value = property == 0 ? graphkit::soft::kCudaMajor : 0;
  return 0;
}
STAND_IN size_t cublasGetCudartVersion() { return graphkit::soft::blas::Version() / 10000 * 1000; }
STAND_IN const char* cublasGetStatusName(int status) {
  switch (status) {
    case 0:
      return "CUBLAS_STATUS_SUCCESS";
    case 1:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case 7:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 8:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case 11:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case 16:
      return "CUBLAS_STATUS_LICENSE_ERROR";
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}
STAND_IN const char* cublasGetStatusString(int status) { return cublasGetStatusName(status); }

// Setting a stream takes the user's workspace away, as documented.
STAND_IN int cublasSetStream_v2(Handle* handle, CUstream stream) {
  if (handle == nullptr) return graphkit::soft::blas::kNotInitialized;
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return 0;
}
STAND_IN int cublasGetStream_v2(Handle* handle, CUstream* stream) {
  *stream = handle->stream;
  return 0;
}
STAND_IN int cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t bytes) {
  if (handle == nullptr) return graphkit::soft::blas::kNotInitialized;
  handle->workspace = workspace;
  handle->workspace_bytes = workspace != nullptr ? bytes : 0;
  return 0;
}

#define SETTING(Name, member)                                            \
  STAND_IN int cublasSet##Name(Handle* handle, int value) {              \
    if (handle == nullptr) return graphkit::soft::blas::kNotInitialized; \
    handle->member = value;                                              \
    return 0;                                                            \
  }                                                                      \
  STAND_IN int cublasGet##Name(Handle* handle, int* value) {             \
    if (handle == nullptr) return graphkit::soft::blas::kNotInitialized; \
    *value = handle->member;                                             \
    return 0;                                                            \
  }
SETTING(PointerMode_v2, pointer_mode)
SETTING(AtomicsMode, atomics_mode)
SETTING(MathMode, math_mode)
SETTING(SmCountTarget, multiprocessors)
}
