// Blocks that cross streams, and the frees that wait for the end of the capture.
//
// Six layers. Layer i computes h_i (12 MiB, with 4 MiB of scratch) on the main stream (F_i), and
// the side stream exchanges it with other ranks (R_i) while main goes on: main waits for an
// exchange one layer later, and the program lets go of h_{i-1} then, when R_i is already captured.
//
//     main:  F_0 ── F_1 ─ wait R_0, free h_0 ─ F_2 ─ wait R_1, free h_1 ─ F_3 …
//              └ R_0  └──── R_1                  └──── R_2
//
// Nodes: 6 Forward, 6 Exchange, 1 Reduce: 13 kernels.
// Edges: F_1 has 1 (from F_0), F_2 to F_5 have 2 (F_{i-1}, R_{i-2}): 9; R_0 has 1, R_1 to R_5 have
// 2 (R_{i-1}, F_i): 11; Reduce has 3 (F_5, R_4, R_5): 23 in all.
//
// Blocks of the capture: 6 x 12 MiB + 6 x 4 MiB = 96 MiB. The scratch stays on main, so it is free
// at once and used again. At most alive (allocated and not let go): h_{i-1}, h_i, scratch: 28 MiB.
//
//   defer    Nothing that crossed comes back: 6 x 12 + 4 = 76 MiB, of which 72 MiB are deferred in
//            the end. In segments: 12 (h_0) + 20 (scratch, and h_1 behind it) + 4 x 12 (h_2 to h_5)
//            = 80 MiB.
//   pytorch  A free takes the tips of both streams as markers: R_i for h_{i-1}, although the last
//            to touch it was R_{i-1}. main has waited for R_i only when h_{i+2} is asked for, so
//            three are held: 3 x 12 + 4 = 40 MiB.
//   reuse    The marker of h_{i-1} is R_{i-1}, for which main waited before the free: h_{i+1} takes
//            its place. 2 x 12 + 4 = 28 MiB. That much has to exist at once, since R_{i-1} may read
//            h_{i-1} while F_i writes h_i and its scratch: it is the lower bound.
//
//     record_stream [--layers N] [--record-stream 0]
//
// With --record-stream 0 the allocator isn't told of the side stream. It needn't be: main waits for
// the exchange before the free. Nothing is deferred then.
#include "testdata/workloads/caching_allocator.h"

constexpr size_t kHidden = 12 * kMiB;
constexpr size_t kScratch = 4 * kMiB;
constexpr int kThreads = 256;
constexpr int kElements = static_cast<int>(kHidden / sizeof(float));
constexpr int kScratchElements = static_cast<int>(kScratch / sizeof(float));

unsigned Blocks(int n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

__global__ void Forward(const float* input, float* scratch, float* hidden, int layer) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kElements) return;
  if (i < kScratchElements) scratch[i] = input[i];
  hidden[i] = input[i] * static_cast<float>(layer + 1);
}

__global__ void Exchange(const float* hidden, float* gathered) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kElements) gathered[i] += hidden[i];
}

__global__ void Reduce(float* gathered) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kElements) gathered[i] *= 0.5f;
}

namespace {

struct Step {
  CachingAllocator& allocator;
  bool record_stream = true;  // tell the allocator of the side stream
  cudaStream_t main = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t computed = nullptr;  // main: the hidden state of the layer is there
  cudaEvent_t exchanged[2] = {};   // side: the exchange of an even, of an odd layer is done
  float* input = nullptr;          // static
  float* gathered = nullptr;       // static
};

float* CaptureLayer(Step& s, int layer) {
  float* hidden = s.allocator.Malloc(kHidden, s.main);
  float* scratch = s.allocator.Malloc(kScratch, s.main);
  Forward<<<Blocks(kElements), kThreads, 0, s.main>>>(s.input, scratch, hidden, layer);
  CHECK(cudaGetLastError());
  s.allocator.Free(scratch);

  CHECK(cudaEventRecord(s.computed, s.main));
  CHECK(cudaStreamWaitEvent(s.side, s.computed, 0));
  Exchange<<<Blocks(kElements), kThreads, 0, s.side>>>(hidden, s.gathered);
  CHECK(cudaGetLastError());
  if (s.record_stream) s.allocator.RecordStream(hidden, s.side);
  CHECK(cudaEventRecord(s.exchanged[layer % 2], s.side));
  return hidden;
}

// main waits for the exchange of a layer; then its hidden state isn't needed any more.
void FinishLayer(Step& s, int layer, const float* hidden) {
  CHECK(cudaStreamWaitEvent(s.main, s.exchanged[layer % 2], 0));
  s.allocator.Free(hidden);
}

cudaGraph_t Capture(Step& s, int layers) {
  s.allocator.BeginCapture("private pool of the step");
  CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeGlobal));
  float* previous = nullptr;
  for (int layer = 0; layer < layers; ++layer) {
    float* hidden = CaptureLayer(s, layer);
    if (layer > 0) FinishLayer(s, layer - 1, previous);
    previous = hidden;
  }
  FinishLayer(s, layers - 1, previous);
  Reduce<<<Blocks(kElements), kThreads, 0, s.main>>>(s.gathered);
  CHECK(cudaGetLastError());
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(s.main, &graph));
  s.allocator.EndCapture();
  return graph;
}

void Launch(cudaGraph_t graph, cudaStream_t stream, int times) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
}

}  // namespace

int main(int argc, char** argv) {
  const int layers = static_cast<int>(std::max(1L, Number(argc, argv, "--layers", 6)));
  CachingAllocator allocator;
  Step s{allocator};
  s.record_stream = Number(argc, argv, "--record-stream", 1) != 0;
  CHECK(cudaStreamCreateWithFlags(&s.main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&s.side, cudaStreamNonBlocking));
  for (cudaEvent_t* event : {&s.computed, &s.exchanged[0], &s.exchanged[1]}) {
    CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  s.input = allocator.Malloc(kHidden, s.main);
  s.gathered = allocator.Malloc(kHidden, s.main);
  CHECK(cudaMemsetAsync(s.gathered, 0, kHidden, s.main));

  cudaGraph_t graph = Capture(s, layers);
  Launch(graph, s.main, 3);
  CHECK(cudaGraphDestroy(graph));
  std::printf("record_stream: %d layers, %zu MiB reserved for the capture\n", layers,
              allocator.reserved("private pool of the step") / kMiB);

  allocator.Free(s.gathered);
  allocator.Free(s.input);
  allocator.ReleaseSegments();
  for (cudaEvent_t event : {s.computed, s.exchanged[0], s.exchanged[1]}) {
    CHECK(cudaEventDestroy(event));
  }
  CHECK(cudaStreamDestroy(s.side));
  CHECK(cudaStreamDestroy(s.main));
  return 0;
}
