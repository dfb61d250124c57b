// Graphs made by explicit calls.
#include "plugins/soft_cuda/runtime/forward.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t GraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaKernelNodeParams* p) {
  return WithDriver<CUDA_KERNEL_NODE_PARAMS>(
      p, [=](auto* kernel) { return cuGraphAddKernelNode(out, graph, deps, count, kernel); });
}

cudaError_t GraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemcpy3DParms* p) {
  return WithDriver<CUDA_MEMCPY3D>(p, [=](auto* copy) {
    return cuGraphAddMemcpyNode(out, graph, deps, count, copy, CurrentHandle());
  });
}

cudaError_t GraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* deps, size_t count, void* to,
                                 const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphAddMemcpyNode(out, graph, deps, count, &parms);
}

cudaError_t GraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                       const cudaGraphNode_t* deps, size_t deps_count,
                                       const void* symbol, const void* from, size_t bytes,
                                       size_t offset, cudaMemcpyKind kind) {
  return ToVariable(symbol, offset, bytes, kind, [&](void* to) {
    return GraphAddMemcpyNode1D(out, graph, deps, deps_count, to, from, bytes, kind);
  });
}
cudaError_t GraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                         const cudaGraphNode_t* deps, size_t deps_count, void* to,
                                         const void* symbol, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind) {
  return FromVariable(symbol, offset, bytes, kind, [&](void* from) {
    return GraphAddMemcpyNode1D(out, graph, deps, deps_count, to, from, bytes, kind);
  });
}

cudaError_t GraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemsetParams* p) {
  return WithDriver<CUDA_MEMSET_NODE_PARAMS>(p, [=](auto* set) {
    return cuGraphAddMemsetNode(out, graph, deps, count, set, CurrentHandle());
  });
}

cudaError_t GraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                         const cudaGraphEdgeData* data, size_t count, cudaGraphNodeParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  CUgraphNodeParams params;
  if (cudaError_t error = ToDriver(*p, &params); error != cudaSuccess) return error;
  const CUresult result = cuGraphAddNode_v2(out, graph, deps, As(data), count, &params);
  if (p->type == cudaGraphNodeTypeMemAlloc)
    p->alloc.dptr = reinterpret_cast<void*>(params.alloc.dptr);
  if (p->type == cudaGraphNodeTypeConditional)
    p->conditional.phGraph_out = params.conditional.phGraph_out;
  return ToRuntime(result);
}

cudaError_t GraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                         unsigned int value, unsigned int flags) {
  return ToRuntime(cuGraphConditionalHandleCreate(As(out), graph, CurrentHandle(), value, flags));
}

}  // namespace graphkit::soft::runtime
