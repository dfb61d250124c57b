// Four threads at once: each captures in every mode, makes and launches graphs, copies through
// arrays and pools, while another one asks. What one does, the others don't see.
#include <atomic>
#include <thread>
#include <vector>

#include "graphs.h"
#include "kernels.h"

using namespace conformance;

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 20;
constexpr size_t kWords = 256;

std::atomic<int> different{0};
#define SAME(condition)            \
  do {                             \
    if (!(condition)) ++different; \
  } while (0)
#define OK(call) SAME((call) == cudaSuccess)

struct Own {
  cudaStream_t stream = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t forked = nullptr;
  cudaEvent_t joined = nullptr;
  unsigned* device = nullptr;
  unsigned* host = nullptr;  // page-locked
  cudaArray_t array = nullptr;
};

Own Make() {
  Own own;
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned>();
  OK(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&own.side, cudaStreamNonBlocking));
  OK(cudaEventCreate(&own.forked));
  OK(cudaEventCreate(&own.joined));
  OK(cudaMalloc(&own.device, kWords * sizeof(unsigned)));
  OK(cudaMallocHost(&own.host, kWords * sizeof(unsigned)));
  OK(cudaMallocArray(&own.array, &desc, kWords));
  return own;
}

void Unmake(const Own& own) {
  OK(cudaFreeArray(own.array));
  OK(cudaFreeHost(own.host));
  OK(cudaFree(own.device));
  OK(cudaEventDestroy(own.forked));
  OK(cudaEventDestroy(own.joined));
  OK(cudaStreamDestroy(own.side));
  OK(cudaStreamDestroy(own.stream));
}

// A fill and a kernel, a fork with a copy into an array, a copy back.
cudaGraph_t Capture(const Own& own, cudaStreamCaptureMode mode, unsigned char value) {
  const size_t bytes = kWords * sizeof(unsigned);
  OK(cudaStreamBeginCapture(own.stream, mode));
  OK(cudaMemsetAsync(own.device, value, bytes, own.stream));
  Touch<<<1, 32, 0, own.stream>>>(nullptr);
  OK(cudaEventRecord(own.forked, own.stream));
  OK(cudaStreamWaitEvent(own.side, own.forked, 0));
  OK(cudaMemcpy2DToArrayAsync(own.array, 0, 0, own.device, bytes, bytes, 1,
                              cudaMemcpyDeviceToDevice, own.side));
  OK(cudaEventRecord(own.joined, own.side));
  OK(cudaStreamWaitEvent(own.stream, own.joined, 0));
  OK(cudaMemcpy2DFromArrayAsync(own.host, bytes, own.array, 0, 0, bytes, 1, cudaMemcpyDeviceToHost,
                                own.stream));
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(own.stream, &graph));
  return graph;
}

void LaunchAndCheck(const Own& own, cudaGraph_t graph, unsigned char value) {
  cudaGraphExec_t exec = nullptr;
  size_t count = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  SAME(count == 4);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, own.stream));
  OK(cudaStreamSynchronize(own.stream));
  SAME(own.host[0] == value * 0x01010101u && own.host[kWords - 1] == own.host[0]);
  OK(cudaGraphExecDestroy(exec));
}

void UsePool(const Own& own) {
  void* memory = nullptr;
  OK(cudaMallocAsync(&memory, 1 << 16, own.stream));
  OK(cudaMemsetAsync(memory, 1, 1 << 16, own.stream));
  OK(cudaFreeAsync(memory, own.stream));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(own.stream, &status));
  SAME(status == cudaStreamCaptureStatusNone);
}

void Work(cudaStreamCaptureMode mode, int number) {
  // Global captures of others don't let this thread make and unmake what it owns.
  cudaStreamCaptureMode relaxed = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&relaxed));
  const Own own = Make();
  for (int round = 0; round < kRounds; ++round) {
    const auto value = static_cast<unsigned char>(1 + (number * kRounds + round) % 250);
    cudaGraph_t graph = Capture(own, mode, value);
    LaunchAndCheck(own, graph, value);
    cudaGraph_t clone = nullptr;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphDestroy(graph));
    LaunchAndCheck(own, clone, value);
    OK(cudaGraphDestroy(clone));
    UsePool(own);
  }
  Unmake(own);
}

// Asks all the time for what the others change.
void Ask(const std::atomic<bool>& over) {
  cudaStreamCaptureMode relaxed = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&relaxed));
  cudaMemPool_t pool = nullptr;
  while (!over) {
    size_t free_bytes = 0;
    size_t total = 0;
    int device = -1;
    OK(cudaMemGetInfo(&free_bytes, &total));
    OK(cudaGetDevice(&device));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long used = 0;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    SAME(device == 0 && free_bytes <= total);
  }
}

void InMode(cudaStreamCaptureMode mode) {
  std::vector<std::thread> threads;
  std::atomic<bool> over{false};
  std::thread asker([&over] { Ask(over); });
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([mode, i] { Work(mode, i); });
  for (std::thread& thread : threads) thread.join();
  over = true;
  asker.join();
  EXPECT(different == 0);
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  InMode(cudaStreamCaptureModeRelaxed);
  InMode(cudaStreamCaptureModeThreadLocal);
  InMode(cudaStreamCaptureModeGlobal);
  EXPECT_OK(cudaDeviceSynchronize());
  return Finish("threads");
}
