// Streams, events and captures, where the driver has no function that takes the same.
#include "plugins/soft_cuda/runtime/forward.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t StreamCreate(cudaStream_t* out) {
  return ToRuntime(cuStreamCreate(out, CU_STREAM_DEFAULT));
}

cudaError_t EventCreate(cudaEvent_t* out) {
  return ToRuntime(cuEventCreate(out, CU_EVENT_DEFAULT));
}

cudaError_t StreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                 unsigned long long* id, cudaGraph_t* graph,
                                 const cudaGraphNode_t** dependencies,
                                 const cudaGraphEdgeData** data, size_t* count) {
  cuuint64_t driver_id = 0;
  const CUresult result = cuStreamGetCaptureInfo_v3(stream, As(status), &driver_id, graph,
                                                    dependencies, As(data), count);
  if (result == CUDA_SUCCESS && id != nullptr && *status == cudaStreamCaptureStatusActive)
    *id = driver_id;
  return ToRuntime(result);
}

}  // namespace graphkit::soft::runtime
