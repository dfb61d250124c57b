// Copies and fills.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/node_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

CUmemorytype SourceType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return CU_MEMORYTYPE_HOST;
  return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

CUmemorytype TargetType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return CU_MEMORYTYPE_HOST;
  return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

bool IsKind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

cudaMemcpyKind KindOf(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST)
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

void SetSource(CUDA_MEMCPY3D& c, CUmemorytype type, const void* pointer) {
  c.srcMemoryType = type;
  if (type == CU_MEMORYTYPE_HOST) {
    c.srcHost = pointer;
  } else {
    c.srcDevice = Address(pointer);
  }
}

void SetTarget(CUDA_MEMCPY3D& c, CUmemorytype type, void* pointer) {
  c.dstMemoryType = type;
  if (type == CU_MEMORYTYPE_HOST) {
    c.dstHost = pointer;
  } else {
    c.dstDevice = Address(pointer);
  }
}

}  // namespace

bool ToDriver(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D* out) {
  if (p.srcArray != nullptr || p.dstArray != nullptr) return false;
  CUDA_MEMCPY3D c{};
  SetSource(c, SourceType(p.kind), p.srcPtr.ptr);
  SetTarget(c, TargetType(p.kind), p.dstPtr.ptr);
  c.srcXInBytes = p.srcPos.x;
  c.srcY = p.srcPos.y;
  c.srcZ = p.srcPos.z;
  c.srcPitch = p.srcPtr.pitch;
  c.srcHeight = p.srcPtr.ysize;
  c.dstXInBytes = p.dstPos.x;
  c.dstY = p.dstPos.y;
  c.dstZ = p.dstPos.z;
  c.dstPitch = p.dstPtr.pitch;
  c.dstHeight = p.dstPtr.ysize;
  c.WidthInBytes = p.extent.width;
  c.Height = p.extent.height;
  c.Depth = p.extent.depth;
  *out = c;
  return true;
}

cudaMemcpy3DParms FromDriver(const CUDA_MEMCPY3D& c) {
  cudaMemcpy3DParms p{};
  p.kind = KindOf(c.srcMemoryType, c.dstMemoryType);
  const void* from = c.srcMemoryType == CU_MEMORYTYPE_HOST
                         ? c.srcHost
                         : reinterpret_cast<const void*>(c.srcDevice);
  void* to =
      c.dstMemoryType == CU_MEMORYTYPE_HOST ? c.dstHost : reinterpret_cast<void*>(c.dstDevice);
  p.srcPtr = {const_cast<void*>(from), c.srcPitch, c.srcPitch, c.srcHeight};
  p.dstPtr = {to, c.dstPitch, c.dstPitch, c.dstHeight};
  p.srcPos = {c.srcXInBytes, c.srcY, c.srcZ};
  p.dstPos = {c.dstXInBytes, c.dstY, c.dstZ};
  p.extent = {c.WidthInBytes, c.Height, c.Depth};
  return p;
}

cudaMemcpy3DParms LinearParms(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  p.dstPtr = {to, bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return p;
}

CUDA_MEMCPY2D FlatCopy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind) {
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = SourceType(kind);
  c.dstMemoryType = TargetType(kind);
  c.srcHost = c.srcMemoryType == CU_MEMORYTYPE_HOST ? from : nullptr;
  c.srcDevice = c.srcMemoryType == CU_MEMORYTYPE_HOST ? 0 : Address(from);
  c.dstHost = c.dstMemoryType == CU_MEMORYTYPE_HOST ? to : nullptr;
  c.dstDevice = c.dstMemoryType == CU_MEMORYTYPE_HOST ? 0 : Address(to);
  c.srcPitch = from_pitch;
  c.dstPitch = to_pitch;
  c.WidthInBytes = width;
  c.Height = height;
  return c;
}

