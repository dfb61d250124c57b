// The CUDA 12 half of two_runtimes.cu.
#include <cuda_runtime.h>

__global__ void Second(float* data) { data[threadIdx.x] *= 2.0f; }

extern "C" int SecondRuntimeVersion() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : 0;
}

// A stream; null if an error of the other runtime is seen here.
extern "C" cudaStream_t MakeStreamInSecond() {
  if (cudaGetLastError() != cudaSuccess) return nullptr;
  cudaStream_t stream = nullptr;
  (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

extern "C" bool CaptureInSecond(cudaStream_t stream, float* data) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  size_t edges = 0;
  bool ok = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
  Second<<<1, 32, 0, stream>>>(data);
  Second<<<1, 32, 0, stream>>>(data);
  ok = ok && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
  ok = ok && cudaGraphGetEdges(graph, nullptr, nullptr, &edges) == cudaSuccess && edges == 1;
  ok = ok && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
  ok = ok && cudaGraphLaunch(exec, stream) == cudaSuccess;
  return ok && cudaStreamSynchronize(stream) == cudaSuccess;
}
