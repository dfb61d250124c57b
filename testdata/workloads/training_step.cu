// A training step in miniature: forward, backward, communication on its own stream, optimizer.
//
// Three layers; every tensor has 12 MiB. a_l: activations, g_l: gradients of activations, d_l:
// gradients of weights, which the communication stream reduces into static shards.
//
//     main:  F1 ─ F2 ─ F3 ─ Loss ─ B3 ─ B2 ─ B1 ──────┬─ O3 ─ O2 ─ O1 ─ copy
//     comm:                          └ R3 ┴ R2 ┴ R1 ──┘
//
// 14 nodes: 13 kernels (3 F, Loss, 3 B, 3 R, 3 O), 1 memcpy (the loss to the host).
// 16 edges: main up to B1 6, B-R 3, R3-R2-R1 2, into O3 2 (B1, R1), O3-O2-O1-copy 3.
//
// Memory of the capture, in units of 12 MiB: allocated and freed by a step, most alive in it, alive
// and deferred after it.
//
//     forward    + a1 a2 a3               3    a1 a2 a3
//     Loss       + g3      - a3           4    a1 a2 g3
//     layer 3    + d3 g2   - g3 a2 d3     5    a1 g2       d3
//     layer 2    + d2 g1   - g2 a1 d2     4    g1          d3 d2
//     layer 1    + d1      - g1 d1        2                d3 d2 d1
//
// 9 blocks, 108 MiB; at most alive 5: 60 MiB; deferred in the end 3: 36 MiB (no malloc comes after
// the join, so PyTorch's reuse would never get them back either). Held at once (alive or deferred):
// layer 3: 5, layer 2: d3 + 4 = 5, layer 1: d3 d2 + 2 = 4: 60 MiB are reserved, which is also what
// layer 3 needs in any order: here deferring costs nothing, since backward frees as it goes.
#include "testdata/workloads/caching_allocator.h"

constexpr int kLayers = 3;
constexpr size_t kSize = 12 * kMiB;
constexpr const char* kPool = "private pool of the training step";
constexpr int kElements = static_cast<int>(kSize / sizeof(float));
constexpr int kThreads = 256;
constexpr int kBlocks = kElements / kThreads;

__device__ int Index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void Forward(const float* input, const float* weights, float* output) {
  output[Index()] = input[Index()] * weights[Index()];
}

__global__ void Loss(const float* output, float* gradient, float* loss) {
  gradient[Index()] = output[Index()] - 1.0f;
  if (Index() == 0) *loss = gradient[0];
}

// input_gradient is null in the first layer.
__global__ void Backward(const float* gradient, const float* input, const float* weights,
                         float* weight_gradient, float* input_gradient) {
  weight_gradient[Index()] = gradient[Index()] * input[Index()];
  if (input_gradient) input_gradient[Index()] = gradient[Index()] * weights[Index()];
}

__global__ void ReduceScatter(const float* weight_gradient, float* shard) {
  shard[Index()] = weight_gradient[Index()];
}

__global__ void Optimize(const float* shard, float* weights) {
  weights[Index()] -= 0.1f * shard[Index()];
}

namespace {

struct Step {
  CachingAllocator allocator;
  cudaStream_t main = nullptr;
  cudaStream_t comm = nullptr;
  cudaEvent_t ready = nullptr;
  cudaEvent_t reduced = nullptr;
  float* input = nullptr;        // static, as all here
  float* weights[kLayers] = {};  // by layer, from 0
  float* shards[kLayers] = {};
  float* loss = nullptr;
  float* host_loss = nullptr;
  float* activations[kLayers] = {};  // of the capture

  float* Malloc() { return allocator.Malloc(kSize, main); }
  const float* InputOf(int layer) const { return layer ? activations[layer - 1] : input; }
};

void CaptureForward(Step& s) {
  for (int layer = 0; layer < kLayers; ++layer) {
    s.activations[layer] = s.Malloc();
    Forward<<<kBlocks, kThreads, 0, s.main>>>(s.InputOf(layer), s.weights[layer],
                                              s.activations[layer]);
    CHECK(cudaGetLastError());
  }
}

// The communication stream reduces a gradient; the program lets go of it at once.
void CaptureReduction(Step& s, float* weight_gradient, int layer) {
  CHECK(cudaEventRecord(s.ready, s.main));
  CHECK(cudaStreamWaitEvent(s.comm, s.ready, 0));
  ReduceScatter<<<kBlocks, kThreads, 0, s.comm>>>(weight_gradient, s.shards[layer]);
  CHECK(cudaGetLastError());
  s.allocator.RecordStream(weight_gradient, s.comm);
  s.allocator.Free(weight_gradient);
}

void CaptureBackward(Step& s) {
  float* gradient = s.Malloc();
  float* output = s.activations[kLayers - 1];
  Loss<<<kBlocks, kThreads, 0, s.main>>>(output, gradient, s.loss);
  CHECK(cudaGetLastError());
  s.allocator.Free(output);
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    float* weight_gradient = s.Malloc();
    float* input_gradient = layer ? s.Malloc() : nullptr;
    Backward<<<kBlocks, kThreads, 0, s.main>>>(gradient, s.InputOf(layer), s.weights[layer],
                                               weight_gradient, input_gradient);
    CHECK(cudaGetLastError());
    s.allocator.Free(gradient);
    if (layer) s.allocator.Free(s.activations[layer - 1]);
    CaptureReduction(s, weight_gradient, layer);
    gradient = input_gradient;
  }
}

void CaptureOptimizer(Step& s) {
  CHECK(cudaEventRecord(s.reduced, s.comm));
  CHECK(cudaStreamWaitEvent(s.main, s.reduced, 0));
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    Optimize<<<kBlocks, kThreads, 0, s.main>>>(s.shards[layer], s.weights[layer]);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaMemcpyAsync(s.host_loss, s.loss, sizeof(float), cudaMemcpyDeviceToHost, s.main));
}

cudaGraph_t Capture(Step& s) {
  s.allocator.BeginCapture(kPool);
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  CaptureForward(s);
  CaptureBackward(s);
  CaptureOptimizer(s);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  s.allocator.EndCapture();
  return graph;
}

void SetUp(Step& s) {
  CHECK(cudaStreamCreateWithFlags(&s.main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&s.comm, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&s.ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&s.reduced, cudaEventDisableTiming));
  CHECK(cudaMallocHost(&s.host_loss, sizeof(float)));
  s.input = s.Malloc();
  for (float*& weights : s.weights) weights = s.Malloc();
  for (float*& shard : s.shards) shard = s.Malloc();
  s.loss = s.allocator.Malloc(sizeof(float), s.main);
}

void TearDown(Step& s) {
  for (const float* memory : {s.input, s.loss}) s.allocator.Free(memory);
  for (const float* weights : s.weights) s.allocator.Free(weights);
  for (const float* shard : s.shards) s.allocator.Free(shard);
  s.allocator.ReleaseSegments();
  CHECK(cudaFreeHost(s.host_loss));
  CHECK(cudaEventDestroy(s.reduced));
  CHECK(cudaEventDestroy(s.ready));
  CHECK(cudaStreamDestroy(s.comm));
  CHECK(cudaStreamDestroy(s.main));
}

}  // namespace

int main() {
  Step s;
  SetUp(s);
  cudaGraph_t graph = Capture(s);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int step = 0; step < 3; ++step) CHECK(cudaGraphLaunch(exec, s.main));
  CHECK(cudaStreamSynchronize(s.main));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  std::printf("training_step: %zu MiB reserved for the capture\n",
              s.allocator.reserved(kPool) / kMiB);
  TearDown(s);
  return 0;
}
