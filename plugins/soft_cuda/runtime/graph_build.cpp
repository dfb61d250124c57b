// Graphs made by explicit calls.
#include <cstring>

#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

const CUgraphEdgeData* Data(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}

CUcontext Current() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

CUDA_MEMSET_NODE_PARAMS ToDriver(const cudaMemsetParams& p) {
  return {reinterpret_cast<CUdeviceptr>(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}

cudaError_t AddKernel(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                      size_t count, const cudaKernelNodeParams& p) {
  CUDA_KERNEL_NODE_PARAMS k{};
  k.func = FunctionOf(p.func);
  if (k.func == nullptr) return cudaErrorInvalidDeviceFunction;
  k.gridDimX = p.gridDim.x;
  k.gridDimY = p.gridDim.y;
  k.gridDimZ = p.gridDim.z;
  k.blockDimX = p.blockDim.x;
  k.blockDimY = p.blockDim.y;
  k.blockDimZ = p.blockDim.z;
  k.sharedMemBytes = p.sharedMemBytes;
  k.kernelParams = p.kernelParams;
  k.extra = p.extra;
  return ToRuntime(cuGraphAddKernelNode(out, graph, deps, count, &k));
}

// The two unions have the same members; kernels and copies differ in their fields.
cudaError_t ToDriver(const cudaGraphNodeParams& p, CUgraphNodeParams* out) {
  static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
  std::memcpy(out, &p, sizeof p);
  if (p.type == cudaGraphNodeTypeKernel) {
    out->kernel.func = FunctionOf(p.kernel.func);
    out->kernel.kern = nullptr;
    out->kernel.ctx = nullptr;
    return out->kernel.func != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  }
  if (p.type == cudaGraphNodeTypeMemcpy) {
    out->memcpy = {};
    out->memcpy.copyCtx = Current();
    return runtime::ToDriver(p.memcpy.copyParams, &out->memcpy.copyParams) ? cudaSuccess
                                                                           : cudaErrorNotSupported;
  }
  if (p.type == cudaGraphNodeTypeMemset) out->memset.ctx = Current();
  return cudaSuccess;
}

}  // namespace

cudaError_t GraphCreate(cudaGraph_t* out, unsigned int flags) {
  return ToRuntime(cuGraphCreate(out, flags));
}
cudaError_t GraphDestroy(cudaGraph_t graph) { return ToRuntime(cuGraphDestroy(graph)); }
cudaError_t GraphDestroyNode(cudaGraphNode_t node) { return ToRuntime(cuGraphDestroyNode(node)); }

cudaError_t GraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaKernelNodeParams* p) {
  return p != nullptr ? AddKernel(out, graph, deps, count, *p) : cudaErrorInvalidValue;
}

cudaError_t GraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemcpy3DParms* p) {
  CUDA_MEMCPY3D copy;
  if (p == nullptr) return cudaErrorInvalidValue;
  if (!ToDriver(*p, &copy)) return cudaErrorNotSupported;
  return ToRuntime(cuGraphAddMemcpyNode(out, graph, deps, count, &copy, Current()));
}

cudaError_t GraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* deps, size_t count, void* to,
                                 const void* from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parms = LinearParms(to, from, bytes, kind);
  return GraphAddMemcpyNode(out, graph, deps, count, &parms);
}

cudaError_t GraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                               size_t count, const cudaMemsetParams* p) {
  if (p == nullptr) return cudaErrorInvalidValue;
  const CUDA_MEMSET_NODE_PARAMS set = ToDriver(*p);
  return ToRuntime(cuGraphAddMemsetNode(out, graph, deps, count, &set, Current()));
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
  return ToRuntime(result);
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
