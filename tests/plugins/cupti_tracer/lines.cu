// Calls at lines that the test of source lines knows by what stands on them.
#include <cuda_runtime.h>

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
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Layer{data}.Forward(stream);  // forward
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  cudaFree(data);
  cudaStreamDestroy(stream);
}
