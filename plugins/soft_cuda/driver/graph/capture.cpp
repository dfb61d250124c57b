// Stream capture.
#include "plugins/soft_cuda/model/capture.h"

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph/graph_edges.h"

namespace graphkit::soft::driver {
namespace {

bool IsMode(CUstreamCaptureMode mode) {
  return mode >= 0 && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

// The stream of a question, which needs no current context where the handle names a stream itself.
CUresult FindToAsk(CUstream handle, Stream** stream) {
  const bool special =
      handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  if (special && CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = special ? FindStream(handle) : Resolve<Stream>(handle);
  return *stream != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult Begin(CUstream handle, Graph* into, std::span<const Edge> dependencies,
               CUstreamCaptureMode mode) {
  if (!IsMode(mode)) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return Device::Get().captures.Begin(stream, into, dependencies, mode, CurrentThread());
}

}  // namespace

CUresult StreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  const Lock lock = LockDevice();
  return Begin(stream, nullptr, {}, mode);
}

CUresult StreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                   const CUgraphEdgeData* data, size_t count,
                                   CUstreamCaptureMode mode) {
  const Lock lock = LockDevice();
  auto* into = Resolve<Graph>(graph);
  if (into == nullptr || into->kind == GraphKind::kExec || into->capturing)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<Edge> edges;
  if (!ReadDependencies(into, dependencies, data, count, &edges)) return CUDA_ERROR_INVALID_VALUE;
  return Begin(stream, into, edges, mode);
}

CUresult StreamEndCapture(CUstream handle, CUgraph* out) {
  const Lock lock = LockDevice();
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  // Who captures into a graph has it already: NVIDIA's graphConditionalNodes sample passes null.
  const bool own_graph = stream->capture == nullptr || stream->capture->own_graph;
  if (out == nullptr && own_graph) return CUDA_ERROR_INVALID_VALUE;
  Graph* graph = nullptr;
  const CUresult result = Device::Get().captures.End(stream, CurrentThread(), &graph);
  if (out != nullptr) *out = graph != nullptr ? graph->handle() : nullptr;
  return result;
}

CUresult StreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = FindToAsk(handle, &stream); error != CUDA_SUCCESS) return error;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream->kind == StreamKind::kLegacy)
    return Device::Get().captures.CheckLegacyQuestion(stream->context);
  if (stream->capture != nullptr) {
    *status = stream->capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                     : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  }
  return CUDA_SUCCESS;
}

CUresult StreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                 CUgraph* graph, const CUgraphNode** dependencies,
                                 const CUgraphEdgeData** data, size_t* count) {
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CUresult error = StreamIsCapturing(handle, status); error != CUDA_SUCCESS) return error;
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  Stream* stream = nullptr;
  if (CUresult error = FindToAsk(handle, &stream); error != CUDA_SUCCESS) return error;
  if (dependencies != nullptr && data == nullptr && !AllFull(stream->dependencies.edges()))
    return CUDA_ERROR_LOSSY_QUERY;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph->handle();
  ShowDependencies(stream, dependencies, data, count);
  return CUDA_SUCCESS;
}

CUresult StreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                 CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  return StreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}

CUresult StreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                            const CUgraphEdgeData* data, size_t count,
                                            unsigned int flags) {
  const Lock lock = LockDevice();
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture == nullptr || stream->capture->graph == nullptr)
    return CUDA_ERROR_ILLEGAL_STATE;
  std::vector<Edge> edges;
  if (!ReadDependencies(stream->capture->graph, dependencies, data, count, &edges))
    return CUDA_ERROR_INVALID_VALUE;
  return Device::Get().captures.Update(stream, edges, flags);
}

CUresult StreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t count,
                                         unsigned int flags) {
  return StreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}

CUresult ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // A value that is no mode is kept as given, by others' measurement.
  std::swap(CurrentThread().capture_mode, *mode);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
