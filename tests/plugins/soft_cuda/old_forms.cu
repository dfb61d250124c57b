// CUDA 12's functions without edge data, and its layouts of structures.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t stream;

cudaGraphNode_t AddEmpty(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after) {
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

CASE(PlainEdges) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t a = AddEmpty(graph, {});
  const cudaGraphNode_t b = AddEmpty(graph, {});
  EXPECT_OK(cudaGraphAddDependencies(graph, &a, &b, 1));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &a, &b, 1));
  cudaGraphNode_t from = nullptr, to = nullptr;
  size_t count = 1;
  EXPECT_OK(cudaGraphGetEdges(graph, &from, &to, &count));
  EXPECT(count == 1 && from == a && to == b);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphNodeGetDependencies(b, &node, &count));
  EXPECT(count == 1 && node == a);
  EXPECT_OK(cudaGraphNodeGetDependentNodes(a, &node, &count));
  EXPECT(count == 1 && node == b);
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &a, &b, 1));
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 0);

  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeEmpty;
  EXPECT_OK(cudaGraphAddNode(&node, graph, &a, 1, &params));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, &a, 1, nullptr));
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 1);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// The forms without edge data refuse edges that have some.
CASE(EdgesWithData) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  float* data = nullptr;
  EXPECT_OK(cudaLaunchKernelEx(&config, Touch, data));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_OK(cudaLaunchKernelEx(&config, Touch, data));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t from = nullptr, to = nullptr;
  size_t count = 1;
  EXPECT_ERROR(cudaErrorLossyQuery, cudaGraphGetEdges(graph, &from, &to, &count));
  cudaGraphEdgeData edge = {};
  EXPECT_OK(cudaGraphGetEdges_v2(graph, &from, &to, &edge, &count));
  EXPECT(count == 1 && edge.type == cudaGraphDependencyTypeProgrammatic);
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(CaptureInfo) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr, ended = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  size_t count = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamGetCaptureInfo(stream, nullptr));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Touch<<<1, 32, 0, stream>>>(nullptr);
  EXPECT_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
  cudaGraphNode_t node = dependencies[0];
  EXPECT_OK(
      cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
  EXPECT_OK(
      cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamAddCaptureDependencies));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(stream, &node, 1, 7));
  const cudaGraphEdgeData* data = nullptr;
  EXPECT_OK(
      cudaStreamGetCaptureInfo_v3(stream, &status, &id, nullptr, &dependencies, &data, &count));
  EXPECT(count == 1 && dependencies[0] == node);
  EXPECT_OK(cudaStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  EXPECT_OK(cudaGraphDestroy(ended));
}

// Structures that CUDA 13 made longer or shorter: what lies behind them stays as it was.
CASE(Layouts) {
  struct {
    cudaDeviceProp prop;
    uint64_t behind = 42;
  } device;
  EXPECT_OK(cudaGetDeviceProperties(&device.prop, 0));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&device.prop, 9));
  EXPECT(device.prop.major == 9 && device.prop.minor == 0 && device.prop.clusterLaunch == 1);
  EXPECT(device.prop.maxThreadsPerBlock == 1024 && device.prop.clockRate > 0);
  EXPECT(device.behind == 42);
  // The form of CUDA 11, whose structure ends before hostRegisterSupported.
  const size_t size11 = offsetof(cudaDeviceProp, hostRegisterSupported);
  std::memset(&device.prop, 0x5a, sizeof device.prop);
  const auto old = reinterpret_cast<decltype(&cudaGetDeviceProperties_v2)>(
      dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  EXPECT(old != nullptr && old != &cudaGetDeviceProperties_v2);
  EXPECT_OK(old(&device.prop, 0));
  EXPECT(device.prop.major == 9 && device.prop.reservedSharedMemPerBlock == 1024);
  EXPECT(reinterpret_cast<const unsigned char*>(&device.prop)[size11] == 0x5a);
  EXPECT_ERROR(cudaErrorInvalidDevice, old(&device.prop, 9));
  EXPECT_ERROR(cudaErrorInvalidValue, old(nullptr, 0));
  struct {
    cudaPointerAttributes attributes;
    uint64_t behind = 42;
  } pointer;
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 256));
  EXPECT_OK(cudaPointerGetAttributes(&pointer.attributes, memory));
  EXPECT(pointer.attributes.type == cudaMemoryTypeDevice);
  EXPECT(pointer.attributes.devicePointer == memory && pointer.behind == 42);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, memory));
  EXPECT_OK(cudaFree(memory));
}

CASE(Locations) {
  void* memory = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, 4096));
  EXPECT_OK(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemAdvise(nullptr, 4096, cudaMemAdviseSetPreferredLocation, 0));
  int location = 0;
  EXPECT_OK(cudaMemRangeGetAttribute(&location, sizeof location,
                                     cudaMemRangeAttributePreferredLocation, memory, 4096));
  EXPECT(location == cudaCpuDeviceId);
  EXPECT_OK(cudaMemPrefetchAsync(memory, 4096, 0, stream));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(nullptr, 4096, 0, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaFree(memory));
}

CASE(Times) {
  cudaEvent_t start = nullptr, end = nullptr;
  EXPECT_OK(cudaEventCreate(&start));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventRecord(start, stream));
  Touch<<<1, 32, 0, stream>>>(nullptr);
  EXPECT_OK(cudaEventRecord(end, stream));
  EXPECT_OK(cudaEventSynchronize(end));
  float ms = 0;
  EXPECT_OK(cudaEventElapsedTime(&ms, start, end));
  EXPECT(ms > 0);
  EXPECT_FAILS(cudaEventElapsedTime(&ms, nullptr, end));
  EXPECT_OK(cudaEventDestroy(start));
  EXPECT_OK(cudaEventDestroy(end));
}

}  // namespace

int main() {
  int version = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&version));
  EXPECT(version >= 12000 && version < 13000);
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  conformance::RunCases();
  EXPECT_OK(cudaStreamDestroy(stream));
  return conformance::Finish("old_forms");
}
