// What was right while capturing and is wrong at every launch: seven faults of users' trackers,
// each with its twin. A step is four kernels; it runs outside of graphs first, then it is captured
// and launched three times.
//
//   rate      the optimizer's learning rate falls from step to step, and is an argument: argument 2
//             of Update, 0.1 in the graph.                                fixed: read from memory
//   splits    attention splits the keys by the length known to the host: Attend's grid, 1 in y in
//             the graph, captured with a dummy of length 1.               fixed: of the capacity
//   plan      the same number as an argument, planned from the live length: argument 2 of Plan.
//                                                                         fixed: of the capacity
//   length    the longest sequence: argument 2 of Mask.                   fixed: read from memory
//   counter   the workspace of a split product is zeroed once, when it is made; two products of a
//             graph count in it.                                          fixed: a memset node
//   reset     the same, zeroed before each product outside of captures only.     fixed: likewise
//   second    two warm-ups end with Combine, since their sequences are long; the capture's is
//             short, and lacks it.                                        fixed: as long
//
//     frozen_values CASE [fixed]
#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 128, kElements = 1024, kCapacity = 4096, kSteps = 4;
constexpr size_t kBytes = kElements * sizeof(float), kCounter = 4 * kKiB;

__global__ void Forward(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * 2; }
__global__ void Backward(const float* y, float* g) { g[threadIdx.x] = y[threadIdx.x]; }
__global__ void Norm(const float* g, float* n) { n[threadIdx.x] = g[threadIdx.x]; }
__global__ void Update(float* x, const float* g, float rate) { x[threadIdx.x] -= rate * g[0]; }
__global__ void UpdateFrom(float* x, const float* g, const float* rate) { x[0] -= *rate * g[0]; }
__global__ void Attend(const float* x, float* y, int capacity) {
  y[blockIdx.y] = x[threadIdx.x % capacity];
}
__global__ void Plan(const float* x, float* y, int splits) { y[threadIdx.x % splits] = x[0]; }
__global__ void Mask(const float* x, float* y, int longest) { y[0] = x[longest % kElements]; }
__global__ void MaskFrom(const float* x, float* y, const int* longest) { y[0] = x[*longest % 8]; }
__global__ void Product(const float* x, float* y, int* counter) {
  if (atomicAdd(counter, 1) == 0) y[0] = x[0];
}
__global__ void Combine(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }

namespace {

struct Program {
  cudaStream_t stream = nullptr;
  float *x = nullptr, *y = nullptr, *g = nullptr, *n = nullptr, *rate = nullptr;
  int *counter = nullptr, *longest = nullptr;
  bool fixed = false;
  bool capturing = false;
  int step = 0;

  // The sequence grows with each step; a capture has a dummy of length 1.
  int Length() const { return capturing && !fixed ? 1 : 400 * (step + 1); }

  void Others() const {
    Forward<<<1, kThreads, 0, stream>>>(x, y);
    Backward<<<1, kThreads, 0, stream>>>(y, g);
    Norm<<<1, kThreads, 0, stream>>>(g, n);
  }
};

void Rate(Program& p) {
  p.Others();
  if (p.fixed) return UpdateFrom<<<1, kThreads, 0, p.stream>>>(p.x, p.g, p.rate);
  Update<<<1, kThreads, 0, p.stream>>>(p.x, p.g, 0.1f / static_cast<float>(p.step % kSteps + 1));
}

void Splits(Program& p) {
  p.Others();
  const int splits = ((p.fixed ? kCapacity : p.Length()) + 511) / 512;
  Attend<<<dim3(1, splits), kThreads, 0, p.stream>>>(p.x, p.y, kCapacity);
}

void Planned(Program& p) {
  p.Others();
  const int splits = ((p.fixed ? kCapacity : p.Length()) + 255) / 256;
  Plan<<<1, kThreads, 0, p.stream>>>(p.x, p.y, splits);
}

void Longest(Program& p) {
  p.Others();
  if (p.fixed) return MaskFrom<<<1, kThreads, 0, p.stream>>>(p.x, p.y, p.longest);
  Mask<<<1, kThreads, 0, p.stream>>>(p.x, p.y, p.Length());
}

void Products(Program& p) {
  p.Others();
  Product<<<1, kThreads, 0, p.stream>>>(p.x, p.y, p.counter);
  Product<<<1, kThreads, 0, p.stream>>>(p.y, p.g, p.counter);
}

void Counter(Program& p) {
  if (p.fixed || (p.step == 0 && !p.capturing))
    CHECK(cudaMemsetAsync(p.counter, 0, kCounter, p.stream));
  Products(p);
}

void Reset(Program& p) {
  if (p.fixed || !p.capturing) CHECK(cudaMemsetAsync(p.counter, 0, kCounter, p.stream));
  Products(p);
}

void Second(Program& p) {
  p.Others();
  if (p.Length() > 256) Combine<<<1, kThreads, 0, p.stream>>>(p.x, p.y);
}

struct Case {
  const char* name;
  void (*step)(Program&);
};
constexpr Case kCases[] = {{"rate", Rate},      {"splits", Splits},   {"plan", Planned},
                           {"length", Longest}, {"counter", Counter}, {"reset", Reset},
                           {"second", Second}};

void Run(Program& p, void (*step)(Program&)) {
  for (p.step = 0; p.step < kSteps; ++p.step) step(p);
  CHECK(cudaStreamSynchronize(p.stream));
  CHECK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
  p.capturing = true;
  step(p);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(p.stream, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, p.stream));
  CHECK(cudaStreamSynchronize(p.stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

}  // namespace

int main(int argc, char** argv) {
  Program p;
  p.fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  for (float** memory : {&p.x, &p.y, &p.g, &p.n, &p.rate}) CHECK(cudaMalloc(memory, kBytes));
  for (int** memory : {&p.counter, &p.longest}) CHECK(cudaMalloc(memory, kCounter));
  for (const Case& of : kCases) {
    if (Flag(argc, argv, of.name)) Run(p, of.step);
  }
  for (float* memory : {p.x, p.y, p.g, p.n, p.rate}) CHECK(cudaFree(memory));
  for (int* memory : {p.counter, p.longest}) CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(p.stream));
  std::printf("frozen_values: done\n");
  return 0;
}
