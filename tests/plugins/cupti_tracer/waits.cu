// Kernels that wait for their grid dependencies in each way, for machine_code_test.cpp.

__global__ void Always(int* p) {
  cudaGridDependencySynchronize();
  p[threadIdx.x] += 1;
}

// A loop, and a branch that joins again, before the wait.
__global__ void AfterWork(int* p, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = n;
  for (int i = 0; i < n; ++i) p[i * 32] = i;
  __syncthreads();
  cudaGridDependencySynchronize();
  p[threadIdx.x] += sum;
}

__global__ void Sometimes(int* p, int n) {
  if (n > 3) cudaGridDependencySynchronize();
  p[threadIdx.x] += 1;
}

__global__ void NotAfterAnEarlyEnd(int* p, int n) {
  if (p[threadIdx.x] > n) return;
  cudaGridDependencySynchronize();
  p[threadIdx.x] += 1;
}

__global__ void Never(int* p) { p[threadIdx.x] += 1; }

__global__ void OnlyTriggers(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] += 1;
}

__device__ __noinline__ void Helper(int* p) {
  cudaGridDependencySynchronize();
  p[threadIdx.x] = 0;
}

__global__ void InACall(int* p, int n) {
  Helper(p + n);
  p[threadIdx.x] += 1;
}
