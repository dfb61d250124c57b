// Copies of memory that kernels got, which don't run here. Software device only.
//
//   unwritten          zeros where a kernel would have written, what the program wrote elsewhere
//   unwritten stale    under GRAPHKIT_SOFT_DATA=stale: what lies there
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "conformance.h"

// As PyTorch's kernels: their structs keep stale bytes in padding and in unused elements.
namespace at::native {

template <typename T>
struct ReduceOp {
  uint64_t stale[4];
  const void* source;
  void* results[2];  // the second one is set where there are two
  void* accumulated;
  void* buffer;
  int* semaphores;
  int64_t first;
  bool flags[2];
  int count;
};
template <typename Op>
__global__ void reduce_kernel(Op op) {
  *static_cast<int*>(op.results[0]) = *static_cast<const int*>(op.source);
}

template <int kOperands>
struct Offsets {
  uint32_t dimensions;
  uint32_t divisors[25][3];
  uint32_t strides[25][kOperands];
};
template <typename Function>
__global__ void elementwise_kernel(int count, Function function) {
  function(count);
}

template <int kOperands>
void Index(const Offsets<kOperands>& offsets, int* out, const int* in) {
  const auto move = [=] __device__(int i) {
    const uint32_t at = offsets.strides[0][0];
    out[at] = in[i];
  };
  elementwise_kernel<<<1, 1>>>(1, move);
}

}  // namespace at::native

using namespace conformance;

namespace {

constexpr size_t kWords = 1024;
constexpr size_t kBytes = kWords * sizeof(int);
bool stale = false;

__global__ void Update(int* data) { ++*data; }
__global__ void Copy(const int* in, int* out) { *out = *in; }

struct Pair {
  int count;
  int* data[2];
};
__global__ void TakePair(Pair pair) { *pair.data[0] = *pair.data[1]; }
extern "C" __global__ void untyped(int* in, int* out) { *out = *in; }

// 1, 2, 3, …
std::vector<int> Numbers() {
  std::vector<int> numbers(kWords);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

int* Allocate(size_t bytes = kBytes) {
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, bytes));
  return static_cast<int*>(memory);
}

int* Uploaded() {
  int* memory = Allocate();
  EXPECT_OK(cudaMemcpy(memory, Numbers().data(), kBytes, cudaMemcpyHostToDevice));
  return memory;
}

std::vector<int> Read(const int* at, size_t words = kWords) {
  std::vector<int> host(words, -1);
  EXPECT_OK(cudaMemcpy(host.data(), at, words * sizeof(int), cudaMemcpyDeviceToHost));
  return host;
}

bool IsZero(const std::vector<int>& words) { return words == std::vector<int>(words.size()); }
// Unknown: zeros, or what was uploaded.
bool IsUnknown(const std::vector<int>& words) { return stale ? words == Numbers() : IsZero(words); }

CASE(PointersToConstAreInputs) {
  int* in = Uploaded();
  int* out = Uploaded();
  Copy<<<1, 1>>>(in, out);
  EXPECT(Read(in) == Numbers());
  EXPECT(IsUnknown(Read(out)));
}

