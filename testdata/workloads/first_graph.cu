// A first CUDA graph with three mistakes, each in two places of the program. In each of four steps:
//
//   Step()   Sum reads data on a second stream while Scale changes them on the first: the streams
//            fork before Scale, and the event behind it is missing. The graph allocates its result
//            and never frees it; the exec is launched and never destroyed.
//   Tail()   the same with Shift and Max.
//
//     first_graph [--fixed] [--more]     --fixed: without the mistakes; --more: 2 MiB more in
//     Step()
#include "testdata/workloads/cuda_check.h"

constexpr int kCount = 1 << 18;

__global__ void Scale(float* data) { data[threadIdx.x] *= 2; }
__global__ void Sum(const float* data, float* sum) { atomicAdd(sum, data[threadIdx.x]); }
__global__ void Shift(float* data) { data[threadIdx.x] += 1; }
__global__ void Max(const float* data, float* most) { *most = fmaxf(*most, data[threadIdx.x]); }

namespace {

struct Program {
  cudaStream_t main = nullptr, side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  float* data = nullptr;
  bool fixed = false, more = false;

  void Fork() const {
    CHECK(cudaEventRecord(fork, main));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
  }
  void Join() const {
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main, join, 0));
  }
};

void Finish(const Program& p, cudaGraph_t graph, cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, p.main));
  CHECK(cudaStreamSynchronize(p.main));
  if (p.fixed) CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void Step(const Program& p) {
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  float *sum = nullptr, *more = nullptr;
  CHECK(cudaMallocAsync(&sum, kCount * sizeof(float), p.main));
  if (p.more) CHECK(cudaMallocAsync(&more, 2 * kCount * sizeof(float), p.main));
  if (!p.fixed) p.Fork();
  Scale<<<1, 256, 0, p.main>>>(p.data);
  if (p.fixed) p.Fork();
  Sum<<<1, 256, 0, p.side>>>(p.data, sum);
  p.Join();
  if (p.more) CHECK(cudaFreeAsync(more, p.main));
  if (p.fixed) CHECK(cudaFreeAsync(sum, p.main));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(p.main, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  Finish(p, graph, exec);
}

void Tail(const Program& p) {
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  float* most = nullptr;
  CHECK(cudaMallocAsync(&most, kCount * sizeof(float), p.main));
  if (!p.fixed) p.Fork();
  Shift<<<1, 256, 0, p.main>>>(p.data);
  if (p.fixed) p.Fork();
  Max<<<1, 256, 0, p.side>>>(p.data, most);
  p.Join();
  if (p.fixed) CHECK(cudaFreeAsync(most, p.main));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(p.main, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  Finish(p, graph, exec);
}

}  // namespace

int main(int argc, char** argv) {
  Program p;
  p.fixed = Flag(argc, argv, "--fixed");
  p.more = Flag(argc, argv, "--more");
  CHECK(cudaStreamCreateWithFlags(&p.main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&p.side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&p.fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&p.join, cudaEventDisableTiming));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&p.data), kCount * sizeof(float)));
  for (int step = 0; step < 4; ++step) {
    Step(p);
    Tail(p);
  }
  CHECK(cudaFree(p.data));
  CHECK(cudaEventDestroy(p.fork));
  CHECK(cudaEventDestroy(p.join));
  CHECK(cudaStreamDestroy(p.side));
  CHECK(cudaStreamDestroy(p.main));
  return 0;
}
