// Managed ranges, and copies that name devices or come in batches.
#include "plugins/soft_cuda/device/shared.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

// The primary contexts of the devices that a copy names.
struct PeerContexts {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  CUresult error;

  PeerContexts(int to_device, int from_device) : error(Find(to_device, &to)) {
    if (error == CUDA_SUCCESS) error = Find(from_device, &from);
  }

 private:
  static CUresult Find(int device, CUcontext* out) {
    *out = graphkit_soft_shared()->primary(device);
    return *out != nullptr ? CUDA_SUCCESS : cuDevicePrimaryCtxRetain(out, device);
  }
};

cudaError_t PeerToDriver(const cudaMemcpy3DPeerParms* p, CUDA_MEMCPY3D_PEER* out) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const PeerContexts peers(p->dstDevice, p->srcDevice);
  if (peers.error != CUDA_SUCCESS) return ToRuntime(peers.error);
  if (cudaError_t error = ToDriver(*p, out); error != cudaSuccess) return error;
  out->srcContext = peers.from;
  out->dstContext = peers.to;
  return cudaSuccess;
}

// Fills a volume: one fill where its slices lie without gaps, else one a slice.
template <typename Fill>
cudaError_t FillVolume(const cudaPitchedPtr& to, const cudaExtent& extent, Fill&& fill) {
  if (extent.width > to.pitch) return cudaErrorInvalidValue;
  if (extent.height == to.ysize || extent.depth <= 1)
    return ToRuntime(fill(Address(to.ptr), extent.height * extent.depth));
  for (size_t z = 0; z < extent.depth; ++z) {
    const CUresult error = fill(Address(to.ptr) + z * to.pitch * to.ysize, extent.height);
    if (error != CUDA_SUCCESS) return ToRuntime(error);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t MemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  const PeerContexts peers(to_device, from_device);
  if (peers.error != CUDA_SUCCESS) return ToRuntime(peers.error);
  return ToRuntime(cuMemcpyPeer(Address(to), peers.to, Address(from), peers.from, bytes));
}
cudaError_t MemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                            size_t bytes, cudaStream_t stream) {
  const PeerContexts peers(to_device, from_device);
  if (peers.error != CUDA_SUCCESS) return ToRuntime(peers.error);
  return ToRuntime(
      cuMemcpyPeerAsync(Address(to), peers.to, Address(from), peers.from, bytes, stream));
}
cudaError_t Memcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  CUDA_MEMCPY3D_PEER copy;
  const cudaError_t error = PeerToDriver(p, &copy);
  return error == cudaSuccess ? ToRuntime(cuMemcpy3DPeer(&copy)) : error;
}
cudaError_t Memcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  CUDA_MEMCPY3D_PEER copy;
  const cudaError_t error = PeerToDriver(p, &copy);
  return error == cudaSuccess ? ToRuntime(cuMemcpy3DPeerAsync(&copy, stream)) : error;
}

cudaError_t Memset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return FillVolume(to, extent, [&](CUdeviceptr at, size_t rows) {
    return cuMemsetD2D8(at, to.pitch, static_cast<unsigned char>(value), extent.width, rows);
  });
}
cudaError_t Memset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return FillVolume(to, extent, [&](CUdeviceptr at, size_t rows) {
    return cuMemsetD2D8Async(at, to.pitch, static_cast<unsigned char>(value), extent.width, rows,
                             stream);
  });
}

}  // namespace graphkit::soft::runtime
