// New parameters for the nodes of execs.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/node_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t GraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaKernelNodeParams* p) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &kernel); error != cudaSuccess) return error;
  return ToRuntime(cuGraphExecKernelNodeSetParams(exec, node, &kernel));
}

cudaError_t GraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &copy); error != cudaSuccess) return error;
  return ToRuntime(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, CurrentHandle()));
}

cudaError_t GraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                           const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphExecMemcpyNodeSetParams(exec, node, &parms);
}

cudaError_t GraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const void* symbol, const void* from, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  const cudaError_t error = ToVariable(symbol, offset, bytes, kind, &to);
  return error == cudaSuccess ? GraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind)
                              : error;
}

cudaError_t GraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   void* to, const void* symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = FromVariable(symbol, offset, bytes, kind, &from);
  return error == cudaSuccess ? GraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind)
                              : error;
}

cudaError_t GraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemsetParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const CUDA_MEMSET_NODE_PARAMS set = ToDriver(*p);
  return ToRuntime(cuGraphExecMemsetNodeSetParams(exec, node, &set, CurrentHandle()));
}

cudaError_t GraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       const cudaHostNodeParams* p) {
  return ToRuntime(
      cuGraphExecHostNodeSetParams(exec, node, reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(p)));
}

cudaError_t GraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaEvent_t event) {
  return ToRuntime(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

cudaError_t GraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           cudaEvent_t event) {
  return ToRuntime(cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

cudaError_t GraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* p) {
  return ToRuntime(cuGraphExecExternalSemaphoresSignalNodeSetParams(
      exec, node, reinterpret_cast<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>(p)));
}

cudaError_t GraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaExternalSemaphoreWaitNodeParams* p) {
  return ToRuntime(cuGraphExecExternalSemaphoresWaitNodeSetParams(
      exec, node, reinterpret_cast<const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>(p)));
}

cudaError_t GraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   cudaGraphNodeParams* p) {
  CUgraphNodeParams params;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &params); error != cudaSuccess) return error;
  return ToRuntime(cuGraphExecNodeSetParams(exec, node, &params));
}

cudaError_t GraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaGraph_t child) {
  return ToRuntime(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

cudaError_t GraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled) {
  return ToRuntime(cuGraphNodeSetEnabled(exec, node, enabled));
}

cudaError_t GraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled) {
  return ToRuntime(cuGraphNodeGetEnabled(exec, node, enabled));
}

cudaError_t GraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                            cudaGraphExecUpdateResultInfo* info) {
  static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));
  return ToRuntime(
      cuGraphExecUpdate(exec, graph, reinterpret_cast<CUgraphExecUpdateResultInfo*>(info)));
}

}  // namespace graphkit::soft::runtime
