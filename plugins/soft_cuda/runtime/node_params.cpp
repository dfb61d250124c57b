#include "plugins/soft_cuda/runtime/params.h"

#include <cstring>

#include "plugins/soft_cuda/runtime/start.h"

namespace graphkit::soft::runtime {

CUcontext CurrentHandle() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

cudaError_t ToDriver(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* out) {
  *out = {};
  out->func = FunctionOf(from.func);
  out->gridDimX = from.gridDim.x;
  out->gridDimY = from.gridDim.y;
  out->gridDimZ = from.gridDim.z;
  out->blockDimX = from.blockDim.x;
  out->blockDimY = from.blockDim.y;
  out->blockDimZ = from.blockDim.z;
  out->sharedMemBytes = from.sharedMemBytes;
  out->kernelParams = from.kernelParams;
  out->extra = from.extra;
  return out->func != nullptr ? cudaSuccess : NotAKernel(from.func);
}

cudaError_t ToDriver(const cudaMemsetParams& from, CUDA_MEMSET_NODE_PARAMS* out) {
  *out = {Address(from.dst), from.pitch, from.value, from.elementSize, from.width, from.height};
  return cudaSuccess;
}

// The two unions have the same members; kernels and copies differ in their fields.
cudaError_t ToDriver(const cudaGraphNodeParams& from, CUgraphNodeParams* out) {
  static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
  std::memcpy(out, &from, sizeof from);
  if (from.type == cudaGraphNodeTypeKernel) {
    out->kernel.func = FunctionOf(from.kernel.func);
    out->kernel.kern = nullptr;
    out->kernel.ctx = nullptr;
    return out->kernel.func != nullptr ? cudaSuccess : NotAKernel(from.kernel.func);
  }
  if (from.type == cudaGraphNodeTypeMemcpy) {
    out->memcpy = {};
    out->memcpy.flags = from.memcpy.flags;
    out->memcpy.copyCtx = CurrentHandle();
    return ToDriver(from.memcpy.copyParams, &out->memcpy.copyParams);
  }
  if (from.type == cudaGraphNodeTypeMemset) out->memset.ctx = CurrentHandle();
  return cudaSuccess;
}

}  // namespace graphkit::soft::runtime
