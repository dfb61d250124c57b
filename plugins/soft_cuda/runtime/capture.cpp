// Stream capture, each a driver call.
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUstreamCaptureMode Mode(cudaStreamCaptureMode mode) {
  return static_cast<CUstreamCaptureMode>(mode);
}
CUstreamCaptureStatus* Status(cudaStreamCaptureStatus* status) {
  return reinterpret_cast<CUstreamCaptureStatus*>(status);
}
const CUgraphEdgeData* Data(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}

}  // namespace

cudaError_t StreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return ToRuntime(cuStreamBeginCapture(stream, Mode(mode)));
}
cudaError_t StreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies,
                                      const cudaGraphEdgeData* data, size_t count,
                                      cudaStreamCaptureMode mode) {
  return ToRuntime(
      cuStreamBeginCaptureToGraph(stream, graph, dependencies, Data(data), count, Mode(mode)));
}
cudaError_t StreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return ToRuntime(cuStreamEndCapture(stream, graph));
}
cudaError_t StreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return ToRuntime(cuStreamIsCapturing(stream, Status(status)));
}
cudaError_t StreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                 unsigned long long* id, cudaGraph_t* graph,
                                 const cudaGraphNode_t** dependencies,
                                 const cudaGraphEdgeData** data, size_t* count) {
  cuuint64_t driver_id = 0;
  const CUresult result =
      cuStreamGetCaptureInfo_v3(stream, Status(status), &driver_id, graph, dependencies,
                                reinterpret_cast<const CUgraphEdgeData**>(data), count);
  if (result == CUDA_SUCCESS && id != nullptr && *status == cudaStreamCaptureStatusActive)
    *id = driver_id;
  return ToRuntime(result);
}
cudaError_t StreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                            const cudaGraphEdgeData* data, size_t count,
                                            unsigned int flags) {
  return ToRuntime(
      cuStreamUpdateCaptureDependencies_v2(stream, dependencies, Data(data), count, flags));
}
cudaError_t ThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return ToRuntime(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // namespace graphkit::soft::runtime
