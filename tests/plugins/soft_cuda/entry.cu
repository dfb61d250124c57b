// Functions by name and version, error names, the driver beside the runtime.
#include <cstring>

#include "conformance.h"

// effect: cudaGetDriverEntryPointByVersion cudaGetErrorName cudaGetErrorString
// cannot fail: cudaGetErrorName cudaGetErrorString
int main() {
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

  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") ==
         0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorStreamCaptureUnjoined),
                     "cudaErrorStreamCaptureUnjoined") == 0);

  using GetCount = CUresult (*)(int*);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000,
                                             cudaEnableDefault, &status));
  int count = 0;
  EXPECT_OK(reinterpret_cast<GetCount>(function)(&count));
  EXPECT(count >= 1);
  return conformance::Finish("entry");
}
