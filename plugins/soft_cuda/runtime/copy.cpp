// Copies and fills.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/node_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
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
  if (cudaError_t error = CheckPitches(to_pitch, from_pitch, width); error != cudaSuccess)
    return error;
  const CUDA_MEMCPY2D copy = FlatCopy(to, to_pitch, from, from_pitch, width, height, kind);
  return ToRuntime(cuMemcpy2DUnaligned(&copy));
}

cudaError_t Memcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                          size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!IsKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (cudaError_t error = CheckPitches(to_pitch, from_pitch, width); error != cudaSuccess)
    return error;
  const CUDA_MEMCPY2D copy = FlatCopy(to, to_pitch, from, from_pitch, width, height, kind);
  return ToRuntime(cuMemcpy2DAsync(&copy, stream));
}

cudaError_t Memcpy3D(const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = ToDriver(*p, &copy);
  return error == cudaSuccess ? ToRuntime(cuMemcpy3D(&copy)) : error;
}

cudaError_t Memcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = ToDriver(*p, &copy);
  return error == cudaSuccess ? ToRuntime(cuMemcpy3DAsync(&copy, stream)) : error;
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

cudaError_t ToVariable(const void* symbol, size_t offset, size_t count, cudaMemcpyKind kind,
                       void** out) {
  const cudaError_t error = InVariable(symbol, offset, count, out);
  if (error != cudaSuccess) return error;
  return IsKind(kind) && TargetType(kind) != CU_MEMORYTYPE_HOST ? cudaSuccess
                                                                : cudaErrorInvalidMemcpyDirection;
}

cudaError_t FromVariable(const void* symbol, size_t offset, size_t count, cudaMemcpyKind kind,
                         void** out) {
  const cudaError_t error = InVariable(symbol, offset, count, out);
  if (error != cudaSuccess) return error;
  return IsKind(kind) && SourceType(kind) != CU_MEMORYTYPE_HOST ? cudaSuccess
                                                                : cudaErrorInvalidMemcpyDirection;
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
  const cudaError_t error = ToVariable(symbol, offset, count, kind, &to);
  return error == cudaSuccess ? Memcpy(to, from, count, kind) : error;
}
cudaError_t MemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                             cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = FromVariable(symbol, offset, count, kind, &from);
  return error == cudaSuccess ? Memcpy(to, from, count, kind) : error;
}
cudaError_t MemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                cudaMemcpyKind kind, cudaStream_t stream) {
  void* to = nullptr;
  const cudaError_t error = ToVariable(symbol, offset, count, kind, &to);
  return error == cudaSuccess ? MemcpyAsync(to, from, count, kind, stream) : error;
}
cudaError_t MemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
  void* from = nullptr;
  const cudaError_t error = FromVariable(symbol, offset, count, kind, &from);
  return error == cudaSuccess ? MemcpyAsync(to, from, count, kind, stream) : error;
}

}  // namespace graphkit::soft::runtime
