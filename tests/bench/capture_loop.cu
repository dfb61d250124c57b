// The cost of a captured kernel node: T threads capture N nodes each, on a stream of their own, and
// the program prints the wall time per node of the slowest thread, in nanoseconds. All begin
// together, and no graph is destroyed while others capture. Run untraced and traced, the difference
// is the tracer's.
//
//     capture_loop NODES THREADS
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "testdata/workloads/cuda_check.h"

__global__ void Advance(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1.0f;
}

// Where all threads wait for each other.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  void Arrive() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) all_here_.notify_all();
    all_here_.wait(lock, [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  int missing_;
};

double NanosecondsPerNode(long nodes, float* data, Meeting& begins, Meeting& ends) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  begins.Arrive();
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < nodes; ++i) {
    Advance<<<64, 256, 0, stream>>>(data, 1024);
    CHECK(cudaGetLastError());
  }
  const auto end = std::chrono::steady_clock::now();
  ends.Arrive();
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  return std::chrono::duration<double, std::nano>(end - begin).count() / static_cast<double>(nodes);
}

int main(int argc, char** argv) {
  const long nodes = argc > 1 ? std::atol(argv[1]) : 100000;
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  float* data = nullptr;
  CHECK(cudaMalloc(&data, 64 * 1024));
  Meeting alone(1), also_alone(1);
  NanosecondsPerNode(64, data, alone, also_alone);  // the first launch loads the module
  Meeting begins(count), ends(count);
  std::vector<double> cost(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (double& own : cost)
    threads.emplace_back([&] { own = NanosecondsPerNode(nodes, data, begins, ends); });
  for (std::thread& thread : threads) thread.join();
  std::printf("%.1f\n", *std::max_element(cost.begin(), cost.end()));
  CHECK(cudaFree(data));
  return 0;
}
