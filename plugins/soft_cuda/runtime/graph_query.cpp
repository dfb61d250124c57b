// The parameters of nodes, where the driver has no function that takes the same.
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t GraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  CUDA_KERNEL_NODE_PARAMS p;
  if (out == nullptr) return cudaErrorInvalidValue;
  if (CUresult error = cuGraphKernelNodeGetParams(node, &p); error != CUDA_SUCCESS)
    return ToRuntime(error);
  const void* host = p.func != nullptr ? HostFunctionOf(p.func) : HostFunctionOf(p.kern);
  // A function of a driver module has no name in the runtime.
  if (host == nullptr && p.kern == nullptr) return cudaErrorInvalidDeviceFunction;
  out->func = host != nullptr ? const_cast<void*>(host) : static_cast<void*>(p.kern);
  out->gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  out->blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  out->sharedMemBytes = p.sharedMemBytes;
  out->kernelParams = p.kernelParams;
  out->extra = p.extra;
  return cudaSuccess;
}

cudaError_t GraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
  return ToRuntime(
      cuGraphDebugDotPrint(graph, path, flags | CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES));
}

cudaError_t GraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* out) {
  CUDA_MEMCPY3D copy;
  if (out == nullptr) return cudaErrorInvalidValue;
  const CUresult result = cuGraphMemcpyNodeGetParams(node, &copy);
  if (result == CUDA_SUCCESS) *out = FromDriver(copy);
  return ToRuntime(result);
}

cudaError_t GraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* out) {
  CUDA_MEMSET_NODE_PARAMS p;
  if (out == nullptr) return cudaErrorInvalidValue;
  const CUresult result = cuGraphMemsetNodeGetParams(node, &p);
  if (result == CUDA_SUCCESS) {
    *out = {reinterpret_cast<void*>(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
  }
  return ToRuntime(result);
}

cudaError_t GraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  cuuint64_t value = 0;
  const CUresult result = cuGraphExecGetFlags(exec, &value);
  if (result == CUDA_SUCCESS && flags != nullptr) *flags = value;
  return ToRuntime(result);
}

}  // namespace graphkit::soft::runtime
