// An inference server in miniature: one graph for each batch size, all in one memory pool.
//
// Captured from the largest batch to the smallest, on one stream; a graph of batch b, with
// hidden and attended 2 b MiB each and logits b MiB:
//
//     Embed(input, hidden) ─ Attend(hidden, attended) ─ Project(attended, logits) ─ copy
//
// b = 8, 4, 2, 1: 4 graphs of 4 nodes (3 kernels, 1 memcpy) and 3 edges. hidden is freed after
// Attend is captured, attended after Project. logits are outputs: they live until the server ends.
//
//     batch   allocated   at most alive   not freed in the capture
//       8       40 MiB        32 MiB        8 MiB
//       4       20 MiB        16 MiB        4 MiB
//       2       10 MiB         8 MiB        2 MiB
//       1        5 MiB         4 MiB        1 MiB
//
// The graphs share the pool, so the smaller ones find room in what the largest left behind: it
// reserves 16 + 16 MiB (hidden, attended; its logits take hidden's place), the others add only the
// 2 MiB segment of the last logits (1 MiB: small): 34 MiB. With a pool for each graph it would be
// 32 + 20 + 20 + (20 + 2) = 94 MiB, since blocks of 2 to 8 MiB come from segments of 20 MiB.
//
// Five requests of 1, 3, 8, 5 and 2 inputs are answered by the graphs of 1, 4, 8, 8 and 2.
#include "testdata/workloads/caching_allocator.h"

constexpr int kBatches[] = {8, 4, 2, 1};
constexpr int kRequests[] = {1, 3, 8, 5, 2};
constexpr const char* kPool = "pool of the graphs";
constexpr size_t kInput = 2 * kMiB;
constexpr size_t kAnswer = 4 * kKiB;
constexpr int kThreads = 256;

unsigned Blocks(int n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }
int Elements(size_t bytes) { return static_cast<int>(bytes / sizeof(float)); }

__device__ int Index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void Embed(const float* input, float* hidden, int n, int inputs) {
  if (Index() < n) hidden[Index()] = input[Index() % inputs];
}

__global__ void Attend(const float* hidden, float* attended, int n) {
  if (Index() < n) attended[Index()] = hidden[n - 1 - Index()];
}

__global__ void Project(const float* attended, float* logits, int n) {
  if (Index() < n) logits[Index()] = attended[2 * Index()] + attended[2 * Index() + 1];
}

namespace {

struct BatchGraph {
  int batch = 0;
  float* logits = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

struct Server {
  CachingAllocator allocator;
  cudaStream_t stream = nullptr;
  float* input = nullptr;   // static, for the largest batch
  float* answer = nullptr;  // host
  std::vector<BatchGraph> graphs;
};

void CaptureForward(Server& server, BatchGraph& g) {
  const size_t hidden_size = 2 * kMiB * static_cast<size_t>(g.batch);
  const size_t logits_size = kMiB * static_cast<size_t>(g.batch);
  const int n = Elements(hidden_size);
  const cudaStream_t stream = server.stream;

  float* hidden = server.allocator.Malloc(hidden_size, stream);
  Embed<<<Blocks(n), kThreads, 0, stream>>>(server.input, hidden, n, Elements(kInput));
  CHECK(cudaGetLastError());
  float* attended = server.allocator.Malloc(hidden_size, stream);
  Attend<<<Blocks(n), kThreads, 0, stream>>>(hidden, attended, n);
  CHECK(cudaGetLastError());
  server.allocator.Free(hidden);
  g.logits = server.allocator.Malloc(logits_size, stream);
  Project<<<Blocks(n / 2), kThreads, 0, stream>>>(attended, g.logits, n / 2);
  CHECK(cudaGetLastError());
  server.allocator.Free(attended);
  CHECK(cudaMemcpyAsync(server.answer, g.logits, kAnswer, cudaMemcpyDeviceToHost, stream));
}

BatchGraph Capture(Server& server, int batch) {
  BatchGraph g;
  g.batch = batch;
  server.allocator.BeginCapture(kPool);
  CHECK(cudaStreamBeginCapture(server.stream, cudaStreamCaptureModeGlobal));
  CaptureForward(server, g);
  CHECK(cudaStreamEndCapture(server.stream, &g.graph));
  server.allocator.EndCapture();
  CHECK(cudaGraphInstantiate(&g.exec, g.graph, 0));
  return g;
}

// Answers with the smallest graph that holds the request.
void Answer(Server& server, int inputs) {
  const BatchGraph* fitting = nullptr;
  for (const BatchGraph& g : server.graphs) fitting = g.batch >= inputs ? &g : fitting;
  CHECK(cudaMemsetAsync(server.input, 0, kInput, server.stream));
  CHECK(cudaGraphLaunch(fitting->exec, server.stream));
  CHECK(cudaStreamSynchronize(server.stream));
  std::printf("inference_server: %d inputs by the graph of %d\n", inputs, fitting->batch);
}

}  // namespace

int main() {
  Server server;
  CHECK(cudaStreamCreateWithFlags(&server.stream, cudaStreamNonBlocking));
  CHECK(cudaMallocHost(&server.answer, kAnswer));
  server.input = server.allocator.Malloc(kInput, server.stream);

  for (const int batch : kBatches) server.graphs.push_back(Capture(server, batch));
  std::printf("inference_server: %zu MiB reserved for %zu graphs\n",
              server.allocator.reserved(kPool) / kMiB, server.graphs.size());
  for (const int inputs : kRequests) Answer(server, inputs);

  for (const BatchGraph& g : server.graphs) {
    CHECK(cudaGraphExecDestroy(g.exec));
    CHECK(cudaGraphDestroy(g.graph));
    server.allocator.Free(g.logits);
  }
  server.allocator.Free(server.input);
  server.allocator.ReleaseSegments();
  CHECK(cudaFreeHost(server.answer));
  CHECK(cudaStreamDestroy(server.stream));
  return 0;
}
