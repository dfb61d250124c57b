// Launches, and work outside of graphs, with and without order between them: a case for each word
// (border.py).
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "testdata/workloads/cuda_check.h"

namespace {

__global__ void Scale(float* data, float by) { data[threadIdx.x] *= by; }
__global__ void Sum(const float* from, float* to) { to[threadIdx.x] += from[threadIdx.x]; }

constexpr size_t kBytes = 4096;
constexpr int kRounds = 4;

cudaStream_t a, b, blocking, other_blocking;
cudaEvent_t written, launched;
float *x, *y, *z, *unrelated, *pinned;
float pageable[kBytes / sizeof(float)];

template <typename Capture>
cudaGraphExec_t Make(cudaStream_t stream, Capture capture) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  capture(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

// Copies x to y.
cudaGraphExec_t Copies(cudaStream_t stream = b) {
  return Make(stream, [](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, s));
  });
}
// Copies page-locked memory to x, or y to page-locked memory.
cudaGraphExec_t Uploads(void* from = pinned) {
  return Make(b, [&](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(x, from, kBytes, cudaMemcpyHostToDevice, s));
  });
}
cudaGraphExec_t Downloads() {
  return Make(b, [](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(pinned, y, kBytes, cudaMemcpyDeviceToHost, s));
  });
}
cudaGraphExec_t Sums() {
  return Make(b, [](cudaStream_t s) { Sum<<<1, 32, 0, s>>>(x, y); });
}
cudaGraphExec_t Scales(cudaStream_t stream) {
  return Make(stream, [](cudaStream_t s) { Scale<<<1, 32, 0, s>>>(z, 2); });
}

void After(cudaEvent_t event, cudaStream_t first, cudaStream_t then) {
  CHECK(cudaEventRecord(event, first));
  CHECK(cudaStreamWaitEvent(then, event));
}

// `before` and `after` each launch on `stream`, some rounds.
template <typename Before, typename After>
void Rounds(cudaGraphExec_t exec, cudaStream_t stream, Before before, After after) {
  for (int round = 0; round < kRounds; ++round) {
    before();
    CHECK(cudaGraphLaunch(exec, stream));
    after();
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(exec));
}
void Nothing() {}
void SetX(cudaStream_t stream = a) { CHECK(cudaMemsetAsync(x, 1, kBytes, stream)); }
void ReadY(cudaStream_t stream = a) {
  CHECK(cudaMemcpyAsync(z, y, kBytes, cudaMemcpyDeviceToDevice, stream));
}

// Copies between page-locked memory and z.
void WriteHost(cudaStream_t stream = a, void* to = pinned) {
  CHECK(cudaMemcpyAsync(to, z, kBytes, cudaMemcpyDeviceToHost, stream));
}
void ReadHost(cudaStream_t stream = a) {
  CHECK(cudaMemcpyAsync(z, pinned, kBytes, cudaMemcpyHostToDevice, stream));
}

// Two executables of one graph, each on a stream of its own.
void TwoExecs(bool ordered) {
  cudaGraph_t graph;
  cudaGraphExec_t first, second;
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(z, 1, kBytes, a));
  CHECK(cudaStreamEndCapture(a, &graph));
  CHECK(cudaGraphInstantiate(&first, graph));
  CHECK(cudaGraphInstantiate(&second, graph));
  for (int round = 0; round < kRounds; ++round) {
    CHECK(cudaGraphLaunch(first, a));
    if (ordered) After(written, a, b);
    CHECK(cudaGraphLaunch(second, b));
    if (ordered) After(launched, b, a);
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(first));
  CHECK(cudaGraphExecDestroy(second));
  CHECK(cudaGraphDestroy(graph));
}

// A benchmark's helper: a stream of its own, on which it captures what it is given, and replays it.
template <typename Work>
void Benchmark(Work work, cudaStream_t after) {
  cudaStream_t own;
  CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  if (after != nullptr) After(written, after, own);
  const cudaGraphExec_t exec = Make(own, work);
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, own));
  CHECK(cudaStreamSynchronize(own));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaStreamDestroy(own));
}

void Benchmarks(bool waits) {
  for (int i = 0; i < 2; ++i) {
    Scale<<<1, 32, 0, a>>>(x, 2);  // an operand, made anew for each candidate
    Benchmark([](cudaStream_t s) { Sum<<<1, 32, 0, s>>>(x, y); }, waits ? a : nullptr);
  }
}

// One thread of the host waits by asking.
void PollStream(cudaStream_t stream) {
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
}
void PollEvent(cudaStream_t stream) {
  CHECK(cudaEventRecord(written, stream));
  while (cudaEventQuery(written) == cudaErrorNotReady) {
  }
}

