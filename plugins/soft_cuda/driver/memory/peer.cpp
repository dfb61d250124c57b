// Access of devices to each other's memory, which all of the modelled machine's have.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {
namespace {

bool AreDevices(CUdevice a, CUdevice b) { return Device::Get().IsGpu(a) && Device::Get().IsGpu(b); }

}  // namespace

CUresult DeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!AreDevices(dev, peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = dev != peer;
  return CUDA_SUCCESS;
}

CUresult DeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                               CUdevice to) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!AreDevices(from, to) || from == to) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// None is promised beside those of the attribute.
CUresult DeviceGetP2PAtomicCapabilities(unsigned int* capabilities,
                                        const CUatomicOperation* operations, unsigned int count,
                                        CUdevice from, CUdevice to) {
  if (capabilities == nullptr || operations == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!AreDevices(from, to) || from == to) return CUDA_ERROR_INVALID_DEVICE;
  std::fill_n(capabilities, count, 0u);
  return CUDA_SUCCESS;
}

CUresult CtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  const Lock lock = LockDevice();
  Context* context = CurrentContext();
  auto* peer = Resolve<Context>(handle);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (context == nullptr || peer == nullptr || peer == context) return CUDA_ERROR_INVALID_CONTEXT;
  if (peer->gpu == context->gpu) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (std::ranges::find(context->peers, peer) != context->peers.end())
    return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  context->peers.push_back(peer);
  return CUDA_SUCCESS;
}

CUresult CtxDisablePeerAccess(CUcontext handle) {
  const Lock lock = LockDevice();
  Context* context = CurrentContext();
  auto* peer = Resolve<Context>(handle);
  if (context == nullptr || peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return std::erase(context->peers, peer) != 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace graphkit::soft::driver
