// Streams and events, each a driver call.
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t StreamCreate(cudaStream_t* out) {
  return ToRuntime(cuStreamCreate(out, CU_STREAM_DEFAULT));
}
cudaError_t StreamCreateWithFlags(cudaStream_t* out, unsigned int flags) {
  return ToRuntime(cuStreamCreate(out, flags));
}
cudaError_t StreamCreateWithPriority(cudaStream_t* out, unsigned int flags, int priority) {
  return ToRuntime(cuStreamCreateWithPriority(out, flags, priority));
}
cudaError_t StreamDestroy(cudaStream_t stream) { return ToRuntime(cuStreamDestroy(stream)); }
cudaError_t StreamSynchronize(cudaStream_t stream) {
  return ToRuntime(cuStreamSynchronize(stream));
}
cudaError_t StreamQuery(cudaStream_t stream) { return ToRuntime(cuStreamQuery(stream)); }
cudaError_t StreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return ToRuntime(cuStreamWaitEvent(stream, event, flags));
}
cudaError_t StreamGetPriority(cudaStream_t stream, int* priority) {
  return ToRuntime(cuStreamGetPriority(stream, priority));
}
cudaError_t StreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return ToRuntime(cuStreamGetFlags(stream, flags));
}
cudaError_t StreamGetId(cudaStream_t stream, unsigned long long* id) {
  return ToRuntime(cuStreamGetId(stream, id));
}
cudaError_t StreamGetDevice(cudaStream_t stream, int* device) {
  return ToRuntime(cuStreamGetDevice(stream, device));
}
cudaError_t StreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return ToRuntime(cuStreamCopyAttributes(to, from));
}
cudaError_t StreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr,
                               cudaLaunchAttributeValue* value) {
  return ToRuntime(cuStreamGetAttribute(stream, static_cast<CUstreamAttrID>(attr),
                                        reinterpret_cast<CUstreamAttrValue*>(value)));
}
cudaError_t StreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr,
                               const cudaLaunchAttributeValue* value) {
  return ToRuntime(cuStreamSetAttribute(stream, static_cast<CUstreamAttrID>(attr),
                                        reinterpret_cast<const CUstreamAttrValue*>(value)));
}
cudaError_t StreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                              unsigned int flags) {
  return ToRuntime(
      cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags));
}
cudaError_t LaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return ToRuntime(cuLaunchHostFunc(stream, function, data));
}

cudaError_t EventCreate(cudaEvent_t* out) {
  return ToRuntime(cuEventCreate(out, CU_EVENT_DEFAULT));
}
cudaError_t EventCreateWithFlags(cudaEvent_t* out, unsigned int flags) {
  return ToRuntime(cuEventCreate(out, flags));
}
cudaError_t EventDestroy(cudaEvent_t event) { return ToRuntime(cuEventDestroy(event)); }
cudaError_t EventRecord(cudaEvent_t event, cudaStream_t stream) {
  return ToRuntime(cuEventRecord(event, stream));
}
cudaError_t EventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return ToRuntime(cuEventRecordWithFlags(event, stream, flags));
}
cudaError_t EventQuery(cudaEvent_t event) { return ToRuntime(cuEventQuery(event)); }
cudaError_t EventSynchronize(cudaEvent_t event) { return ToRuntime(cuEventSynchronize(event)); }
cudaError_t EventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return ToRuntime(cuEventElapsedTime(ms, start, end));
}

}  // namespace graphkit::soft::runtime
