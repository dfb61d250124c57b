// Managed ranges, and copies that name devices or come in batches.
#include "plugins/soft_cuda/device/shared.h"
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUdeviceptr* Addresses(void** pointers) { return reinterpret_cast<CUdeviceptr*>(pointers); }
CUmemLocation* DriverLocation(cudaMemLocation* locations) {
  return reinterpret_cast<CUmemLocation*>(locations);
}
CUmemLocation DriverLocation(cudaMemLocation location) { return *DriverLocation(&location); }

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

cudaError_t MemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                             unsigned int flags, cudaStream_t stream) {
  return ToRuntime(
      cuMemPrefetchAsync(Address(pointer), bytes, DriverLocation(location), flags, stream));
}
cudaError_t MemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                      cudaMemLocation location) {
  return ToRuntime(cuMemAdvise(Address(pointer), bytes, static_cast<CUmem_advise>(advice),
                               DriverLocation(location)));
}
cudaError_t MemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                 const void* pointer, size_t bytes) {
  return ToRuntime(cuMemRangeGetAttribute(
      data, data_bytes, static_cast<CUmem_range_attribute>(attribute), Address(pointer), bytes));
}
cudaError_t MemRangeGetAttributes(void** data, size_t* data_bytes,
                                  cudaMemRangeAttribute* attributes, size_t count,
                                  const void* pointer, size_t bytes) {
  return ToRuntime(cuMemRangeGetAttributes(data, data_bytes,
                                           reinterpret_cast<CUmem_range_attribute*>(attributes),
                                           count, Address(pointer), bytes));
}
cudaError_t MemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                  cudaMemLocation* locations, size_t* index, size_t locations_count,
                                  unsigned long long flags, cudaStream_t stream) {
  return ToRuntime(cuMemPrefetchBatchAsync(Addresses(pointers), sizes, count,
                                           DriverLocation(locations), index, locations_count, flags,
                                           stream));
}
cudaError_t MemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                 unsigned long long flags, cudaStream_t stream) {
  return ToRuntime(cuMemDiscardBatchAsync(Addresses(pointers), sizes, count, flags, stream));
}
cudaError_t MemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                            cudaMemLocation* locations, size_t* index,
                                            size_t locations_count, unsigned long long flags,
                                            cudaStream_t stream) {
  return ToRuntime(cuMemDiscardAndPrefetchBatchAsync(Addresses(pointers), sizes, count,
                                                     DriverLocation(locations), index,
                                                     locations_count, flags, stream));
}
cudaError_t StreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                 unsigned int flags) {
  return ToRuntime(cuStreamAttachMemAsync(stream, Address(pointer), bytes, flags));
}

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

cudaError_t MemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                             size_t count, cudaMemcpyAttributes* attributes, size_t* index,
                             size_t attributes_count, cudaStream_t stream) {
  static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
  return ToRuntime(cuMemcpyBatchAsync(
      reinterpret_cast<CUdeviceptr*>(const_cast<void**>(to)),
      reinterpret_cast<CUdeviceptr*>(const_cast<void**>(from)), const_cast<size_t*>(sizes), count,
      reinterpret_cast<CUmemcpyAttributes*>(attributes), index, attributes_count, stream));
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
