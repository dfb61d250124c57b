// Functions by name and version, error names, the driver beside the runtime.
#include <cstring>

#include "conformance.h"

using namespace conformance;

namespace {

// effect: cudaGetDriverEntryPointByVersion
CASE(Versions) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuGraphGetEdges", &function, 12030, cudaEnableDefault,
                                             &status));
  EXPECT(status == cudaDriverEntryPointSuccess && function != nullptr);
  void* old_function = nullptr;
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuGraphGetEdges", &old_function, 10000,
                                             cudaEnableDefault, &status));
  EXPECT(old_function != nullptr && old_function != function);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuGraphGetEdges", &function, 9000, cudaEnableDefault,
                                             &status));
  EXPECT(status == cudaDriverEntryPointVersionNotSufficent && function == nullptr);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 13000, cudaEnableDefault,
                                             &status));
  EXPECT(status == cudaDriverEntryPointSymbolNotFound);
  ON_SOFT(EXPECT_FAILS(
      cudaGetDriverEntryPointByVersion(nullptr, &function, 13000, cudaEnableDefault, &status)));
  ON_SOFT(EXPECT_FAILS(cudaGetDriverEntryPointByVersion("cuGraphGetEdges", nullptr, 13000,
                                                        cudaEnableDefault, &status)));
  EXPECT_FAILS(
      cudaGetDriverEntryPointByVersion("cuGraphGetEdges", &function, 13000, 1 << 10, &status));
}

void* Launch(unsigned long long flags) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &function, 13000, flags, &status));
  EXPECT(status == cudaDriverEntryPointSuccess);
  return function;
}

// The twin whose null stream is the thread's own is the default where the program is built so.
// effect: cudaGetDriverEntryPoint
CASE(DefaultStreams) {
  EXPECT(Launch(cudaEnableLegacyStream) != Launch(cudaEnablePerThreadDefaultStream));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  EXPECT(Launch(cudaEnableDefault) == Launch(cudaEnablePerThreadDefaultStream));
#else
  EXPECT(Launch(cudaEnableDefault) == Launch(cudaEnableLegacyStream));
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444  // deprecated, and still there
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  EXPECT_OK(cudaGetDriverEntryPoint("cuLaunchKernel", &function, cudaEnableDefault, &status));
  EXPECT(function == Launch(cudaEnableDefault));
  ON_SOFT(EXPECT_FAILS(cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &status)));
#pragma nv_diag_default 1444
#pragma GCC diagnostic pop
}

// effect: cudaGetErrorName cudaGetErrorString
// cannot fail: cudaGetErrorName cudaGetErrorString
CASE(ErrorNames) {
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") ==
         0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorStreamCaptureUnjoined),
                     "cudaErrorStreamCaptureUnjoined") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)),
                     "unrecognized error code") == 0);
}

CASE(BesideTheRuntime) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  using GetCount = CUresult (*)(int*);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000,
                                             cudaEnableDefault, &status));
  int count = 0;
  EXPECT_OK(reinterpret_cast<GetCount>(function)(&count));
  EXPECT(count >= 1);
}

}  // namespace

int main() {
  RunCases();
  return Finish("entry");
}
