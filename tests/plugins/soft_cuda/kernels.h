// Kernels that the conformance programs launch.
#pragma once

struct Mixed {
  char first;
  double* pointer;
  short last;
};

__global__ void Touch(float* data) {
  if (data != nullptr) data[threadIdx.x] += 1.0f;
}
__global__ void TakeMixed(int a, Mixed m, char c, const float* p) {
  if (m.pointer != nullptr && p != nullptr) *m.pointer = a + c + *p;
}

// The runtime's errors for a shape that no device can run, and for a pointer that is no kernel:
// CUDA 13.0 passes on the driver's.
constexpr cudaError_t kNoShape =
    CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
constexpr cudaError_t kNoKernel =
    CUDART_VERSION >= 13000 ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;

// A node of Touch, in blocks of 32 threads.
inline cudaKernelNodeParams TouchNode(void** arguments, unsigned blocks) {
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = dim3(blocks);
  params.blockDim = dim3(32);
  params.kernelParams = arguments;
  return params;
}
