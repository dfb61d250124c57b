// A reader's program: one kernel, captured and launched.
#include <cuda_runtime.h>

__global__ void Step(float* values) { values[threadIdx.x] += 1; }

int main() {
  float* values;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMalloc(&values, 128 * sizeof(float));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Step<<<1, 128, 0, stream>>>(values);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  const cudaError_t error = cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(values);
  return error == cudaSuccess ? 0 : 1;
}