CASE(WhatIsWrittenLaterIsKnown) {
  int* data = Uploaded();
  Update<<<1, 1>>>(data);
  EXPECT_OK(cudaMemset(data + 1, 0xff, sizeof(int)));
  std::vector<int> words = Read(data);
  EXPECT(words[1] == -1);
  words[1] = stale ? 2 : 0;
  EXPECT(IsUnknown(words));
  EXPECT_OK(cudaMemcpy(data, Numbers().data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT(Read(data) == Numbers());
}

// As an allocator that keeps a segment and gives out parts of it.
CASE(NeighboursInOneAllocationKeepTheirs) {
  int* segment = Allocate(3 * kBytes);
  int* data = segment + kWords;
  int* behind = segment + 2 * kWords;
  for (int* part : {segment, data, behind})
    EXPECT_OK(cudaMemcpy(part, Numbers().data(), kBytes, cudaMemcpyHostToDevice));
  Update<<<1, 1>>>(data);
  EXPECT(Read(segment) == Numbers());
  EXPECT(IsUnknown(Read(data)));
  EXPECT(Read(behind) == Numbers());
  EXPECT(Read(behind + 1, 1)[0] == 2);  // a part of it
  EXPECT(Read(data + 1, 1)[0] == (stale ? 2 : 0));
}

CASE(UnknownBytesStayUnknownInTheirCopies) {
  int* data = Uploaded();
  int* copy = Allocate();
  Update<<<1, 1>>>(data);
  EXPECT_OK(cudaMemcpy(copy, data, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT(IsUnknown(Read(copy)));
}

CASE(WhereTheUseIsNotKnownAnUploadIsAnInput) {
  int* in = Uploaded();
  int* out = Allocate();
  EXPECT_OK(cudaMemset(out, 0xff, 4));
  TakePair<<<1, 1>>>(Pair{1, {out, in}});
  EXPECT(Read(in) == Numbers());
  EXPECT(Read(in + 3, 1)[0] == 4);
  EXPECT(Read(out)[0] == (stale ? -1 : 0));
  EXPECT(Read(out, 1)[0] == -1);  // all that was written there
  untyped<<<1, 1>>>(in, out);
  EXPECT(Read(in) == Numbers());
}

CASE(StaleAddressesInAReductionAreNotItsSource) {
  int* in = Uploaded();
  int* out = Uploaded();
  int* other = Uploaded();
  at::native::ReduceOp<int> op{};
  for (uint64_t& word : op.stale) word = reinterpret_cast<uint64_t>(other) + 1;
  op.source = in;
  op.results[0] = out;
  op.results[1] = other;
  op.count = 1;
  at::native::reduce_kernel<<<1, 1>>>(op);
  EXPECT(Read(in) == Numbers());
  EXPECT(Read(other) == Numbers());
  EXPECT(IsUnknown(Read(out)));
  op.count = 2;
  at::native::reduce_kernel<<<1, 1>>>(op);
  EXPECT(IsUnknown(Read(other)));
}

CASE(StaleAddressesInALambdaAreNotItsOutput) {
  int* in = Uploaded();
  int* out = Uploaded();
  at::native::Offsets<2> offsets{.dimensions = 1};
  const auto address = reinterpret_cast<uint64_t>(in);
  for (int at = 1; at < 25; at += 2) std::memcpy(&offsets.strides[at], &address, sizeof address);
  at::native::Index(offsets, out, in);
  EXPECT(Read(in) == Numbers());
  EXPECT(IsUnknown(Read(out)));
}

CASE(WhereTheUseIsNotKnownAPartOfAnUploadIsAnInput) {
  int* in = Uploaded();
  int* out = Allocate();
  TakePair<<<1, 1>>>(Pair{1, {out, in + 1000}});
  EXPECT(Read(in) == Numbers());
  EXPECT(Read(in + 1000, 4)[0] == 1001);
  EXPECT(Read(in + 990, 20)[10] == 1001);
  TakePair<<<1, 1>>>(Pair{1, {out, in + 128}});  // where an allocator's block may begin
  EXPECT(Read(in + 128, 1)[0] == (stale ? 129 : 0));
}

CASE(GraphsPassMemoryWhenTheyRun) {
  int* data = Uploaded();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Update<<<1, 1, 0, stream>>>(data);
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(Read(data) == Numbers());
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(IsUnknown(Read(data)));
}

CASE(MemoryThatTheHostWritesIsItsOwn) {
  int* managed = nullptr;
  int* pinned = nullptr;
  EXPECT_OK(cudaMallocManaged(&managed, kBytes));
  EXPECT_OK(cudaMallocHost(&pinned, kBytes));
  Update<<<1, 1>>>(managed);
  Update<<<1, 1>>>(pinned);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int* memory : {managed, pinned}) {
    std::memcpy(memory, Numbers().data(), kBytes);
    EXPECT(Read(memory) == Numbers());
  }
}

CASE(FreedMemoryIsForgotten) {
  int* data = Uploaded();
  Update<<<1, 1>>>(data);
  EXPECT_OK(cudaFree(data));
  int* again = nullptr;
  EXPECT_OK(cudaMallocManaged(&again, kBytes));
  EXPECT(again == data);
  std::memcpy(again, Numbers().data(), kBytes);
  EXPECT(Read(again) == Numbers());
}

}  // namespace

int main(int count, char** arguments) {
  stale = count > 1 && std::string(arguments[1]) == "stale";
  RunCases();
  return Finish("unwritten");
}
