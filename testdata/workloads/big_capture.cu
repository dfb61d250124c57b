// A large capture: four lanes of kernels between one fork and one join.
//
//     memset ─ root ─┬─ lane 0, on main: 2499 kernels ─┬─ join ─ memcpy
//                    ├─ lane 1, on a side stream       ┤
//                    ├─ lane 2                         ┤
//                    └─ lane 3                         ┘
//
// With L kernels a lane: 4 L + 4 nodes, 4 L + 6 edges (memset-root 1, root-lanes 4, in the lanes
// 4 (L - 1), lanes-join 4, join-memcpy 1). By default L = 2499: 10 000 nodes (9 998 kernels, a
// memset, a memcpy) and 10 002 edges. Nothing is allocated in the capture. Launched once.
//
//     big_capture [--nodes N]
#include "testdata/workloads/cuda_check.h"

constexpr int kLanes = 4;
constexpr int kOtherNodes = 4;
constexpr int kThreads = 256;
constexpr size_t kLaneSize = 64 * kKiB;
constexpr int kLaneElements = static_cast<int>(kLaneSize / sizeof(float));

__global__ void Advance(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1.0f;
}

namespace {

void LaunchAdvance(float* data, int n, cudaStream_t stream) {
  Advance<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(data, n);
  CHECK(cudaGetLastError());
}

struct Lanes {
  cudaStream_t stream[kLanes] = {};  // 0: main
  cudaEvent_t event[kLanes] = {};    // 0: the fork, others: the end of their lane
  float* data = nullptr;             // one part for each lane

  float* Part(int lane) const { return data + lane * kLaneElements; }
};

cudaGraph_t Capture(const Lanes& lanes, long length, float* host) {
  const cudaStream_t main = lanes.stream[0];
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(lanes.data, 0, kLanes * kLaneSize, main));
  LaunchAdvance(lanes.data, kLanes * kLaneElements, main);
  CHECK(cudaEventRecord(lanes.event[0], main));
  for (int lane = 1; lane < kLanes; ++lane) {
    CHECK(cudaStreamWaitEvent(lanes.stream[lane], lanes.event[0], 0));
  }
  for (long i = 0; i < length; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      LaunchAdvance(lanes.Part(lane), kLaneElements, lanes.stream[lane]);
    }
  }
  for (int lane = 1; lane < kLanes; ++lane) {
    CHECK(cudaEventRecord(lanes.event[lane], lanes.stream[lane]));
    CHECK(cudaStreamWaitEvent(main, lanes.event[lane], 0));
  }
  LaunchAdvance(lanes.data, kLanes * kLaneElements, main);
  CHECK(cudaMemcpyAsync(host, lanes.data, kLaneSize, cudaMemcpyDeviceToHost, main));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(main, &graph));
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  const long nodes = Number(argc, argv, "--nodes", 10000);
  const long length = nodes < kOtherNodes + kLanes ? 1 : (nodes - kOtherNodes) / kLanes;

  Lanes lanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    CHECK(cudaStreamCreateWithFlags(&lanes.stream[lane], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&lanes.event[lane], cudaEventDisableTiming));
  }
  float* host = nullptr;
  CHECK(cudaMalloc(&lanes.data, kLanes * kLaneSize));
  CHECK(cudaMallocHost(&host, kLaneSize));

  cudaGraph_t graph = Capture(lanes, length, host);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, lanes.stream[0]));
  CHECK(cudaStreamSynchronize(lanes.stream[0]));
  CHECK(cudaGraphExecDestroy(exec));
  size_t captured = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &captured));
  CHECK(cudaGraphDestroy(graph));
  std::printf("big_capture: %zu nodes\n", captured);

  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(lanes.data));
  for (int lane = 0; lane < kLanes; ++lane) {
    CHECK(cudaEventDestroy(lanes.event[lane]));
    CHECK(cudaStreamDestroy(lanes.stream[lane]));
  }
  return captured == static_cast<size_t>(kLanes * length + kOtherNodes) ? 0 : 1;
}
