// The runtime's copy descriptions, in the driver's terms.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

// False: a copy that names arrays.
bool ToDriver(const cudaMemcpy3DParms& parms, CUDA_MEMCPY3D* out);
cudaMemcpy3DParms FromDriver(const CUDA_MEMCPY3D& copy);
CUDA_MEMCPY2D FlatCopy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind);
cudaMemcpy3DParms LinearParms(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

}  // namespace graphkit::soft::runtime
