// Four threads that capture at the same time, in each of the three modes.
//
// Each thread captures, on its own stream: alloc 1 MiB ─ kernel ─ kernel ─ free. All four captures
// of a mode are open together. The threads take turns, call by call, so that every run makes the
// same calls in the same order; with --free they don't. With --mixed thread i allocates i + 1 MiB
// and has i kernels more, so that the four graphs of a mode differ.
//
// 3 modes x 4 threads: 12 captures of 4 nodes and 3 edges: 48 nodes (24 kernels, 12 memory
// allocations, 12 memory frees), 36 edges, 12 MiB allocated in graphs and freed there.
//
//   global        while they capture, the main thread allocates with cudaMalloc, which it may only
//                 after it has set its own mode to relaxed
//   thread_local  the main thread allocates without that: other threads' captures don't bind it
//   relaxed       each thread allocates with cudaMalloc in the midst of its own capture, and the
//                 main thread ends the captures of all
//
// The blocks from cudaMalloc have 64 KiB: 1 + 1 + 4, all of them freed.
//
//     threads [--free] [--mixed]
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "testdata/workloads/cuda_check.h"

constexpr int kThreads = 4;
constexpr size_t kSize = kMiB;
constexpr size_t kOutside = 64 * kKiB;

__global__ void Touch(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f; }

namespace {

// Lets threads 0, 1, 2, 3, 0, … through one after the other.
class Turns {
 public:
  explicit Turns(bool kept) : kept_(kept) {}

  // Waits for the turn of `thread`, does `work`, and passes the turn on.
  template <typename Work>
  void Take(int thread, Work work) {
    if (!kept_) {
      work();
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return turn_ % kThreads == thread; });
    work();
    ++turn_;
    changed_.notify_all();
  }

 private:
  const bool kept_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

// A point that all threads and the main thread reach before any goes on.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
  }

 private:
  const int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int round_ = 0;
};

struct Worker {
  size_t size = kSize;
  int more_kernels = 0;
  cudaStream_t stream = nullptr;
  float* data = nullptr;
  void* outside = nullptr;
  cudaGraph_t graph = nullptr;
};

struct Round {
  cudaStreamCaptureMode mode;
  Turns turns;
  Barrier barrier{kThreads + 1};
  Worker workers[kThreads];

  Round(cudaStreamCaptureMode m, bool kept, bool mixed) : mode(m), turns(kept) {
    for (int i = 0; mixed && i < kThreads; ++i) {
      workers[i].size = static_cast<size_t>(i + 1) * kSize;
      workers[i].more_kernels = i;
    }
  }
};

void Launch(const Worker& worker) {
  Touch<<<worker.size / sizeof(float) / 256, 256, 0, worker.stream>>>(worker.data);
  CHECK(cudaGetLastError());
}

// One thread's capture. All have begun before the first barrier; between the barriers the main
// thread has the device to itself.
void CaptureOne(Round& round, int thread) {
  Worker& worker = round.workers[thread];
  const auto take = [&](auto work) { round.turns.Take(thread, work); };
  take([&] { CHECK(cudaStreamBeginCapture(worker.stream, round.mode)); });
  take([&] { CHECK(cudaMallocAsync(&worker.data, worker.size, worker.stream)); });
  round.barrier.Wait();
  round.barrier.Wait();
  take([&] { Launch(worker); });
  if (round.mode == cudaStreamCaptureModeRelaxed) {
    take([&] { CHECK(cudaMalloc(&worker.outside, kOutside)); });
  }
  take([&] {
    for (int i = 0; i <= worker.more_kernels; ++i) Launch(worker);
  });
  take([&] { CHECK(cudaFreeAsync(worker.data, worker.stream)); });
  if (round.mode != cudaStreamCaptureModeRelaxed) {
    take([&] { CHECK(cudaStreamEndCapture(worker.stream, &worker.graph)); });
  }
}

// The main thread's work while the others capture.
void AllocateMeanwhile(cudaStreamCaptureMode mode) {
  if (mode == cudaStreamCaptureModeRelaxed) return;
  void* memory = nullptr;
  cudaStreamCaptureMode own = cudaStreamCaptureModeRelaxed;
  if (mode == cudaStreamCaptureModeGlobal) CHECK(cudaThreadExchangeStreamCaptureMode(&own));
  CHECK(cudaMalloc(&memory, kOutside));
  CHECK(cudaFree(memory));
  if (mode == cudaStreamCaptureModeGlobal) CHECK(cudaThreadExchangeStreamCaptureMode(&own));
}

void Finish(Round& round) {
  for (Worker& worker : round.workers) {
    if (round.mode == cudaStreamCaptureModeRelaxed) {
      CHECK(cudaStreamEndCapture(worker.stream, &worker.graph));
    }
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(worker.graph, nullptr, &nodes));
    const size_t expected = 4 + static_cast<size_t>(worker.more_kernels);
    if (nodes == expected) continue;
    std::fprintf(stderr, "threads: %zu nodes, expected %zu\n", nodes, expected);
    std::exit(1);
  }
  for (Worker& worker : round.workers) {
    CHECK(cudaGraphDestroy(worker.graph));
    CHECK(cudaFree(worker.outside));
    CHECK(cudaStreamDestroy(worker.stream));
  }
}

void CaptureAtOnce(cudaStreamCaptureMode mode, const char* name, bool kept, bool mixed) {
  Round round(mode, kept, mixed);
  for (Worker& worker : round.workers) {
    CHECK(cudaStreamCreateWithFlags(&worker.stream, cudaStreamNonBlocking));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&round, i] { CaptureOne(round, i); });
  round.barrier.Wait();
  AllocateMeanwhile(mode);
  round.barrier.Wait();
  for (std::thread& thread : threads) thread.join();
  Finish(round);
  std::printf("threads: %d captures in %s mode\n", kThreads, name);
}

}  // namespace

int main(int argc, char** argv) {
  const bool kept = !Flag(argc, argv, "--free");
  const bool mixed = Flag(argc, argv, "--mixed");
  CHECK(cudaFree(nullptr));  // the driver is there before the threads are
  CaptureAtOnce(cudaStreamCaptureModeGlobal, "global", kept, mixed);
  CaptureAtOnce(cudaStreamCaptureModeThreadLocal, "thread_local", kept, mixed);
  CaptureAtOnce(cudaStreamCaptureModeRelaxed, "relaxed", kept, mixed);
  return 0;
}