void TwoGraphs(bool ordered) {
  const cudaGraphExec_t first = Scales(a), second = Scales(b);
  for (int round = 0; round < kRounds; ++round) {
    CHECK(cudaGraphLaunch(first, a));
    if (ordered) After(written, a, b);
    CHECK(cudaGraphLaunch(second, b));
    if (ordered) After(launched, b, a);
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(first));
  CHECK(cudaGraphExecDestroy(second));
}

void WaitForB() { CHECK(cudaStreamSynchronize(b)); }

const std::map<std::string, void (*)()> kCases = {
    // Racing, and their silent twins.
    {"copy_in",
     [] {
       Rounds(
           Copies(), b, [] { SetX(); }, Nothing);
     }},
    {"kernel_in",
     [] {
       Rounds(
           Sums(), b, [] { Scale<<<1, 32, 0, a>>>(x, 2); }, Nothing);
     }},
    {"copy_out", [] { Rounds(Copies(), b, Nothing, [] { ReadY(); }); }},
    {"kernel_out", [] { Rounds(Copies(), b, Nothing, [] { Sum<<<1, 32, 0, a>>>(y, z); }); }},
    {"host_out",
     [] {
       Rounds(Copies(), b, Nothing,
              [] { CHECK(cudaMemcpyAsync(pinned, y, kBytes, cudaMemcpyDeviceToHost, a)); });
     }},
    {"events",
     [] {
       Rounds(
           Copies(), b,
           [] {
             SetX();
             After(written, a, b);
           },
           [] {
             After(launched, b, a);
             ReadY();
           });
     }},
    {"one_stream",
     [] {
       Rounds(
           Copies(), b, [] { SetX(b); }, [] { ReadY(b); });
     }},
    {"only_there",
     [] {
       Rounds(
           Copies(), b, [] { SetX(), After(written, a, b); }, Nothing);
     }},
    {"two_graphs", [] { TwoGraphs(false); }},
    {"two_graphs_ordered", [] { TwoGraphs(true); }},
    {"two_execs", [] { TwoExecs(false); }},
    {"two_execs_ordered", [] { TwoExecs(true); }},
    // One executable waits for itself, on whatever stream.
    {"one_exec_two_streams",
     [] {
       const cudaGraphExec_t exec = Copies();
       for (int round = 0; round < kRounds; ++round) {
         SetX(a);
         CHECK(cudaGraphLaunch(exec, a));
         CHECK(cudaGraphLaunch(exec, b));
         ReadY(b);
         After(written, b, a);
       }
       CHECK(cudaDeviceSynchronize());
       CHECK(cudaGraphExecDestroy(exec));
     }},
    // Page-locked memory that the graph still uses, and not.
    {"host_written",
     [] {
       Rounds(
           Uploads(), b, [] { WriteHost(); }, WaitForB);
     }},
    {"host_written_registered",
     [] {
       CHECK(cudaHostRegister(pageable, kBytes, cudaHostRegisterDefault));
       Rounds(
           Uploads(pageable), b, [] { WriteHost(a, pageable); }, WaitForB);
       CHECK(cudaHostUnregister(pageable));
     }},
    {"host_written_first",  // a static input, by a copy into it
     [] {
       Rounds(
           Uploads(), b, [] { WriteHost(b); }, Nothing);
     }},
    {"host_refilled",  // and by the host
     [] {
       Rounds(
           Uploads(), b, [] { std::memset(pinned, 1, kBytes); }, WaitForB);
     }},
    {"host_sent_twice",
     [] {
       Rounds(
           Uploads(), b, [] { ReadHost(); }, WaitForB);
     }},
    {"host_result_read", [] { Rounds(Downloads(), b, Nothing, [] { ReadHost(); }); }},
    {"host_result_waited",
     [] {
       Rounds(Downloads(), b, Nothing, [] {
         WaitForB();
         ReadHost();
         CHECK(cudaStreamSynchronize(a));
       });
     }},
    {"benchmark", [] { Benchmarks(false); }},
    {"benchmark_waits", [] { Benchmarks(true); }},
    // Waits of the host.
    {"synchronized",
     [] {
       Rounds(
           Copies(), b, [] { SetX(), CHECK(cudaStreamSynchronize(a)); }, WaitForB);
     }},
    {"polled_stream",
     [] {
       Rounds(
           Copies(), b, [] { SetX(), PollStream(a); }, [] { PollStream(b); });
     }},
    {"polled_event",
     [] {
       Rounds(
           Copies(), b, [] { SetX(), PollEvent(a); }, [] { PollEvent(b); });
     }},
    {"told_by_function",  // that x is written, where the program waits for it
     [] {
       Rounds(
           Copies(), b,
           [] {
             SetX();
             After(written, a, blocking);
             std::atomic<bool> told = false;
             const auto tell = [](void* to) { *static_cast<std::atomic<bool>*>(to) = true; };
             CHECK(cudaLaunchHostFunc(blocking, tell, &told));
             while (!told) std::this_thread::yield();
           },
           [] { After(launched, b, a); });
     }},
    {"freed",
     [] {
       Rounds(
           Copies(), b,
           [] {
             float* memory;
             SetX();
             CHECK(cudaMalloc(&memory, kBytes));
             CHECK(cudaFree(memory));
           },
           WaitForB);
     }},
    // Copies without Async: from pageable memory they may still be under way when they return.
    {"pageable_in",
     [] {
       Rounds(
           Copies(), b, [] { CHECK(cudaMemcpy(x, pageable, kBytes, cudaMemcpyHostToDevice)); },
           WaitForB);
     }},
    {"pageable_async_in",
     [] {
       Rounds(
           Copies(), b,
           [] { CHECK(cudaMemcpyAsync(x, pageable, kBytes, cudaMemcpyHostToDevice, a)); },
           WaitForB);
     }},
    {"pageable_in_blocking",
     [] {
       Rounds(
           Copies(blocking), blocking,
           [] { CHECK(cudaMemcpy(x, pageable, kBytes, cudaMemcpyHostToDevice)); }, Nothing);
     }},
    {"pinned_in",
     [] {
       Rounds(
           Copies(), b, [] { CHECK(cudaMemcpy(x, pinned, kBytes, cudaMemcpyHostToDevice)); },
           WaitForB);
     }},
    {"device_in",
     [] {
       Rounds(
           Copies(), b, [] { CHECK(cudaMemcpy(x, z, kBytes, cudaMemcpyDeviceToDevice)); },
           WaitForB);
     }},
    {"read_back",  // of other memory, and waits for its stream all the same
     [] {
       Rounds(
           Copies(), b,
           [] {
             SetX();
             CHECK(cudaMemcpyAsync(pageable, unrelated, kBytes, cudaMemcpyDeviceToHost, a));
           },
           [] { CHECK(cudaMemcpyAsync(pageable, unrelated, kBytes, cudaMemcpyDeviceToHost, b)); });
     }},
    {"read_back_pinned",
     [] {
       Rounds(
           Copies(), b,
           [] {
             SetX();
             CHECK(cudaMemcpyAsync(pinned, unrelated, kBytes, cudaMemcpyDeviceToHost, a));
           },
           WaitForB);
     }},
    // The legacy stream orders blocking streams, by whatever is submitted to it.
    {"legacy",
     [] {
       Rounds(
           Copies(blocking), blocking, [] { SetX(cudaStreamLegacy); },
           [] { ReadY(cudaStreamLegacy); });
     }},
    {"legacy_between",
     [] {
       Rounds(
           Copies(blocking), blocking,
           [] {
             SetX(other_blocking);
             Scale<<<1, 32, 0, cudaStreamLegacy>>>(unrelated, 2);
           },
           [] { Scale<<<1, 32, 0, cudaStreamLegacy>>>(unrelated, 2); });
     }},
    {"legacy_beside",
     [] {
       Rounds(
           Copies(), b, [] { SetX(cudaStreamLegacy); }, WaitForB);
     }},
    {"per_thread",
     [] {
       Rounds(
           Copies(), b, [] { SetX(cudaStreamPerThread); }, WaitForB);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = kCases.find(argc > 1 ? argv[1] : "");
  if (found == kCases.end()) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (cudaStream_t* stream : {&a, &b})
    CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  for (cudaStream_t* stream : {&blocking, &other_blocking}) CHECK(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&written, &launched})
    CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  for (float** memory : {&x, &y, &z, &unrelated}) CHECK(cudaMalloc(memory, kBytes));
  CHECK(cudaMallocHost(&pinned, kBytes));
  found->second();
  CHECK(cudaDeviceSynchronize());
  for (float* memory : {x, y, z, unrelated}) CHECK(cudaFree(memory));
  CHECK(cudaFreeHost(pinned));
  for (cudaEvent_t event : {written, launched}) CHECK(cudaEventDestroy(event));
  for (cudaStream_t stream : {a, b, blocking, other_blocking}) CHECK(cudaStreamDestroy(stream));
}
