// Driver functions in the versions that older programs ask for.
#pragma once

#include "conformance.h"

namespace conformance {

// The function that cuGetProcAddress gives to a program built for that CUDA version; its twin for
// per-thread default streams in a program that is built so.
template <typename Function>
Function OfVersion(const char* name, int version) {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  const cuuint64_t flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#else
  const cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT;
#endif
  void* function = nullptr;
  EXPECT_OK(cuGetProcAddress(name, &function, version, flags, nullptr));
  return reinterpret_cast<Function>(function);
}

}  // namespace conformance
