// Settings that tune a device: kept, and refused where they mean nothing.
#include "conformance.h"
#include "kernels.h"

// As in cuda_profiler_api.h, which not every package of the toolkit has.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart();
extern "C" cudaError_t CUDARTAPI cudaProfilerStop();

namespace {

// effect: cudaDeviceSetCacheConfig cudaDeviceGetCacheConfig cudaFuncSetCacheConfig
// effect: cudaFuncSetSharedMemConfig
CASE(CacheConfigs) {
  cudaFuncCache config = cudaFuncCachePreferL1;
  EXPECT_OK(cudaDeviceGetCacheConfig(&config));
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  EXPECT_OK(cudaDeviceGetCacheConfig(&config));
  EXPECT(config == cudaFuncCachePreferShared || config == cudaFuncCachePreferNone);
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  EXPECT_OK(cudaFuncSetCacheConfig(Touch, cudaFuncCachePreferL1));
  EXPECT_OK(cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(Touch),
                                       cudaSharedMemBankSizeFourByte));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetCacheConfig(nullptr));
  EXPECT_FAILS(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
  int no_function = 0;
  EXPECT_ERROR(kNoKernel, cudaFuncSetCacheConfig(static_cast<const void*>(&no_function),
                                                 cudaFuncCachePreferL1));
  EXPECT_ERROR(kNoKernel, cudaFuncSetSharedMemConfig(static_cast<const void*>(&no_function),
                                                     cudaSharedMemBankSizeDefault));
}

// effect: cudaChooseDevice cudaSetValidDevices
CASE(ValidDevices) {
  cudaDeviceProp prop = {};
  int device = -1;
  EXPECT_OK(cudaChooseDevice(&device, &prop));
  EXPECT(device >= 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaChooseDevice(nullptr, &prop));
  int devices[] = {0};
  EXPECT_OK(cudaSetValidDevices(devices, 1));
  devices[0] = 1000;
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetValidDevices(devices, 1));
}

// effect: cudaProfilerStart cudaProfilerStop cudaCtxResetPersistingL2Cache
// cannot fail: cudaProfilerStart cudaProfilerStop
CASE(Profiler) {
  EXPECT_OK(cudaProfilerStart());
  EXPECT_OK(cudaProfilerStart());
  EXPECT_OK(cudaProfilerStop());
  EXPECT_OK(cudaProfilerStop());
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  conformance::RunCases();
  return conformance::Finish("settings");
}
