// A server that captures its step again for each request, because each request has new memory.
//
//   address   five requests of one size, each in memory of its own: one graph would do
//   sizes     four requests of two sizes; of each size one comes again in other memory
//
//     recorded_again CASE [fixed]     fixed: a graph for each size, and requests copied into its
//     input
#include <vector>

#include "testdata/workloads/cuda_check.h"

__global__ void Scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

namespace {

constexpr int kThreads = 256;
constexpr size_t kLargest = 64 * kKiB;

cudaStream_t stream = nullptr;
float* result = nullptr;

cudaGraph_t Capture(const float* request, size_t bytes) {
  const int n = static_cast<int>(bytes / sizeof(float));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Scale<<<static_cast<unsigned>(n / kThreads), kThreads, 0, stream>>>(request, result, n);
  Scale<<<static_cast<unsigned>(n / kThreads), kThreads, 0, stream>>>(result, result, n);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

struct Recorded {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  float* input = nullptr;
  size_t bytes = 0;
};

Recorded Record(float* input, size_t bytes) {
  Recorded made{Capture(input, bytes), nullptr, input, bytes};
  CHECK(cudaGraphInstantiate(&made.exec, made.graph, 0));
  return made;
}

float* NewRequest(size_t bytes) {
  float* request = nullptr;
  CHECK(cudaMalloc(&request, bytes));
  CHECK(cudaMemsetAsync(request, 0, bytes, stream));
  return request;
}

void End(std::vector<Recorded>& recorded, bool owns_input) {
  CHECK(cudaStreamSynchronize(stream));
  for (const Recorded& one : recorded) {
    CHECK(cudaGraphExecDestroy(one.exec));
    CHECK(cudaGraphDestroy(one.graph));
    if (owns_input) CHECK(cudaFree(one.input));
  }
  recorded.clear();
}

void Serve(const std::vector<size_t>& sizes, bool fixed) {
  std::vector<Recorded> recorded;
  std::vector<float*> requests;
  for (const size_t bytes : sizes) {
    float* request = NewRequest(bytes);
    requests.push_back(request);
    const Recorded* own = nullptr;
    for (const Recorded& one : recorded)
      if (fixed && one.bytes == bytes) own = &one;
    if (own == nullptr) {
      if (!fixed) End(recorded, false);  // the next one takes its place
      own = &recorded.emplace_back(Record(fixed ? NewRequest(bytes) : request, bytes));
    }
    if (fixed) CHECK(cudaMemcpyAsync(own->input, request, bytes, cudaMemcpyDeviceToDevice, stream));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(own->exec, stream));
  }
  End(recorded, fixed);
  for (float* request : requests) CHECK(cudaFree(request));
}

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&result, kLargest));
  constexpr size_t kSmall = kLargest / 2;
  if (Flag(argc, argv, "address")) Serve(std::vector<size_t>(5, kLargest), fixed);
  if (Flag(argc, argv, "sizes")) Serve({kLargest, kLargest, kSmall, kSmall}, fixed);
  CHECK(cudaFree(result));
  CHECK(cudaStreamDestroy(stream));
  std::printf("recorded_again: done\n");
  return 0;
}
