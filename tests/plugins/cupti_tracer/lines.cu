// Calls at lines that the test of source lines knows by what stands on them.
#include <cuda_runtime.h>

#include "plugins/cupti_tracer/graphkit_annotate.h"

__global__ void Touch(float* data) { data[threadIdx.x] = 1; }

static inline void Launch(float* data, cudaStream_t stream) {
  Touch<<<1, 32, 0, stream>>>(data);  // launch
}

struct Layer {
  float* data;
  void Forward(cudaStream_t stream) {
    Launch(data, stream);  // first
    Launch(data, stream);  // second
  }
};

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* data;
  cudaMalloc(&data, 1 << 20);  // malloc
  graphkit_pool(data, 1 << 20, "pool");
  graphkit_alloc(data, 256, stream);  // piece

  graphkit_free_completed(data);  // back
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Layer{data}.Forward(stream);  // forward
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);  // replay
  cudaGraphLaunch(exec, stream);  // again
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaFree(data);
  cudaStreamDestroy(stream);
}
