// Page-locked memory that a captured copy reads, used by other transfers between launches or not: a
// case for each word (staging.py).
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "testdata/workloads/cuda_check.h"

namespace {

constexpr size_t kBytes = 4096;

cudaStream_t s, other;
char *x, *y, *z;
char *staging, *own;  // page-locked, the first of several times kBytes
char pageable[2 * kBytes];

cudaGraph_t Uploads(const char* from) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemcpyAsync(x, from, kBytes, cudaMemcpyHostToDevice, s));
  CHECK(cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, s));
  CHECK(cudaStreamEndCapture(s, &graph));
  return graph;
}

struct Uploader {
  explicit Uploader(const char* from) {
    const cudaGraph_t graph = Uploads(from);
    CHECK(cudaGraphInstantiate(&exec, graph));
    CHECK(cudaGraphDestroy(graph));
  }
  ~Uploader() { CHECK(cudaGraphExecDestroy(exec)); }
  void Launch() const {
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
  }
  cudaGraphExec_t exec = nullptr;
};

void Fill(char* memory, int with, size_t bytes = kBytes) { std::memset(memory, with, bytes); }
void Send(const char* from, size_t bytes = kBytes, char* to = z) {
  CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, other));
  CHECK(cudaStreamSynchronize(other));
}
void Receive(char* to, int value) {
  CHECK(cudaMemsetAsync(z, value, kBytes, other));
  CHECK(cudaMemcpyAsync(to, z, kBytes, cudaMemcpyDeviceToHost, other));
  CHECK(cudaStreamSynchronize(other));
}

// The captured copy's memory went back to a pool: the next transfer gets it, and `use` is that.
template <typename Use>
void Pooled(Use use, char* memory = staging, bool launched_before = true) {
  Fill(memory, 1);
  const Uploader graph(memory);
  if (launched_before) graph.Launch();
  use();
  graph.Launch();
}

// An exec that is updated from a graph that reads `second`.
template <typename Use>
void Updated(char* second, Use use) {
  Fill(staging, 1), Fill(second, 1);
  const Uploader graph(staging);
  const cudaGraph_t next = Uploads(second);
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(graph.exec, next, &info));
  CHECK(cudaGraphDestroy(next));
  graph.Launch();
  use();
  graph.Launch();
}

const std::map<std::string, void (*)()> kCases = {
    {"sent_by_another", [] { Pooled([] { Fill(staging, 2), Send(staging); }); }},
    {"sent_before_the_first_launch",
     [] { Pooled([] { Fill(staging, 2), Send(staging); }, staging, false); }},
    {"sent_in_part", [] { Pooled([] { Fill(staging, 2, 64), Send(staging, 64); }); }},
    {"sent_with_more",
     [] { Pooled([] { Fill(staging, 2, 2 * kBytes), Send(staging, 2 * kBytes); }); }},
    {"of_an_arena",
     [] {
       char* piece = staging + 2 * kBytes;
       Pooled([=] { Fill(piece + 128, 2, 64), Send(piece + 128, 64); }, piece);
     }},
    {"registered",
     [] {
       CHECK(cudaHostRegister(pageable, sizeof pageable, cudaHostRegisterDefault));
       Pooled([] { Fill(pageable, 2), Send(pageable); }, pageable);
       CHECK(cudaHostUnregister(pageable));
     }},
    {"later",
     [] {
       Fill(staging, 1);
       const Uploader graph(staging);
       for (int round = 2; round < 5; ++round) Fill(staging, round), graph.Launch();
       Fill(staging, 9), Send(staging);
       graph.Launch();
     }},
    {"received", [] { Pooled([] { Receive(staging, 2); }); }},
    {"received_at_once",
     [] {
       Pooled([] {
         CHECK(cudaMemset(z, 2, kBytes));
         CHECK(cudaMemcpy(staging, z, kBytes, cudaMemcpyDeviceToHost));
       });
     }},
    {"updated", [] { Updated(own, [] { Fill(own, 2), Send(own); }); }},
    {"sent_twice",  // on purpose: nothing tells it from sent_by_another
     [] {
       const Uploader graph(staging);
       for (int round = 1; round < 4; ++round) Fill(staging, round), Send(staging), graph.Launch();
     }},
    {"freed",
     [] {
       char* memory;
       CHECK(cudaMallocHost(&memory, kBytes));
       Pooled([=] { CHECK(cudaFreeHost(memory)); }, memory);
     }},
    // The twins.
    {"refilled",
     [] {
       const Uploader graph(staging);
       for (int round = 1; round < 5; ++round) Fill(staging, round), graph.Launch();
     }},
    {"own_memory", [] { Pooled([] { Fill(own, 2), Send(own); }); }},
    {"refilled_after_another",
     [] { Pooled([] { Fill(staging, 2), Send(staging), Fill(staging, 3); }); }},
    {"filled_back", [] { Pooled([] { Fill(staging, 2), Send(staging), Fill(staging, 1); }); }},
    {"same_bytes", [] { Pooled([] { Send(staging); }); }},
    {"same_copy",  // by hand what the graph does
     [] { Pooled([] { Fill(staging, 2), Send(staging, kBytes, x); }); }},
    {"beside", [] { Pooled([] { Fill(staging + kBytes, 2), Send(staging + kBytes); }); }},
    {"received_each_time",
     [] {
       const Uploader graph(staging);
       for (int round = 1; round < 4; ++round) Receive(staging, round), graph.Launch();
     }},
    {"refilled_after_received", [] { Pooled([] { Receive(staging, 2), Fill(staging, 3); }); }},
    {"received_beside", [] { Pooled([] { Receive(staging + kBytes, 2); }); }},
    {"updated_away", [] { Updated(own, [] { Fill(staging, 2), Send(staging); }); }},
    {"registered_refilled",
     [] {
       CHECK(cudaHostRegister(pageable, sizeof pageable, cudaHostRegisterDefault));
       Pooled([] { Fill(pageable, 2); }, pageable);
       CHECK(cudaHostUnregister(pageable));
     }},
    {"freed_after",
     [] {
       char* memory;
       CHECK(cudaMallocHost(&memory, kBytes));
       Pooled([] {}, memory);
       CHECK(cudaFreeHost(memory));
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = kCases.find(argc > 1 ? argv[1] : "");
  if (found == kCases.end()) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (cudaStream_t* stream : {&s, &other})
    CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  for (char** memory : {&x, &y, &z}) CHECK(cudaMalloc(memory, 2 * kBytes));
  for (char** memory : {&staging, &own}) CHECK(cudaMallocHost(memory, 4 * kBytes));
  found->second();
  CHECK(cudaDeviceSynchronize());
  for (char* memory : {x, y, z}) CHECK(cudaFree(memory));
  for (char* memory : {staging, own}) CHECK(cudaFreeHost(memory));
  for (cudaStream_t stream : {s, other}) CHECK(cudaStreamDestroy(stream));
}
