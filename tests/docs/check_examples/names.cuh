// The names that the examples of docs/checks use (docs/checks/index.md).
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

// Kernels. A pointer to const marks memory that a kernel only reads.
__global__ void Fill(float* to) { to[threadIdx.x] = 1; }
__global__ void Add(const float* from, float* to) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void Scale(float* data, float by) { data[threadIdx.x] *= by; }
__global__ void Split(const float* from, float* to, int parts) {
  if (static_cast<int>(blockIdx.y) < parts) to[threadIdx.x] = from[threadIdx.x];
}

constexpr size_t bytes = 4096;
// Streams that the legacy stream doesn't wait for; events; device memory of `bytes` each.
inline cudaStream_t stream, side;
inline cudaEvent_t forked, joined;
inline float *x, *y, *z;
inline cudaGraph_t graph;
inline cudaGraphExec_t exec;

// Begins and ends a capture on `stream`.
inline void Begin() { cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); }
inline void End() { cudaStreamEndCapture(stream, &graph); }

// Instantiates the graph, launches it, waits, and destroys both.
inline void Run() {
  if (cudaGraphInstantiate(&exec, graph) == cudaSuccess) {
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
  }
  cudaGraphDestroy(graph);
}

inline void MakeNames() {
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  for (float** memory : {&x, &y, &z}) cudaMalloc(memory, bytes);
  for (float* memory : {x, y, z}) cudaMemset(memory, 0, bytes);
  cudaDeviceSynchronize();
}

inline void DestroyNames() {
  cudaDeviceSynchronize();
  for (float* memory : {x, y, z}) cudaFree(memory);
  for (cudaEvent_t event : {forked, joined}) cudaEventDestroy(event);
  for (cudaStream_t s : {stream, side}) cudaStreamDestroy(s);
}

#include "tests/docs/check_examples/mapping.cuh"
