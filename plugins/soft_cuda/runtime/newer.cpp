// Functions of the runtime of CUDA 13.1 and 13.2 that aren't one of the driver's.
#include <cstring>

#include "plugins/soft_cuda/abi/newer_runtime.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

// No function of the device gives an execution context, so that only the current one can be meant.
cudaError_t GraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                            cudaExecutionContext_t context, unsigned int value,
                                            unsigned int flags) {
  if (context != nullptr) return cudaErrorInvalidValue;
  return GraphConditionalHandleCreate(out, graph, value, flags);
}

cudaError_t GraphNodeGetParams(cudaGraphNode_t node, cudaGraphNodeParams* out) {
  CUgraphNodeParams p;
  if (out == nullptr) return cudaErrorInvalidValue;
  if (CUresult error = cuGraphNodeGetParams(node, &p); error != CUDA_SUCCESS)
    return ToRuntime(error);
  *out = {};
  out->type = static_cast<cudaGraphNodeType>(p.type);
  if (out->type == cudaGraphNodeTypeKernel) {
    cudaKernelNodeParams k;
    const cudaError_t error = GraphKernelNodeGetParams(node, &k);
    if (error != cudaSuccess) return error;
    out->kernel.func = k.func;
    out->kernel.gridDim = k.gridDim;
    out->kernel.blockDim = k.blockDim;
    out->kernel.sharedMemBytes = k.sharedMemBytes;
    out->kernel.kernelParams = k.kernelParams;
    out->kernel.extra = k.extra;
  } else if (out->type == cudaGraphNodeTypeMemcpy) {
    out->memcpy.flags = p.memcpy.flags;
    out->memcpy.copyParams = FromDriver(p.memcpy.copyParams);
  } else if (out->type == cudaGraphNodeTypeMemset) {
    std::memcpy(&out->memset, &p.memset, sizeof out->memset);  // all but the context
  } else {  // the two unions have the same members
    std::memcpy(reinterpret_cast<char*>(out) + offsetof(cudaGraphNodeParams, reserved1),
                reinterpret_cast<const char*>(&p) + offsetof(CUgraphNodeParams, reserved1),
                sizeof out->reserved1);
  }
  return cudaSuccess;
}

}  // namespace graphkit::soft::runtime
