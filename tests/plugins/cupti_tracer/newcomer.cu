// A training loop as somebody new to graphs writes it, with three faults: each step captures again
// and keeps its exec, the side stream doesn't wait for `scale`, and memory that the graph allocates
// is never freed.
//
//     newcomer [clean]     clean: without the faults
#include <cstring>

#include "testdata/workloads/cuda_check.h"

__global__ void Scale(float* x, float factor) { x[threadIdx.x] *= factor; }
__global__ void Add(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void Fill(float* data) { data[threadIdx.x] = 1; }

int main(int argc, char** argv) {
  bool clean = argc > 1 && std::strcmp(argv[1], "clean") == 0;
  cudaStream_t main_stream = nullptr, side = nullptr;
  CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEvent_t forked = nullptr, scaled = nullptr, joined = nullptr;
  for (cudaEvent_t* event : {&forked, &scaled, &joined})
    CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  float *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, 1 << 20));
  CHECK(cudaMalloc(&y, 1 << 20));
  for (int step = 0; step < 4; step++) {
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(forked, main_stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
    Scale<<<1, 32, 0, main_stream>>>(x, 2);  // scale
    if (clean) {
      CHECK(cudaEventRecord(scaled, main_stream));
      CHECK(cudaStreamWaitEvent(side, scaled, 0));
    }
    Add<<<1, 32, 0, side>>>(x, y);  // add
    float* scratch = nullptr;
    CHECK(cudaMallocAsync(&scratch, 2 << 20, main_stream));  // scratch
    Fill<<<1, 32, 0, main_stream>>>(scratch);
    if (clean) CHECK(cudaFreeAsync(scratch, main_stream));
    CHECK(cudaEventRecord(joined, side));
    CHECK(cudaStreamWaitEvent(main_stream, joined, 0));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));  // instantiate
    CHECK(cudaGraphLaunch(exec, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    CHECK(cudaGraphDestroy(graph));
    if (clean) CHECK(cudaGraphExecDestroy(exec));
  }
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  for (cudaEvent_t event : {forked, scaled, joined}) CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaStreamDestroy(main_stream));
}
