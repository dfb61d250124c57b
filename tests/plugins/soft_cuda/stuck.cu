// For the software device only: a program that waits for what can't come gets an explanation.
#include "conformance.h"

int main() {
  unsigned* word = nullptr;
  EXPECT_OK(cudaHostAlloc(&word, sizeof *word, cudaHostAllocDefault));
  *word = 0;
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cuStreamWaitValue32_v2(stream, reinterpret_cast<CUdeviceptr>(word), 1,
                                   CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaStreamSynchronize(stream));
  EXPECT_ERROR(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
  *word = 1;
  EXPECT_OK(cudaStreamSynchronize(stream));
  return conformance::Finish("stuck");
}
