// The width of shared memory's banks: fixed, whatever is asked for.
#include "conformance.h"
#include "kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444

// effect: cudaDeviceGetSharedMemConfig cudaDeviceSetSharedMemConfig
// effect: cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig
int main() {
  cudaSharedMemConfig config = cudaSharedMemBankSizeDefault;
  EXPECT_OK(cudaDeviceGetSharedMemConfig(&config));
  EXPECT(config == cudaSharedMemBankSizeFourByte);
  EXPECT_OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  EXPECT_OK(cudaDeviceGetSharedMemConfig(&config));
  EXPECT(config == cudaSharedMemBankSizeFourByte);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetSharedMemConfig(nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(7)));

  CUsharedconfig bank = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  EXPECT_OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  EXPECT_OK(cuCtxGetSharedMemConfig(&bank));
  EXPECT(bank == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuCtxGetSharedMemConfig(nullptr));
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(7)));

  cudaFunction_t function = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Touch)));
  EXPECT_OK(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  EXPECT_FAILS(cuFuncSetSharedMemConfig(nullptr, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  return conformance::Finish("bank_size");
}
