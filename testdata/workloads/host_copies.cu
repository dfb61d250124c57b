// Captured copies of memory of the host, which a replay finds at the captured address.
//
//   graph 0  1 copy of 4 KiB of a function's stack; launched when the function has returned.
//   graph 1  1 copy of 64 KiB of pinned memory; launched twice, the memory freed in between.
//   graph 2  2 copies of the same 16 KiB from malloc, filled anew in between: both replay the last.
//   graph 3  done right: 1 copy of 64 KiB of pinned memory that lives on, 1 of 32 KiB of registered
//            memory, 1 of 1 KiB of the program's own.
//
//     host_copies [fixed]      fixed: graphs 0, 1 and 2 copy pinned memory that lives on
#include <cstdlib>

#include "testdata/workloads/cuda_check.h"

namespace {

constexpr size_t kStack = 4 * kKiB, kPinned = 64 * kKiB, kHeap = 16 * kKiB, kRegistered = 32 * kKiB,
                 kTable = kKiB;
char table[kTable];

struct Program {
  cudaStream_t stream = nullptr;
  char* device = nullptr;
  char* kept = nullptr;  // pinned, to the end
  bool fixed = false;

  void Begin() const { CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); }
  void Copy(const void* from, size_t bytes) const {
    CHECK(cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, stream));
  }
  cudaGraphExec_t End() const {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
  }
  void Launch(cudaGraphExec_t exec) const {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
};

__attribute__((noinline)) cudaGraphExec_t CopiesStack(const Program& p) {
  char values[kStack] = {1};
  p.Begin();
  p.Copy(p.fixed ? p.kept : values, kStack);
  return p.End();
}

void FreesPinned(const Program& p) {
  void* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, kPinned));
  p.Begin();
  p.Copy(pinned, kPinned);
  cudaGraphExec_t exec = p.End();
  p.Launch(exec);
  if (!p.fixed) CHECK(cudaFreeHost(pinned));
  p.Launch(exec);
  if (p.fixed) CHECK(cudaFreeHost(pinned));
  CHECK(cudaGraphExecDestroy(exec));
}

void RefillsHeap(const Program& p) {
  char* heap = p.fixed ? p.kept : static_cast<char*>(std::malloc(kHeap));
  p.Begin();
  for (char layer = 0; layer < 2; ++layer) {
    std::memset(heap, layer, kHeap);
    p.Copy(heap, kHeap);
  }
  cudaGraphExec_t exec = p.End();
  p.Launch(exec);
  CHECK(cudaGraphExecDestroy(exec));
  if (!p.fixed) std::free(heap);
}

void DoneRight(const Program& p) {
  void* registered = std::aligned_alloc(kRegistered, kRegistered);
  CHECK(cudaHostRegister(registered, kRegistered, cudaHostRegisterDefault));
  p.Begin();
  p.Copy(p.kept, kPinned);
  p.Copy(registered, kRegistered);
  p.Copy(table, kTable);
  cudaGraphExec_t exec = p.End();
  p.Launch(exec);
  p.Launch(exec);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaHostUnregister(registered));
  std::free(registered);
}

}  // namespace

int main(int argc, char** argv) {
  Program p;
  p.fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&p.device, kPinned));
  CHECK(cudaMallocHost(&p.kept, kPinned));
  cudaGraphExec_t stack = CopiesStack(p);
  p.Launch(stack);
  CHECK(cudaGraphExecDestroy(stack));
  FreesPinned(p);
  RefillsHeap(p);
  DoneRight(p);
  CHECK(cudaFreeHost(p.kept));
  CHECK(cudaFree(p.device));
  CHECK(cudaStreamDestroy(p.stream));
  std::printf("host_copies: done\n");
  return 0;
}
