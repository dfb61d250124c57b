// The runtime's copy descriptions, in the driver's terms.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

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

}  // namespace graphkit::soft::runtime
