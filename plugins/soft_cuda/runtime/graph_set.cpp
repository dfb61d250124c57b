// New parameters for the nodes of graphs and execs.
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t GraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return WithDriver<CUDA_KERNEL_NODE_PARAMS>(
      p, [=](auto* kernel) { return cuGraphKernelNodeSetParams(node, kernel); });
}

cudaError_t GraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return WithDriver<CUDA_MEMCPY3D>(
      p, [=](auto* copy) { return cuGraphMemcpyNodeSetParams(node, copy); });
}

cudaError_t GraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                       size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphMemcpyNodeSetParams(node, &parms);
}

cudaError_t GraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                             const void* from, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  return ToVariable(symbol, offset, bytes, kind, [&](void* to) {
    return GraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t GraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                               size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return FromVariable(symbol, offset, bytes, kind, [&](void* from) {
    return GraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}

cudaError_t GraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return WithDriver<CUDA_MEMSET_NODE_PARAMS>(
      p, [=](auto* set) { return cuGraphMemsetNodeSetParams(node, set); });
}

cudaError_t GraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return WithDriver<CUgraphNodeParams>(
      p, [=](auto* params) { return cuGraphNodeSetParams(node, params); });
}

cudaError_t GraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaKernelNodeParams* p) {
  return WithDriver<CUDA_KERNEL_NODE_PARAMS>(
      p, [=](auto* kernel) { return cuGraphExecKernelNodeSetParams(exec, node, kernel); });
}

cudaError_t GraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* p) {
  return WithDriver<CUDA_MEMCPY3D>(p, [=](auto* copy) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, copy, CurrentHandle());
  });
}

cudaError_t GraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                           const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphExecMemcpyNodeSetParams(exec, node, &parms);
}

cudaError_t GraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const void* symbol, const void* from, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind) {
  return ToVariable(symbol, offset, bytes, kind, [&](void* to) {
    return GraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
  });
}

cudaError_t GraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   void* to, const void* symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind) {
  return FromVariable(symbol, offset, bytes, kind, [&](void* from) {
    return GraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
  });
}

cudaError_t GraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                         const cudaMemsetParams* p) {
  return WithDriver<CUDA_MEMSET_NODE_PARAMS>(p, [=](auto* set) {
    return cuGraphExecMemsetNodeSetParams(exec, node, set, CurrentHandle());
  });
}

cudaError_t GraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   cudaGraphNodeParams* p) {
  return WithDriver<CUgraphNodeParams>(
      p, [=](auto* params) { return cuGraphExecNodeSetParams(exec, node, params); });
}

}  // namespace graphkit::soft::runtime
