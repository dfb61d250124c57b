// Copies, synchronous and in stream order.
#include "plugins/soft_cuda/driver/stream/copy.h"

#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/copy_rules.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/copy_operand.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {
namespace {

CUdeviceptr Host(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST;
constexpr CUmemorytype kDevice = CU_MEMORYTYPE_DEVICE;

// Neither the device's nor page-locked: the host may change or free it when the call returns.
bool IsPageable(CUmemorytype type, const void* host, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_ARRAY) return false;
  const uint64_t address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
  return Device::Get().FindAllocation(address) == Device::Get().allocations.end();
}

// One device: its contexts share one address space.
// Null: the current one.
bool AreContexts(CUcontext a, CUcontext b) {
  const auto is_context = [](CUcontext handle) {
    return handle == nullptr ? CurrentContext() != nullptr : Resolve<Context>(handle) != nullptr;
  };
  return is_context(a) && is_context(b);
}

// Within one context the call isn't captured but unsafe, by others' measurement in global mode.
CUresult CheckPeerInCapture(CUstream handle) {
  const Lock lock = LockDevice();
  const Stream* stream = FindStream(handle);
  return stream != nullptr && stream->capture != nullptr ? CheckUnsafe() : CUDA_SUCCESS;
}

// Attributes k hold for the copies from index[k] to index[k + 1]. They are hints about order and
// place.
CUresult CheckCopyAttributes(const CUmemcpyAttributes* attributes, const size_t* index,
                             size_t attributes_count, size_t count) {
  if (attributes == nullptr || index == nullptr || attributes_count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (attributes_count > count || index[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < attributes_count; ++k) {
    if (index[k] >= count || (k > 0 && index[k] <= index[k - 1])) return CUDA_ERROR_INVALID_VALUE;
    if (!IsAccessOrder(attributes[k].srcAccessOrder)) return CUDA_ERROR_INVALID_VALUE;
    if ((attributes[k].flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) != 0)
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult EnqueueCopy(const CUDA_MEMCPY3D& copy, CUstream handle) {
  if (CopyBytes(copy) == 0) return CUDA_SUCCESS;
  Lock lock = LockDevice();
  if (CUresult error = CheckCopy(copy); error != CUDA_SUCCESS) return error;
  Context* context = CurrentContext();
  auto params = std::make_unique<MemcpyParams>(
      MemcpyParams{WithRows(copy), context != nullptr ? context->handle() : nullptr});
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  const CUresult result = Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(params));
  const bool waits = result == CUDA_SUCCESS && stream->capture == nullptr &&
                     (IsPageable(copy.srcMemoryType, copy.srcHost, copy.srcDevice) ||
                      IsPageable(copy.dstMemoryType, copy.dstHost, copy.dstDevice));
  return waits ? CheckMemory(WaitFor(lock, End(stream))) : result;
}

CUresult CopyAtOnce(const CUDA_MEMCPY3D& copy) {
  const CUresult result = EnqueueCopy(copy, CU_STREAM_LEGACY);
  Lock lock = LockDevice();
  if (result != CUDA_SUCCESS || CurrentContext() == nullptr) return result;
  Stream* legacy = CurrentContext()->legacy;
  HostWaits(legacy->time_ns);
  return CheckMemory(WaitFor(lock, End(legacy)));
}

bool IsAccessOrder(CUmemcpySrcAccessOrder order) {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

CUresult Memcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyAtOnce(PlainCopy(to, from, bytes));
}
CUresult MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return EnqueueCopy(PlainCopy(to, from, bytes), stream);
}
CUresult MemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return CopyAtOnce(PlainCopy(to, Host(from), bytes, kDevice, kHost));
}
CUresult MemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return CopyAtOnce(PlainCopy(Host(to), from, bytes, kHost, kDevice));
}
CUresult MemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyAtOnce(PlainCopy(to, from, bytes, kDevice, kDevice));
}
CUresult MemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return EnqueueCopy(PlainCopy(to, Host(from), bytes, kDevice, kHost), stream);
}
CUresult MemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return EnqueueCopy(PlainCopy(Host(to), from, bytes, kHost, kDevice), stream);
}
CUresult MemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return EnqueueCopy(PlainCopy(to, from, bytes, kDevice, kDevice), stream);
}

CUresult Memcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy != nullptr ? CopyAtOnce(ToVolume(*copy)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return Memcpy2D_v2(copy); }
CUresult Memcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy != nullptr ? EnqueueCopy(ToVolume(*copy), stream) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy != nullptr ? CopyAtOnce(*copy) : CUDA_ERROR_INVALID_VALUE;
}
CUresult Memcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy != nullptr ? EnqueueCopy(*copy, stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult MemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                    size_t bytes) {
  if (!AreContexts(to_context, from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  return CopyAtOnce(PlainCopy(to, from, bytes, kDevice, kDevice));
}
CUresult MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                         CUcontext from_context, size_t bytes, CUstream stream) {
  if (!AreContexts(to_context, from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (to_context == from_context) {
    if (CUresult error = CheckPeerInCapture(stream); error != CUDA_SUCCESS) return error;
  }
  return EnqueueCopy(PlainCopy(to, from, bytes, kDevice, kDevice), stream);
}
CUresult Memcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!AreContexts(copy->dstContext, copy->srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return CopyAtOnce(ToVolume(*copy));
}
CUresult Memcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!AreContexts(copy->dstContext, copy->srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return EnqueueCopy(ToVolume(*copy), stream);
}

CUresult MemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                             CUmemcpyAttributes* attributes, size_t* index, size_t attributes_count,
                             CUstream stream) {
  if (to == nullptr || from == nullptr || sizes == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
  if (std::find(sizes, sizes + count, size_t{0}) != sizes + count) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CheckCopyAttributes(attributes, index, attributes_count, count);
  if (result == CUDA_SUCCESS) result = RefuseCapture(stream);
  for (size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    result = EnqueueCopy(PlainCopy(to[i], from[i], sizes[i]), stream);
  }
  return result;
}

}  // namespace graphkit::soft::driver
