// Faults of captures, launches and pools, each with its twin.
//
//   broken     a graph is launched into a capture, which breaks it (900); the calls that follow
//              fail with 901, and so does the end.            fixed: launched before the capture
//   workspace  two graphs write one scratch buffer, launched on two streams without order.
//                                                             fixed: ordered by an event
//   template   a graph is embedded in another one, and given another factor then: the copy that
//              launches run has the old one.                  fixed: set in the exec
//   order      of three graphs of one pool the first leaves x to the second, and the third, which
//              was captured when x was free, writes there; launched before the second.
//                                                             fixed: after it
//   pools      two graphs have 4 MiB each in a pool of their own, at once.
//                                                             fixed: each gives it back
//
//     planted_faults CASE [fixed]
#include "testdata/workloads/caching_allocator.h"
#include "testdata/workloads/cuda_check.h"

constexpr size_t kBytes = 64 * kKiB, kLarge = 4 * kMiB;

__global__ void Scale(float* data, float factor) { data[threadIdx.x] *= factor; }
__global__ void Add(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }

namespace {

cudaStream_t stream = nullptr, other = nullptr;
float *x = nullptr, *y = nullptr;
bool fixed = false;

void Begin(cudaStream_t on = stream) {
  CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal));
}

cudaGraph_t End(cudaStream_t on = stream) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(on, &graph));
  return graph;
}

cudaGraphExec_t Instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

cudaGraphExec_t CaptureClear(cudaStream_t on) {
  Begin(on);
  CHECK(cudaMemsetAsync(x, 0, kBytes, on));
  return Instantiate(End(on));
}

void Broken() {
  cudaGraphExec_t exec = CaptureClear(stream);
  if (fixed) CHECK(cudaGraphLaunch(exec, stream));
  Begin();
  Scale<<<1, 32, 0, stream>>>(y, 2.0F);
  if (fixed) {
    CHECK(cudaGraphDestroy(End()));
  } else {
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, stream));
    Scale<<<1, 32, 0, stream>>>(y, 3.0F);
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaGetLastError());
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaFreeAsync(y, stream));
    cudaGraph_t graph = nullptr;
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  }
  CHECK(cudaGraphExecDestroy(exec));
}

void Workspace() {
  cudaGraphExec_t first = CaptureClear(stream), second = CaptureClear(other);
  cudaEvent_t event = nullptr;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaGraphLaunch(first, stream));
  CHECK(cudaEventRecord(event, stream));
  if (fixed) CHECK(cudaStreamWaitEvent(other, event, 0));
  CHECK(cudaGraphLaunch(second, other));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(event));
  for (cudaGraphExec_t exec : {first, second}) CHECK(cudaGraphExecDestroy(exec));
}

cudaGraphNode_t OnlyNode(cudaGraph_t graph) {
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  CHECK(cudaGraphGetNodes(graph, &node, &count));
  return node;
}

void Template() {
  Begin();
  Scale<<<1, 32, 0, stream>>>(x, 2.0F);
  cudaGraph_t inner = End(), outer = nullptr, embedded = nullptr;
  cudaGraphNode_t child = nullptr;
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &embedded));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, outer, 0));
  float factor = 3.0F;
  void* arguments[] = {&x, &factor};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(Scale);
  params.gridDim = dim3(1);
  params.blockDim = dim3(32);
  params.kernelParams = arguments;
  if (fixed) {
    CHECK(cudaGraphExecKernelNodeSetParams(exec, OnlyNode(embedded), &params));
  } else {
    CHECK(cudaGraphKernelNodeSetParams(OnlyNode(inner), &params));
  }
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(outer));
  CHECK(cudaGraphDestroy(inner));
}

void Order() {
  CachingAllocator allocator;
  cudaGraphExec_t execs[3];
  float* left = nullptr;
  for (int i = 0; i < 3; ++i) {
    Begin();
    allocator.BeginCapture("pool");
    float* data = i == 1 ? left : allocator.Malloc(kBytes, stream);
    if (i == 1) Add<<<1, 32, 0, stream>>>(data, y);
    if (i != 1) CHECK(cudaMemsetAsync(data, i, kBytes, stream));
    if (i == 2) allocator.Free(data);
    if (i == 0) left = data;
    execs[i] = Instantiate(End());
    allocator.EndCapture();
    if (i == 1) allocator.Free(left);
  }
  for (const int i : {0, fixed ? 1 : 2, fixed ? 2 : 1}) CHECK(cudaGraphLaunch(execs[i], stream));
  CHECK(cudaStreamSynchronize(stream));
  for (cudaGraphExec_t exec : execs) CHECK(cudaGraphExecDestroy(exec));
  allocator.ReleaseSegments();
}

void Pools() {
  CachingAllocator allocators[2];
  cudaGraphExec_t execs[2] = {};
  const auto end = [&](int i) {
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(execs[i]));
    allocators[i].ReleaseSegments();
  };
  for (int i = 0; i < 2; ++i) {
    Begin();
    allocators[i].BeginCapture("pool" + std::to_string(i));
    float* data = allocators[i].Malloc(kLarge, stream);
    CHECK(cudaMemsetAsync(data, 0, kLarge, stream));
    Add<<<1, 32, 0, stream>>>(data, y);
    allocators[i].Free(data);
    execs[i] = Instantiate(End());
    allocators[i].EndCapture();
    CHECK(cudaGraphLaunch(execs[i], stream));
    if (fixed) end(i);
  }
  for (int i = 0; i < 2 && !fixed; ++i) end(i);
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {{"broken", Broken},
                           {"workspace", Workspace},
                           {"template", Template},
                           {"order", Order},
                           {"pools", Pools}};

}  // namespace

int main(int argc, char** argv) {
  fixed = Flag(argc, argv, "fixed");
  for (cudaStream_t* made : {&stream, &other})
    CHECK(cudaStreamCreateWithFlags(made, cudaStreamNonBlocking));
  for (float** memory : {&x, &y}) CHECK(cudaMalloc(memory, kBytes));
  for (const Case& of : kCases) {
    if (Flag(argc, argv, of.name)) of.run();
  }
  for (float* memory : {x, y}) CHECK(cudaFree(memory));
  for (cudaStream_t made : {stream, other}) CHECK(cudaStreamDestroy(made));
  std::printf("planted_faults: done\n");
  return 0;
}
