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
// Further twins pass at each launch what the step passes then:
//
//   rate updated   the step is captured again, and the exec is updated to it
//   rate set       Update's argument is set in the exec
//   second off     Combine is captured, and switched off for one launch
//   reset other    another graph, launched before, zeroes the counter
//
// With `child` the step is captured first and embedded in another graph: the same faults.
//
//     frozen_values CASE [fixed | updated | set | off | other] [child]
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
  bool fixed = false, updated = false, set = false, off = false, other = false, child = false;
  bool capturing = false;
  int step = 0;

  float Rate() const { return 0.1f / static_cast<float>(step % kSteps + 1); }

  // The sequence grows with each step; a capture has a dummy of length 1.
  int Length() const { return capturing && !fixed && !off ? 1 : 400 * (step + 1); }

  void Others() const {
    Forward<<<1, kThreads, 0, stream>>>(x, y);
    Backward<<<1, kThreads, 0, stream>>>(y, g);
    Norm<<<1, kThreads, 0, stream>>>(g, n);
  }
};

void Rate(Program& p) {
  p.Others();
  if (p.fixed) return UpdateFrom<<<1, kThreads, 0, p.stream>>>(p.x, p.g, p.rate);
  Update<<<1, kThreads, 0, p.stream>>>(p.x, p.g, p.Rate());
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

cudaGraph_t Capture(Program& p, void (*step)(Program&)) {
  CHECK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
  p.capturing = true;
  step(p);
  p.capturing = false;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(p.stream, &graph));
  if (!p.child) return graph;
  cudaGraph_t outer = nullptr;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
  CHECK(cudaGraphDestroy(graph));
  return outer;
}

// The node that the step launches last.
cudaGraphNode_t LastNode(cudaGraph_t graph) {
  cudaGraphNode_t nodes[8];
  size_t count = 8;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  return nodes[count - 1];
}

void SetRate(const Program& p, cudaGraphExec_t exec, cudaGraphNode_t node) {
  float rate = p.Rate();
  void* arguments[] = {const_cast<float**>(&p.x), const_cast<float**>(&p.g), &rate};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(Update);
  params.gridDim = dim3(1);
  params.blockDim = dim3(kThreads);
  params.kernelParams = arguments;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
}

// What a further twin does before a launch.
void Prepare(Program& p, void (*step)(Program&), cudaGraph_t graph, cudaGraphExec_t exec) {
  if (p.set) SetRate(p, exec, LastNode(graph));
  if (p.off) CHECK(cudaGraphNodeSetEnabled(exec, LastNode(graph), p.step == 1 ? 0 : 1));
  if (!p.updated) return;
  cudaGraph_t next = Capture(p, step);
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(exec, next, &info));
  CHECK(cudaGraphDestroy(next));
}

void Zero(Program& p) { CHECK(cudaMemsetAsync(p.counter, 0, kCounter, p.stream)); }

void Run(Program& p, void (*step)(Program&)) {
  for (p.step = 0; p.step < kSteps; ++p.step) step(p);
  CHECK(cudaStreamSynchronize(p.stream));
  cudaGraph_t graph = Capture(p, step), zero = p.other ? Capture(p, Zero) : nullptr;
  cudaGraphExec_t exec = nullptr, zeroes = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  if (p.other) CHECK(cudaGraphInstantiate(&zeroes, zero, 0));
  for (p.step = 1; p.step <= 3; ++p.step) {
    Prepare(p, step, graph, exec);
    if (p.other) CHECK(cudaGraphLaunch(zeroes, p.stream));
    CHECK(cudaGraphLaunch(exec, p.stream));
  }
  CHECK(cudaStreamSynchronize(p.stream));
  for (cudaGraphExec_t one : {exec, zeroes})
    if (one != nullptr) CHECK(cudaGraphExecDestroy(one));
  for (cudaGraph_t one : {graph, zero})
    if (one != nullptr) CHECK(cudaGraphDestroy(one));
}

}  // namespace

int main(int argc, char** argv) {
  Program p;
  p.fixed = Flag(argc, argv, "fixed");
  p.updated = Flag(argc, argv, "updated");
  p.set = Flag(argc, argv, "set");
  p.off = Flag(argc, argv, "off");
  p.other = Flag(argc, argv, "other");
  p.child = Flag(argc, argv, "child");
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
