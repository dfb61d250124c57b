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
