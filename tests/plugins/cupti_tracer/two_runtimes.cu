// A program with both runtimes: itself built by CUDA 13, second_runtime.cu in a library by CUDA 12.
// Each captures a graph on a stream that the other made, and launches it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

extern "C" int SecondRuntimeVersion();
extern "C" bool CaptureInSecond(cudaStream_t stream, float* data);
extern "C" cudaStream_t MakeStreamInSecond();

static void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("two_runtimes: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

__global__ void First(float* data) { data[threadIdx.x] += 1.0f; }

int main() {
  cudaStream_t first = nullptr;
  float* data = nullptr;
  int version = 0;
  Check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  Check(cudaMalloc(&data, 1024));
  if (!CaptureInSecond(first, data)) return 2;

  // An error belongs to the runtime that had it.
  (void)cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(0x1234));
  cudaStream_t second = MakeStreamInSecond();
  if (second == nullptr || cudaGetLastError() == cudaSuccess) return 3;

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  Check(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
  First<<<1, 32, 0, second>>>(data);
  Check(cudaStreamEndCapture(second, &graph));
  Check(cudaGraphInstantiate(&exec, graph, 0));
  Check(cudaGraphLaunch(exec, second));
  Check(cudaStreamSynchronize(second));
  Check(cudaRuntimeGetVersion(&version));
  std::printf("%d %d\n", version / 1000, SecondRuntimeVersion() / 1000);
  return 0;
}
