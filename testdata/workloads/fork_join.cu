// Fork and join with stream-ordered allocation.
//
// One capture on two streams. With one diamond (the default), nodes by number, in capture order:
//
//     main: 0 alloc x ─ 1 memset x ─ 2 produce ┬─ 3 alloc left ── 4 left ──┬─ 7 add ─ 8 free right
//     side:                                    └─ 5 alloc right ─ 6 right ─┘
//     main, after 8: 9 free left ─ 10 alloc scratch ─ 11 square ─ 12 free scratch ─ 13 free x
//                    ─ 14 memcpy
//
//     15 nodes: 5 kernels, 4 memory allocations, 4 memory frees, 1 memset, 1 memcpy
//     15 edges: 12 along main (0-1-2-3-4-7-8-…-14), 1 along side (5-6), 2 across (2-5, 6-7)
//
// x 1 MiB, left 2 MiB, right 4 MiB, scratch 4 MiB: 11 MiB in all, at most 7 MiB alive at once (x,
// left and right, from 5 to 8). All of it is freed. scratch is ordered after the frees of left and
// right, so it can lie where right lay: no plan is smaller than 7 MiB, and 7 MiB are enough.
//
//     fork_join [--loop N] [--nodes N]     capture N times; as many diamonds as N nodes allow
//
// D diamonds: 5 + 10 D nodes and 3 + 12 D edges (from the second on, side goes on from its own last
// kernel as well: one edge more). Whenever 1024 more nodes are captured, stdout says so at once:
// who kills the program knows how far it was.
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 256;
constexpr int kFixedNodes = 5;  // alloc x, memset, produce; free x, memcpy
constexpr int kDiamondNodes = 10;

__global__ void Produce(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}

__global__ void Spread(const float* x, float* out, int n, int copies) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int copy = 0; copy < copies; ++copy) out[copy * n + i] = x[i] * static_cast<float>(copy + 1);
}

__global__ void Add(const float* left, const float* right, float* result, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = left[i] + right[i];
}

__global__ void Square(const float* result, float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) scratch[i] = result[i] * result[i];
}

namespace {

// The program's own count of what it captured.
class NodeCounter {
 public:
  void Captured(int nodes) {
    const long before = count_;
    count_ += nodes;
    if (count_ / 1024 == before / 1024) return;
    std::printf("captured %ld nodes\n", count_);
    std::fflush(stdout);
  }
  long count() const { return count_; }

 private:
  long count_ = 0;
};

struct Streams {
  cudaStream_t main = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
};

constexpr int kElements = static_cast<int>(kMiB / sizeof(float));  // of x
constexpr int kResultElements = 1024;

unsigned Blocks(int n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

float* AllocateOn(cudaStream_t stream, size_t size) {
  void* pointer = nullptr;
  CHECK(cudaMallocAsync(&pointer, size, stream));
  return static_cast<float*>(pointer);
}

// Nodes 3 to 12.
void CaptureDiamond(const Streams& s, const float* x, float* result) {
  CHECK(cudaEventRecord(s.fork, s.main));
  CHECK(cudaStreamWaitEvent(s.side, s.fork, 0));

  float* left = AllocateOn(s.main, 2 * kMiB);
  Spread<<<Blocks(kElements), kThreads, 0, s.main>>>(x, left, kElements, 2);
  CHECK(cudaGetLastError());

  float* right = AllocateOn(s.side, 4 * kMiB);
  Spread<<<Blocks(kElements), kThreads, 0, s.side>>>(x, right, kElements, 4);
  CHECK(cudaGetLastError());

  CHECK(cudaEventRecord(s.join, s.side));
  CHECK(cudaStreamWaitEvent(s.main, s.join, 0));
  Add<<<Blocks(kResultElements), kThreads, 0, s.main>>>(left, right, result, kResultElements);
  CHECK(cudaGetLastError());
  CHECK(cudaFreeAsync(right, s.main));
  CHECK(cudaFreeAsync(left, s.main));

  float* scratch = AllocateOn(s.main, 4 * kMiB);
  Square<<<Blocks(kResultElements), kThreads, 0, s.main>>>(result, scratch, kResultElements);
  CHECK(cudaGetLastError());
  CHECK(cudaFreeAsync(scratch, s.main));
}

cudaGraph_t Capture(const Streams& s, long diamonds, float* result, float* host,
                    NodeCounter& counter) {
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeGlobal));
  float* x = AllocateOn(s.main, kMiB);
  CHECK(cudaMemsetAsync(x, 0, kMiB, s.main));
  Produce<<<Blocks(kElements), kThreads, 0, s.main>>>(x, kElements);
  CHECK(cudaGetLastError());
  counter.Captured(3);
  for (long i = 0; i < diamonds; ++i) {
    CaptureDiamond(s, x, result);
    counter.Captured(kDiamondNodes);
  }
  CHECK(cudaFreeAsync(x, s.main));
  CHECK(cudaMemcpyAsync(host, result, kResultElements * sizeof(float), cudaMemcpyDeviceToHost,
                        s.main));
  counter.Captured(2);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  return graph;
}

void LaunchTwice(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
}

}  // namespace

int main(int argc, char** argv) {
  const long loops = Number(argc, argv, "--loop", 1);
  const long nodes = Number(argc, argv, "--nodes", kFixedNodes + kDiamondNodes);
  const long fitting = (nodes - kFixedNodes) / kDiamondNodes;
  const long diamonds = fitting < 1 ? 1 : fitting;

  Streams s;
  CHECK(cudaStreamCreateWithFlags(&s.main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&s.side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&s.fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&s.join, cudaEventDisableTiming));
  float* result = nullptr;
  float* host = nullptr;
  CHECK(cudaMalloc(&result, kResultElements * sizeof(float)));
  CHECK(cudaMallocHost(&host, kResultElements * sizeof(float)));

  NodeCounter counter;
  for (long i = 0; i < loops; ++i) {
    cudaGraph_t graph = Capture(s, diamonds, result, host, counter);
    LaunchTwice(graph, s.main);
    CHECK(cudaGraphDestroy(graph));
  }
  std::printf("fork_join: captures %ld, nodes %ld\n", loops, counter.count());

  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(result));
  CHECK(cudaEventDestroy(s.join));
  CHECK(cudaEventDestroy(s.fork));
  CHECK(cudaStreamDestroy(s.side));
  CHECK(cudaStreamDestroy(s.main));
  return 0;
}
