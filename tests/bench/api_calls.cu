// The cost of each kind of call: in a loop, ns per call, the best of several rounds. Run untraced
// and traced, the difference is the tracer's.
//
//     api_calls [ROUNDS]    captured: …    outside: …    beside, on graphs' memory: …
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "testdata/workloads/cuda_check.h"

__global__ void Advance(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1.0f;
}

constexpr int kCalls = 2000;  // of a round
constexpr size_t kBytes = 4096;

struct Things {
  cudaStream_t stream = nullptr, side = nullptr;
  cudaEvent_t event = nullptr;
  float *data = nullptr, *other = nullptr;     // that graphs touch
  float *own = nullptr, *own_other = nullptr;  // that none does
  int rounds = 5;
};

Things things;

void CUDART_CB Nothing(void*) {}

// The time of a round's calls, without what comes before and after.
template <typename Calls>
double NanosecondsOf(Calls calls) {
  const auto begin = std::chrono::steady_clock::now();
  calls();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / kCalls;
}

void Print(const char* name, double nanoseconds) {
  std::printf("%-34s %8.0f\n", name, nanoseconds);
}

template <typename Calls>
void Outside(const char* name, Calls calls) {
  double best = 1e18;
  for (int i = 0; i < things.rounds; ++i) best = std::min(best, NanosecondsOf(calls));
  CHECK(cudaDeviceSynchronize());
  Print(name, best);
}

// `join`: the side stream has been captured, too, and has to end in the main one.
template <typename Calls>
void Captured(const char* name, Calls calls, bool join = false) {
  double best = 1e18;
  for (int i = 0; i < things.rounds; ++i) {
    CHECK(cudaStreamBeginCapture(things.stream, cudaStreamCaptureModeThreadLocal));
    best = std::min(best, NanosecondsOf(calls));
    if (join) {
      CHECK(cudaEventRecord(things.event, things.side));
      CHECK(cudaStreamWaitEvent(things.stream, things.event, 0));
    }
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(things.stream, &graph));
    CHECK(cudaGraphDestroy(graph));
  }
  Print(name, best);
}

template <typename Call>
auto Loop(Call call) {
  return [call] {
    for (int i = 0; i < kCalls; ++i) call();
  };
}

void CapturedCalls() {
  Captured("captured: kernel", Loop([] {
             Advance<<<1, 256, 0, things.stream>>>(things.data, 1024);
             CHECK(cudaGetLastError());
           }));
  Captured("captured: memcpy", Loop([] {
             CHECK(cudaMemcpyAsync(things.other, things.data, kBytes, cudaMemcpyDeviceToDevice,
                                   things.stream));
           }));
  Captured("captured: memset",
           Loop([] { CHECK(cudaMemsetAsync(things.data, 0, kBytes, things.stream)); }));
  Captured("captured: host function",
           Loop([] { CHECK(cudaLaunchHostFunc(things.stream, Nothing, nullptr)); }));
  Captured("captured: malloc and free", Loop([] {
             void* memory = nullptr;
             CHECK(cudaMallocAsync(&memory, kBytes, things.stream));
             CHECK(cudaFreeAsync(memory, things.stream));
           }));
  Captured("captured: record and wait", Loop([] {
             CHECK(cudaEventRecord(things.event, things.stream));
             CHECK(cudaStreamWaitEvent(things.side, things.event, 0));
           }),
           true);
}

void CallsOutside() {
  Outside("outside: kernel", Loop([] {
            Advance<<<1, 256, 0, things.stream>>>(things.own, 1024);
            CHECK(cudaGetLastError());
          }));
  Outside("outside: memcpy", Loop([] {
            CHECK(cudaMemcpyAsync(things.own_other, things.own, kBytes, cudaMemcpyDeviceToDevice,
                                  things.stream));
          }));
  Outside("outside: record and wait", Loop([] {
            CHECK(cudaEventRecord(things.event, things.stream));
            CHECK(cudaStreamWaitEvent(things.side, things.event, 0));
          }));
  Outside("outside: malloc and free", Loop([] {
            void* memory = nullptr;
            CHECK(cudaMalloc(&memory, kBytes));
            CHECK(cudaFree(memory));
          }));
  Outside("outside: async malloc and free", Loop([] {
            void* memory = nullptr;
            CHECK(cudaMallocAsync(&memory, kBytes, things.stream));
            CHECK(cudaFreeAsync(memory, things.stream));
          }));
}

// Once memory was allocated in a capture, work on other memory, and on that.
void CallsBesideGraphMemory() {
  float* memory = nullptr;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(things.stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMalloc(&memory, kBytes));
  CHECK(cudaStreamEndCapture(things.stream, &graph));
  Outside("beside graphs' memory: kernel", Loop([] {
            Advance<<<1, 256, 0, things.stream>>>(things.own, 1024);
            CHECK(cudaGetLastError());
          }));
  Outside("beside graphs' memory: memcpy", Loop([] {
            CHECK(cudaMemcpyAsync(things.own_other, things.own, kBytes, cudaMemcpyDeviceToDevice,
                                  things.stream));
          }));
  Outside("on graphs' memory: kernel", Loop([memory] {
            Advance<<<1, 256, 0, things.stream>>>(memory, 1024);
            CHECK(cudaGetLastError());
          }));
  CHECK(cudaFree(memory));
  CHECK(cudaGraphDestroy(graph));
}

void GraphCalls() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(things.stream, cudaStreamCaptureModeThreadLocal));
  Advance<<<1, 256, 0, things.stream>>>(things.data, 1024);  // no host node: it takes a core
  CHECK(cudaStreamEndCapture(things.stream, &graph));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  Outside("graph: launch", Loop([exec] { CHECK(cudaGraphLaunch(exec, things.stream)); }));
  Outside("graph: update", Loop([exec, graph] {
            cudaGraphExecUpdateResultInfo info = {};
            CHECK(cudaGraphExecUpdate(exec, graph, &info));
          }));
  Outside("graph: instantiate and destroy", Loop([graph] {
            cudaGraphExec_t made = nullptr;
            CHECK(cudaGraphInstantiate(&made, graph, 0));
            CHECK(cudaGraphExecDestroy(made));
          }));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char** argv) {
  if (argc > 1) things.rounds = std::max(1, std::atoi(argv[1]));
  CHECK(cudaStreamCreateWithFlags(&things.stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&things.side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&things.event, cudaEventDisableTiming));
  CHECK(cudaMalloc(&things.data, kBytes));
  CHECK(cudaMalloc(&things.other, kBytes));
  CHECK(cudaMalloc(&things.own, kBytes));
  CHECK(cudaMalloc(&things.own_other, kBytes));
  Advance<<<1, 256, 0, things.stream>>>(things.data, 1024);  // the first launch loads the module
  CHECK(cudaGetLastError());
  CapturedCalls();
  CallsOutside();
  CallsBesideGraphMemory();
  GraphCalls();
  return 0;
}
