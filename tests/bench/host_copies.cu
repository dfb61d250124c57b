// Launches of a graph with N captured copies of B bytes, from page-locked memory of the host or
// (device) on the device. Prints the time that a launch took the program. Run untraced and traced,
// the difference is the tracer's.
//
//     host_copies host|device COPIES BYTES LAUNCHES
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "testdata/workloads/cuda_check.h"

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const bool host = std::string(argv[1]) == "host";
  const size_t copies = std::strtoul(argv[2], nullptr, 10);
  const size_t bytes = std::strtoul(argv[3], nullptr, 10);
  const int launches = std::atoi(argv[4]);
  char *to, *from;
  CHECK(cudaMalloc(&to, copies * bytes));
  CHECK(host ? cudaMallocHost(&from, copies * bytes) : cudaMalloc(&from, copies * bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (size_t i = 0; i < copies; ++i) {
    CHECK(cudaMemcpyAsync(to + i * bytes, from + i * bytes, bytes,
                          host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice, stream));
  }
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) CHECK(cudaGraphLaunch(exec, stream));
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  CHECK(cudaStreamSynchronize(stream));
  std::printf("%.0f ns a launch\n", took.count() / launches);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(to));
  CHECK(host ? cudaFreeHost(from) : cudaFree(from));
}
