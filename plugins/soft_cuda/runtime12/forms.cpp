// Older forms of functions, without edge data or with a device's number for a memory location.
// Edges with data make the queries fail, as the driver's older forms do.
#include <cuda.h>

#include "plugins/soft_cuda/runtime/start.h"
#include "runtime12_impl.h"
#include "runtime_impl.h"

// The driver's older forms: cuda.h has the names for their successors.
extern "C" {
CUresult OldGetEdges(CUgraph, CUgraphNode*, CUgraphNode*, size_t*) __asm__("cuGraphGetEdges");
CUresult OldGetDependencies(CUgraphNode, CUgraphNode*,
                            size_t*) __asm__("cuGraphNodeGetDependencies");
CUresult OldGetDependents(CUgraphNode, CUgraphNode*,
                          size_t*) __asm__("cuGraphNodeGetDependentNodes");
CUresult OldAddEdges(CUgraph, const CUgraphNode*, const CUgraphNode*,
                     size_t) __asm__("cuGraphAddDependencies");
CUresult OldRemoveEdges(CUgraph, const CUgraphNode*, const CUgraphNode*,
                        size_t) __asm__("cuGraphRemoveDependencies");
CUresult OldCaptureInfo(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                        const CUgraphNode**, size_t*) __asm__("cuStreamGetCaptureInfo_v2");
CUresult OldUpdate(CUstream, CUgraphNode*, size_t,
                   unsigned) __asm__("cuStreamUpdateCaptureDependencies");
}

namespace graphkit::soft::runtime12 {
namespace {

using runtime::ToRuntime;

// The location for a device number; a negative one is the host.
cudaMemLocation LocationOf(int device) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

}  // namespace

cudaError_t GraphGetEdges_v10000(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                 size_t* count) {
  return ToRuntime(OldGetEdges(graph, from, to, count));
}
cudaError_t GraphNodeGetDependencies_v10000(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                            size_t* count) {
  return ToRuntime(OldGetDependencies(node, nodes, count));
}
cudaError_t GraphNodeGetDependentNodes_v10000(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                              size_t* count) {
  return ToRuntime(OldGetDependents(node, nodes, count));
}
cudaError_t GraphAddDependencies_v10000(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  return ToRuntime(OldAddEdges(graph, from, to, count));
}
cudaError_t GraphRemoveDependencies_v10000(cudaGraph_t graph, const cudaGraphNode_t* from,
                                           const cudaGraphNode_t* to, size_t count) {
  return ToRuntime(OldRemoveEdges(graph, from, to, count));
}
cudaError_t GraphAddNode_v12020(cudaGraphNode_t* out, cudaGraph_t graph,
                                const cudaGraphNode_t* dependencies, size_t count,
                                cudaGraphNodeParams* params) {
  return runtime::GraphAddNode(out, graph, dependencies, nullptr, count, params);
}

cudaError_t StreamGetCaptureInfo_v2_v11030(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                           unsigned long long* id, cudaGraph_t* graph,
                                           const cudaGraphNode_t** dependencies, size_t* count) {
  cuuint64_t driver_id = 0;
  const CUresult result = OldCaptureInfo(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                                         &driver_id, graph, dependencies, count);
  if (result == CUDA_SUCCESS && id != nullptr && *status == cudaStreamCaptureStatusActive)
    *id = driver_id;
  return ToRuntime(result);
}
cudaError_t StreamGetCaptureInfo_v10010(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id) {
  return StreamGetCaptureInfo_v2_v11030(stream, status, id, nullptr, nullptr, nullptr);
}
cudaError_t StreamUpdateCaptureDependencies_v11030(cudaStream_t stream,
                                                   cudaGraphNode_t* dependencies, size_t count,
                                                   unsigned int flags) {
  return ToRuntime(OldUpdate(stream, dependencies, count, flags));
}

cudaError_t EventElapsedTime_v3020(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return runtime::EventElapsedTime(ms, start, end);
}

cudaError_t MemAdvise_v8000(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                            int device) {
  return runtime::MemAdvise(pointer, bytes, advice, LocationOf(device));
}
cudaError_t MemPrefetchAsync_v8000(const void* pointer, size_t bytes, int device,
                                   cudaStream_t stream) {
  return runtime::MemPrefetchAsync(pointer, bytes, LocationOf(device), 0, stream);
}

// The failing copy isn't reported, as the header allows: SIZE_MAX.
cudaError_t MemcpyBatchAsync_v12080(void** to, void** from, size_t* sizes, size_t count,
                                    cudaMemcpyAttributes* attributes, size_t* first,
                                    size_t attribute_count, size_t* failed, cudaStream_t stream) {
  const cudaError_t error =
      runtime::MemcpyBatchAsync(to, from, sizes, count, attributes, first, attribute_count, stream);
  if (error != cudaSuccess && failed != nullptr) *failed = SIZE_MAX;
  return error;
}

}  // namespace graphkit::soft::runtime12
