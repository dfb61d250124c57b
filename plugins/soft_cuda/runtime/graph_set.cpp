// New parameters for the nodes of graphs.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/node_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t GraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &kernel); error != cudaSuccess) return error;
  return ToRuntime(cuGraphKernelNodeSetParams(node, &kernel));
}

cudaError_t GraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &copy); error != cudaSuccess) return error;
  return ToRuntime(cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t GraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                       size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphMemcpyNodeSetParams(node, &parms);
}

cudaError_t GraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                             const void* from, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  void* to = nullptr;
  const cudaError_t error = ToVariable(symbol, offset, bytes, kind, &to);
  return error == cudaSuccess ? GraphMemcpyNodeSetParams1D(node, to, from, bytes, kind) : error;
}

cudaError_t GraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                               size_t bytes, size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = FromVariable(symbol, offset, bytes, kind, &from);
  return error == cudaSuccess ? GraphMemcpyNodeSetParams1D(node, to, from, bytes, kind) : error;
}

cudaError_t GraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const CUDA_MEMSET_NODE_PARAMS set = ToDriver(*p);
  return ToRuntime(cuGraphMemsetNodeSetParams(node, &set));
}

cudaError_t GraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return ToRuntime(
      cuGraphHostNodeSetParams(node, reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(p)));
}

cudaError_t GraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return ToRuntime(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t GraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return ToRuntime(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t GraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* p) {
  return ToRuntime(cuGraphExternalSemaphoresSignalNodeSetParams(
      node, reinterpret_cast<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>(p)));
}

cudaError_t GraphExternalSemaphoresWaitNodeSetParams(cudaGraphNode_t node,
                                                     const cudaExternalSemaphoreWaitNodeParams* p) {
  return ToRuntime(cuGraphExternalSemaphoresWaitNodeSetParams(
      node, reinterpret_cast<const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>(p)));
}

cudaError_t GraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  CUgraphNodeParams params;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &params); error != cudaSuccess) return error;
  return ToRuntime(cuGraphNodeSetParams(node, &params));
}

cudaError_t GraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return ToRuntime(cuGraphKernelNodeCopyAttributes(to, from));
}

}  // namespace graphkit::soft::runtime
