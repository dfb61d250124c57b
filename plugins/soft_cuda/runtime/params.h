// The runtime's descriptions of elements, copies, launches and nodes, in the driver's terms.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "plugins/soft_cuda/runtime/start.h"

namespace graphkit::soft::runtime {

// INVALID_CHANNEL_DESCRIPTOR: no array has such elements.
cudaError_t ToDriver(const cudaChannelFormatDesc& desc, CUDA_ARRAY3D_DESCRIPTOR* shape);
cudaChannelFormatDesc ChannelsOf(const CUDA_ARRAY3D_DESCRIPTOR& shape);

// The bytes of an array's elements; 0: not an array, or one of planes.
size_t ElementBytesOf(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* shape = nullptr);

inline CUarray Driver(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

bool IsKind(cudaMemcpyKind kind);
// Where the operands of a copy lie, by its kind.
CUmemorytype SourceType(cudaMemcpyKind kind);
CUmemorytype TargetType(cudaMemcpyKind kind);
// Is it within the device's limit, and as wide as what is copied?
// A pitch below the width is cudaErrorInvalidPitchValue, one at or above the maximum
// cudaErrorInvalidValue (the public hip-tests on GPUs).
cudaError_t CheckPitch(size_t pitch, size_t width);
cudaError_t CheckPitches(size_t to, size_t from, size_t width);

cudaError_t ToDriver(const cudaMemcpy3DParms& parms, CUDA_MEMCPY3D* out);
// Without the contexts.
cudaError_t ToDriver(const cudaMemcpy3DPeerParms& parms, CUDA_MEMCPY3D_PEER* out);
cudaMemcpy3DParms FromDriver(const CUDA_MEMCPY3D& copy);
CUDA_MEMCPY2D FlatCopy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind);
cudaMemcpy3DParms LinearParms(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

CUlaunchConfig ToDriver(const cudaLaunchConfig_t& config);  // points to the same attributes

CUcontext CurrentHandle();
cudaError_t ToDriver(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* out);
cudaError_t ToDriver(const cudaMemsetParams& from, CUDA_MEMSET_NODE_PARAMS* out);
cudaError_t ToDriver(const cudaGraphNodeParams& from, CUgraphNodeParams* out);

// The result of `call` for a description in the driver's terms.
template <typename Driver, typename Runtime, typename Call>
cudaError_t WithDriver(const Runtime* given, Call&& call) {
  Driver params;
  if (given == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*given, &params); error != cudaSuccess) return error;
  return ToRuntime(call(&params));
}

// The address of a variable + offset, where `bytes` fit.
cudaError_t InVariable(const void* symbol, size_t offset, size_t bytes, void** out);

// A copy to a variable: what `use` returns for the address where `bytes` at `offset` lie in it.
// cudaErrorInvalidMemcpyDirection where a copy of this kind doesn't go that way.
template <typename Use>
cudaError_t ToVariable(const void* symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                       Use&& use) {
  void* to = nullptr;
  if (cudaError_t error = InVariable(symbol, offset, bytes, &to); error != cudaSuccess)
    return error;
  const bool way = IsKind(kind) && TargetType(kind) != CU_MEMORYTYPE_HOST;
  return way ? use(to) : cudaErrorInvalidMemcpyDirection;
}

// The same from a variable.
template <typename Use>
cudaError_t FromVariable(const void* symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                         Use&& use) {
  void* from = nullptr;
  if (cudaError_t error = InVariable(symbol, offset, bytes, &from); error != cudaSuccess)
    return error;
  const bool way = IsKind(kind) && SourceType(kind) != CU_MEMORYTYPE_HOST;
  return way ? use(from) : cudaErrorInvalidMemcpyDirection;
}

}  // namespace graphkit::soft::runtime
