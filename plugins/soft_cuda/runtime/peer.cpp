// What devices may do with each other's memory, and with the host's.
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

// The primary context of another device, kept alive; null: there is none.
CUcontext PeerContext(int device) {
  CUcontext context = nullptr;
  if (device == CurrentDevice()) return nullptr;
  return cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS ? context : nullptr;
}

}  // namespace

cudaError_t DeviceEnablePeerAccess(int peer, unsigned int flags) {
  CUcontext context = PeerContext(peer);
  return context != nullptr ? ToRuntime(cuCtxEnablePeerAccess(context, flags))
                            : cudaErrorInvalidDevice;
}

cudaError_t DeviceDisablePeerAccess(int peer) {
  CUcontext context = PeerContext(peer);
  return context != nullptr ? ToRuntime(cuCtxDisablePeerAccess(context)) : cudaErrorInvalidDevice;
}

}  // namespace graphkit::soft::runtime
