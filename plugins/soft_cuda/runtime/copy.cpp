// Copies and fills.
#include "plugins/soft_cuda/runtime/params.h"
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
  return WithDriver<CUDA_MEMCPY3D>(p, [=](auto* copy) { return cuMemcpy3D(copy); });
}

cudaError_t Memcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return WithDriver<CUDA_MEMCPY3D>(p, [=](auto* copy) { return cuMemcpy3DAsync(copy, stream); });
}

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
  return ToVariable(symbol, offset, count, kind,
                    [&](void* to) { return Memcpy(to, from, count, kind); });
}
cudaError_t MemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                             cudaMemcpyKind kind) {
  return FromVariable(symbol, offset, count, kind,
                      [&](void* from) { return Memcpy(to, from, count, kind); });
}
cudaError_t MemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                cudaMemcpyKind kind, cudaStream_t stream) {
  return ToVariable(symbol, offset, count, kind,
                    [&](void* to) { return MemcpyAsync(to, from, count, kind, stream); });
}
cudaError_t MemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
  return FromVariable(symbol, offset, count, kind,
                      [&](void* from) { return MemcpyAsync(to, from, count, kind, stream); });
}

}  // namespace graphkit::soft::runtime
