// Copies, synchronous and in stream order.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/node_params.h"
#include "plugins/soft_cuda/driver/submit.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {
namespace {

CUdeviceptr Host(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST;
constexpr CUmemorytype kDevice = CU_MEMORYTYPE_DEVICE;

// Fills in the rows that a caller may leave at 0.
CUDA_MEMCPY3D Complete(CUDA_MEMCPY3D c) {
  if (c.srcPitch == 0) c.srcPitch = c.WidthInBytes + c.srcXInBytes;
  if (c.dstPitch == 0) c.dstPitch = c.WidthInBytes + c.dstXInBytes;
  if (c.srcHeight == 0) c.srcHeight = c.Height;
  if (c.dstHeight == 0) c.dstHeight = c.Height;
  return c;
}

// Neither the device's nor page-locked: the host may change or free it when the call returns.
bool IsPageable(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_ARRAY) return false;
  const uint64_t address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
  return Device::Get().FindAllocation(address) == Device::Get().allocations.end();
}

CUresult Enqueue(const CUDA_MEMCPY3D& copy, CUstream handle) {
  if (CopyBytes(copy) == 0) return CUDA_SUCCESS;
  Lock lock = LockDevice();
  if (!CanCopy(copy)) return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  auto params = std::make_unique<MemcpyParams>(
      MemcpyParams{Complete(copy), context != nullptr ? context->handle() : nullptr});
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  const CUresult result = Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(params));
  const bool waits = result == CUDA_SUCCESS && stream->capture == nullptr &&
                     (IsPageable(copy.srcMemoryType, copy.srcHost, copy.srcDevice) ||
                      IsPageable(copy.dstMemoryType, copy.dstHost, copy.dstDevice));
  return waits ? WaitFor(lock, End(stream)) : result;
}

// On the legacy stream; the host waits for it.
CUresult AtOnce(const CUDA_MEMCPY3D& copy) {
  const CUresult result = Enqueue(copy, CU_STREAM_LEGACY);
  Lock lock = LockDevice();
  if (result != CUDA_SUCCESS || CurrentContext() == nullptr) return result;
  Stream* legacy = CurrentContext()->legacy;
  HostWaits(legacy->time_ns);
  return WaitFor(lock, End(legacy));
}

}  // namespace

CUresult Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return AtOnce(PlainCopy(to, from, bytes));
}
CUresult MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Enqueue(PlainCopy(to, from, bytes), stream);
}
CUresult MemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return AtOnce(PlainCopy(to, Host(from), bytes, kDevice, kHost));
}
CUresult MemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return AtOnce(PlainCopy(Host(to), from, bytes, kHost, kDevice));
}
CUresult MemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return AtOnce(PlainCopy(to, from, bytes, kDevice, kDevice));
}
CUresult MemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return Enqueue(PlainCopy(to, Host(from), bytes, kDevice, kHost), stream);
}
CUresult MemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Enqueue(PlainCopy(Host(to), from, bytes, kHost, kDevice), stream);
}
CUresult MemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return Enqueue(PlainCopy(to, from, bytes, kDevice, kDevice), stream);
}

CUresult Memcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy != nullptr ? AtOnce(FlatToVolume(*copy)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return Memcpy2D_v2(copy); }
CUresult Memcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy != nullptr ? Enqueue(FlatToVolume(*copy), stream) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy != nullptr ? AtOnce(*copy) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy != nullptr ? Enqueue(*copy, stream) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace graphkit::soft::driver
