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

cudaError_t DeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return ToRuntime(
      cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), from, to));
}

cudaError_t DeviceGetP2PAtomicCapabilities(unsigned int* capabilities,
                                           const cudaAtomicOperation* operations,
                                           unsigned int count, int from, int to) {
  return ToRuntime(cuDeviceGetP2PAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, from, to));
}

cudaError_t DeviceGetHostAtomicCapabilities(unsigned int* capabilities,
                                            const cudaAtomicOperation* operations,
                                            unsigned int count, int device) {
  return ToRuntime(cuDeviceGetHostAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, device));
}

cudaError_t DeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                           cudaFlushGPUDirectRDMAWritesScope scope) {
  return ToRuntime(cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                              static_cast<CUflushGPUDirectRDMAWritesScope>(scope)));
}

}  // namespace graphkit::soft::runtime
