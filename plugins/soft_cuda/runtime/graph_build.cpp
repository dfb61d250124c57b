// Graphs made by explicit calls.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/node_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

const CUgraphEdgeData* Data(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}

}  // namespace

cudaError_t GraphCreate(cudaGraph_t* out, unsigned int flags) {
  return ToRuntime(cuGraphCreate(out, flags));
}
cudaError_t GraphDestroy(cudaGraph_t graph) { return ToRuntime(cuGraphDestroy(graph)); }
cudaError_t GraphDestroyNode(cudaGraphNode_t node) { return ToRuntime(cuGraphDestroyNode(node)); }

cudaError_t GraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaKernelNodeParams* p) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &kernel); error != cudaSuccess) return error;
  return ToRuntime(cuGraphAddKernelNode(out, graph, deps, count, &kernel));
}

cudaError_t GraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t error = ToDriver(*p, &copy); error != cudaSuccess) return error;
  return ToRuntime(cuGraphAddMemcpyNode(out, graph, deps, count, &copy, CurrentHandle()));
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
  void* to = nullptr;
  const cudaError_t error = ToVariable(symbol, offset, bytes, kind, &to);
  return error == cudaSuccess
             ? GraphAddMemcpyNode1D(out, graph, deps, deps_count, to, from, bytes, kind)
             : error;
}
cudaError_t GraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                         const cudaGraphNode_t* deps, size_t deps_count, void* to,
                                         const void* symbol, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = FromVariable(symbol, offset, bytes, kind, &from);
  return error == cudaSuccess
             ? GraphAddMemcpyNode1D(out, graph, deps, deps_count, to, from, bytes, kind)
             : error;
}

cudaError_t GraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemsetParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const CUDA_MEMSET_NODE_PARAMS set = ToDriver(*p);
  return ToRuntime(cuGraphAddMemsetNode(out, graph, deps, count, &set, CurrentHandle()));
}

cudaError_t GraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                             size_t count, const cudaHostNodeParams* p) {
  return ToRuntime(cuGraphAddHostNode(out, graph, deps, count,
                                      reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(p)));
}

cudaError_t GraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                              size_t count) {
  return ToRuntime(cuGraphAddEmptyNode(out, graph, deps, count));
}
cudaError_t GraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* deps, size_t count, cudaGraph_t child) {
  return ToRuntime(cuGraphAddChildGraphNode(out, graph, deps, count, child));
}
cudaError_t GraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* deps, size_t count, cudaEvent_t event) {
  return ToRuntime(cuGraphAddEventRecordNode(out, graph, deps, count, event));
}
cudaError_t GraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* deps, size_t count, cudaEvent_t event) {
  return ToRuntime(cuGraphAddEventWaitNode(out, graph, deps, count, event));
}
cudaError_t GraphAddExternalSemaphoresSignalNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                 const cudaGraphNode_t* deps, size_t count,
                                                 const cudaExternalSemaphoreSignalNodeParams* p) {
  return ToRuntime(cuGraphAddExternalSemaphoresSignalNode(
      out, graph, deps, count, reinterpret_cast<const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>(p)));
}
cudaError_t GraphAddExternalSemaphoresWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                               const cudaGraphNode_t* deps, size_t count,
                                               const cudaExternalSemaphoreWaitNodeParams* p) {
  return ToRuntime(cuGraphAddExternalSemaphoresWaitNode(
      out, graph, deps, count, reinterpret_cast<const CUDA_EXT_SEM_WAIT_NODE_PARAMS*>(p)));
}
cudaError_t GraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* deps, size_t count,
                                 cudaMemAllocNodeParams* p) {
  return ToRuntime(cuGraphAddMemAllocNode(out, graph, deps, count,
                                          reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(p)));
}
cudaError_t GraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                const cudaGraphNode_t* deps, size_t count, void* pointer) {
  return ToRuntime(
      cuGraphAddMemFreeNode(out, graph, deps, count, reinterpret_cast<CUdeviceptr>(pointer)));
}

cudaError_t GraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                         const cudaGraphEdgeData* data, size_t count, cudaGraphNodeParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  CUgraphNodeParams params;
  if (cudaError_t error = ToDriver(*p, &params); error != cudaSuccess) return error;
  const CUresult result = cuGraphAddNode_v2(out, graph, deps, Data(data), count, &params);
  if (p->type == cudaGraphNodeTypeMemAlloc)
    p->alloc.dptr = reinterpret_cast<void*>(params.alloc.dptr);
  if (p->type == cudaGraphNodeTypeConditional)
    p->conditional.phGraph_out = params.conditional.phGraph_out;
  return ToRuntime(result);
}

cudaError_t GraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                         unsigned int value, unsigned int flags) {
  static_assert(sizeof(cudaGraphConditionalHandle) == sizeof(CUgraphConditionalHandle));
  return ToRuntime(cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(out),
                                                  graph, CurrentHandle(), value, flags));
}

cudaError_t GraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                 const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                 size_t count) {
  return ToRuntime(cuGraphAddDependencies_v2(graph, from, to, Data(data), count));
}
cudaError_t GraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                    const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                    size_t count) {
  return ToRuntime(cuGraphRemoveDependencies_v2(graph, from, to, Data(data), count));
}

}  // namespace graphkit::soft::runtime
