// Kernels that wait for their grid dependencies, and let others start, in each way, for
// machine_code_test.cpp.

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

__global__ void TriggersAtLast(int* p) {
  p[threadIdx.x] += 1;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void TriggersSometimes(int* p, int n) {
  if (p[0] > n) cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] += 1;
}

__global__ void TriggersInLoop(int* p, int n) {
  for (int i = 0; i < n; ++i) {
    p[i * 32] = i;
    if (p[i] == 7) cudaTriggerProgrammaticLaunchCompletion();
  }
}

// A division calls a function of the kernel's own code.
__global__ void DividesThenTells(float* p, float n) {
  p[threadIdx.x] = p[threadIdx.x] / n;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void TellsThenDivides(float* p, float n) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] = p[threadIdx.x] / n;
}

__device__ __noinline__ void Write(int* p) { p[threadIdx.x] = 0; }

__global__ void WritesInACall(int* p, int n) {
  cudaTriggerProgrammaticLaunchCompletion();
  Write(p + n);
}

__global__ void ReducesAtLast(float* p) {
  const float mine = p[threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
  atomicAdd(p, mine);
}

__global__ void OnlySharedAfter(int* p, int n) {
  __shared__ int copy[64];
  p[threadIdx.x] = n;
  cudaTriggerProgrammaticLaunchCompletion();
  copy[threadIdx.x] = n;
  __syncthreads();
  if (copy[63 - threadIdx.x] > n) __nanosleep(n);
}
