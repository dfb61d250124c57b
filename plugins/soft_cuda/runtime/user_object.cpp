// User objects and external semaphores.
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

// The runtime's handles of user objects and semaphores are the driver's.
CUuserObject Driver(cudaUserObject_t object) { return reinterpret_cast<CUuserObject>(object); }
CUexternalSemaphore Driver(cudaExternalSemaphore_t semaphore) {
  return reinterpret_cast<CUexternalSemaphore>(semaphore);
}
const CUexternalSemaphore* Driver(const cudaExternalSemaphore_t* semaphores) {
  return reinterpret_cast<const CUexternalSemaphore*>(semaphores);
}

}  // namespace

cudaError_t UserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                             unsigned int count, unsigned int flags) {
  return ToRuntime(
      cuUserObjectCreate(reinterpret_cast<CUuserObject*>(out), pointer, destroy, count, flags));
}
cudaError_t UserObjectRetain(cudaUserObject_t object, unsigned int count) {
  return ToRuntime(cuUserObjectRetain(Driver(object), count));
}
cudaError_t UserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return ToRuntime(cuUserObjectRelease(Driver(object), count));
}
cudaError_t GraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                  unsigned int flags) {
  return ToRuntime(cuGraphRetainUserObject(graph, Driver(object), count, flags));
}
cudaError_t GraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
  return ToRuntime(cuGraphReleaseUserObject(graph, Driver(object), count));
}

cudaError_t ImportExternalSemaphore(cudaExternalSemaphore_t* out,
                                    const cudaExternalSemaphoreHandleDesc* desc) {
  if (desc == nullptr) return cudaErrorInvalidValue;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC driver_desc{};
  driver_desc.type = static_cast<CUexternalSemaphoreHandleType>(desc->type);
  driver_desc.handle.fd = desc->handle.fd;
  driver_desc.flags = desc->flags;
  return ToRuntime(
      cuImportExternalSemaphore(reinterpret_cast<CUexternalSemaphore*>(out), &driver_desc));
}
cudaError_t DestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  return ToRuntime(cuDestroyExternalSemaphore(Driver(semaphore)));
}
cudaError_t SignalExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                          const cudaExternalSemaphoreSignalParams* values,
                                          unsigned int count, cudaStream_t stream) {
  static_assert(sizeof *values == sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS));
  return ToRuntime(cuSignalExternalSemaphoresAsync(
      Driver(semaphores), reinterpret_cast<const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS*>(values),
      count, stream));
}
cudaError_t WaitExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                        const cudaExternalSemaphoreWaitParams* values,
                                        unsigned int count, cudaStream_t stream) {
  static_assert(sizeof *values == sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS));
  return ToRuntime(cuWaitExternalSemaphoresAsync(
      Driver(semaphores), reinterpret_cast<const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS*>(values),
      count, stream));
}

}  // namespace graphkit::soft::runtime
