// Copies for which the host waits, beside graphs: they become no nodes.
//
//   graph 0  memset of x, copy of y to z; captured in relaxed mode. In between a cudaMemcpy from x
//            to y: it runs once, before x was ever set, and no launch has it.
//   graph 1  memset of a, which is freed, copy of b, in its place, to z. After the capture b is
//            filled by a cudaMemcpy, which may return before it has reached the device; a launch
//            sets a, and so b; another cudaMemcpy reads b.
//
//     blocking_calls [fixed]   fixed: the copy from x to y is captured, b is allocated before the
//                              capture, and the host waits for the copy to it
#include <vector>

#include "testdata/workloads/caching_allocator.h"
#include "testdata/workloads/cuda_check.h"

namespace {

constexpr size_t kBytes = 4 * kKiB;

cudaStream_t stream = nullptr;
char *x = nullptr, *y = nullptr, *z = nullptr;

void Begin() { CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed)); }

cudaGraphExec_t End() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

void Launch(cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

void Copy(void* to, const void* from) {
  CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream));
}

void CopiesInCapture(bool fixed) {
  Begin();
  CHECK(cudaMemsetAsync(x, 1, kBytes, stream));
  if (fixed) {
    Copy(y, x);
  } else {
    CHECK(cudaMemcpy(y, x, kBytes, cudaMemcpyDeviceToDevice));
  }
  Copy(z, y);
  cudaGraphExec_t exec = End();
  Launch(exec);
  Launch(exec);
  CHECK(cudaGraphExecDestroy(exec));
}

void CopiesOfThePool(bool fixed) {
  CachingAllocator allocator;
  float* b = fixed ? allocator.Malloc(kBytes, stream) : nullptr;
  Begin();
  allocator.BeginCapture("pool");
  float* a = allocator.Malloc(kBytes, stream);
  CHECK(cudaMemsetAsync(a, 0, kBytes, stream));
  allocator.Free(a);
  if (!fixed) b = allocator.Malloc(kBytes, stream);
  Copy(z, b);
  cudaGraphExec_t exec = End();
  allocator.EndCapture();
  std::vector<char> values(kBytes, 1);
  CHECK(cudaMemcpy(b, values.data(), kBytes, cudaMemcpyHostToDevice));
  if (fixed) CHECK(cudaDeviceSynchronize());
  Launch(exec);
  CHECK(cudaMemcpy(values.data(), b, kBytes, cudaMemcpyDeviceToHost));
  Launch(exec);
  CHECK(cudaGraphExecDestroy(exec));
  allocator.Free(b);
  allocator.ReleaseSegments();
}

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = Flag(argc, argv, "fixed");
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (char** memory : {&x, &y, &z}) CHECK(cudaMalloc(memory, kBytes));
  CHECK(cudaMemset(y, 0, kBytes));
  CopiesInCapture(fixed);
  CopiesOfThePool(fixed);
  for (char* memory : {x, y, z}) CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(stream));
  std::printf("blocking_calls: done\n");
  return 0;
}