cudaError_t Memcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return ToRuntime(cuMemcpyHtoD(Address(to), from, bytes));
    case cudaMemcpyDeviceToHost:
      return ToRuntime(cuMemcpyDtoH(to, Address(from), bytes));
    case cudaMemcpyDeviceToDevice:
      return ToRuntime(cuMemcpyDtoD(Address(to), Address(from), bytes));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return ToRuntime(cuMemcpy(Address(to), Address(from), bytes));
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t MemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return ToRuntime(cuMemcpyHtoDAsync(Address(to), from, bytes, stream));
    case cudaMemcpyDeviceToHost:
      return ToRuntime(cuMemcpyDtoHAsync(to, Address(from), bytes, stream));
    case cudaMemcpyDeviceToDevice:
      return ToRuntime(cuMemcpyDtoDAsync(Address(to), Address(from), bytes, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return ToRuntime(cuMemcpyAsync(Address(to), Address(from), bytes, stream));
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t Memcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                     size_t height, cudaMemcpyKind kind) {
  if (!IsKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  const CUDA_MEMCPY2D copy = FlatCopy(to, to_pitch, from, from_pitch, width, height, kind);
  return ToRuntime(cuMemcpy2DUnaligned(&copy));
}

cudaError_t Memcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                          size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!IsKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  const CUDA_MEMCPY2D copy = FlatCopy(to, to_pitch, from, from_pitch, width, height, kind);
  return ToRuntime(cuMemcpy2DAsync(&copy, stream));
}

cudaError_t Memcpy3D(const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  return ToDriver(*p, &copy) ? ToRuntime(cuMemcpy3D(&copy)) : cudaErrorNotSupported;
}

cudaError_t Memcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  return ToDriver(*p, &copy) ? ToRuntime(cuMemcpy3DAsync(&copy, stream)) : cudaErrorNotSupported;
}

cudaError_t Memset(void* to, int value, size_t bytes) {
  return ToRuntime(cuMemsetD8(Address(to), static_cast<unsigned char>(value), bytes));
}
cudaError_t MemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return ToRuntime(cuMemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes, stream));
}
cudaError_t Memset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return ToRuntime(
      cuMemsetD2D8(Address(to), pitch, static_cast<unsigned char>(value), width, height));
}
cudaError_t Memset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                          cudaStream_t stream) {
  return ToRuntime(cuMemsetD2D8Async(Address(to), pitch, static_cast<unsigned char>(value), width,
                                     height, stream));
}

// `symbol` + offset, where `count` bytes fit.
cudaError_t InVariable(const void* symbol, size_t offset, size_t count, void** out) {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  if (cudaError_t error = VariableOf(symbol, &address, &bytes); error != cudaSuccess) return error;
  if (offset > bytes || count > bytes - offset) return cudaErrorInvalidValue;
  *out = reinterpret_cast<void*>(address + offset);
  return cudaSuccess;
}

cudaError_t GetSymbolAddress(void** out, const void* symbol) {
  return out != nullptr ? InVariable(symbol, 0, 0, out) : cudaErrorInvalidValue;
}

cudaError_t GetSymbolSize(size_t* size, const void* symbol) {
  CUdeviceptr address = 0;
  return size != nullptr ? VariableOf(symbol, &address, size) : cudaErrorInvalidValue;
}

cudaError_t MemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset,
                           cudaMemcpyKind kind) {
  void* to = nullptr;
  const cudaError_t error = InVariable(symbol, offset, count, &to);
  return error == cudaSuccess ? Memcpy(to, from, count, kind) : error;
}
cudaError_t MemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                             cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = InVariable(symbol, offset, count, &from);
  return error == cudaSuccess ? Memcpy(to, from, count, kind) : error;
}
cudaError_t MemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                cudaMemcpyKind kind, cudaStream_t stream) {
  void* to = nullptr;
  const cudaError_t error = InVariable(symbol, offset, count, &to);
  return error == cudaSuccess ? MemcpyAsync(to, from, count, kind, stream) : error;
}
cudaError_t MemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
  void* from = nullptr;
  const cudaError_t error = InVariable(symbol, offset, count, &from);
  return error == cudaSuccess ? MemcpyAsync(to, from, count, kind, stream) : error;
}

}  // namespace graphkit::soft::runtime
