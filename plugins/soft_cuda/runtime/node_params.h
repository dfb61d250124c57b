// Node parameters of the runtime, in the driver's terms.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

CUcontext CurrentHandle();
cudaError_t ToDriver(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* out);
CUDA_MEMSET_NODE_PARAMS ToDriver(const cudaMemsetParams& from);
cudaError_t ToDriver(const cudaGraphNodeParams& from, CUgraphNodeParams* out);

// A copy to or from a variable: the address where `bytes` at `offset` lie in it.
// cudaErrorInvalidMemcpyDirection where a copy of this kind doesn't go that way.
cudaError_t ToVariable(const void* symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                       void** out);
cudaError_t FromVariable(const void* symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                         void** out);

}  // namespace graphkit::soft::runtime
