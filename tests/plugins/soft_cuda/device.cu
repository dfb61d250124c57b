// Devices: what they are, and errors for ones that don't exist.
#include <cstring>

#include "conformance.h"

// effect: cudaGetDeviceCount cudaSetDevice cudaGetDeviceProperties cudaDeviceGetAttribute
// effect: cudaMemGetInfo cudaRuntimeGetVersion cudaDriverGetVersion
int main() {
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_OK(cudaGetLastError());

  cudaDeviceProp prop;
  EXPECT_OK(cudaGetDeviceProperties(&prop, 0));
  int major = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(prop.major == major);
  EXPECT(prop.warpSize == 32);
  EXPECT(prop.maxThreadsPerBlock == 1024);
  EXPECT(std::strlen(prop.name) > 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, count));

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaRuntimeGetVersion(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
  EXPECT_ERROR(cudaErrorInvalidDevice,
               cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, count));
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
  EXPECT(total_bytes == prop.totalGlobalMem);
  EXPECT(free_bytes <= total_bytes);

  int runtime = 0;
  int driver = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_OK(cudaDriverGetVersion(&driver));
  EXPECT(driver >= 12000 && runtime >= 12000);
  EXPECT_OK(cudaDeviceSynchronize());
  return conformance::Finish("device");
}
