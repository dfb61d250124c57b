// Questions about graphs and nodes, and execs.
#include "plugins/soft_cuda/runtime/copy_params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CUgraphEdgeData* Data(cudaGraphEdgeData* data) { return reinterpret_cast<CUgraphEdgeData*>(data); }

}  // namespace

cudaError_t GraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return ToRuntime(cuGraphGetNodes(graph, nodes, count));
}
cudaError_t GraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return ToRuntime(cuGraphGetRootNodes(graph, nodes, count));
}
cudaError_t GraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                          cudaGraphEdgeData* data, size_t* count) {
  return ToRuntime(cuGraphGetEdges_v2(graph, from, to, Data(data), count));
}
cudaError_t GraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                     cudaGraphEdgeData* data, size_t* count) {
  return ToRuntime(cuGraphNodeGetDependencies_v2(node, nodes, Data(data), count));
}
cudaError_t GraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                       cudaGraphEdgeData* data, size_t* count) {
  return ToRuntime(cuGraphNodeGetDependentNodes_v2(node, nodes, Data(data), count));
}
cudaError_t GraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return ToRuntime(cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)));
}

cudaError_t GraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* out) {
  CUDA_KERNEL_NODE_PARAMS p;
  if (out == nullptr) return cudaErrorInvalidValue;
  if (CUresult error = cuGraphKernelNodeGetParams(node, &p); error != CUDA_SUCCESS)
    return ToRuntime(error);
  const void* host = p.func != nullptr ? HostFunctionOf(p.func) : HostFunctionOf(p.kern);
  // What a driver module holds has no name in the runtime.
  if (host == nullptr && p.func != nullptr) return cudaErrorInvalidDeviceFunction;
  out->func = host != nullptr ? const_cast<void*>(host) : static_cast<void*>(p.kern);
  out->gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  out->blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  out->sharedMemBytes = p.sharedMemBytes;
  out->kernelParams = p.kernelParams;
  out->extra = p.extra;
  return cudaSuccess;
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

cudaError_t GraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* out) {
  return ToRuntime(cuGraphHostNodeGetParams(node, reinterpret_cast<CUDA_HOST_NODE_PARAMS*>(out)));
}
cudaError_t GraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return ToRuntime(cuGraphChildGraphNodeGetGraph(node, out));
}
cudaError_t GraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return ToRuntime(cuGraphEventRecordNodeGetEvent(node, out));
}
cudaError_t GraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return ToRuntime(cuGraphEventWaitNodeGetEvent(node, out));
}
cudaError_t GraphExternalSemaphoresSignalNodeGetParams(cudaGraphNode_t node,
                                                       cudaExternalSemaphoreSignalNodeParams* out) {
  return ToRuntime(cuGraphExternalSemaphoresSignalNodeGetParams(
      node, reinterpret_cast<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS*>(out)));
}
cudaError_t GraphExternalSemaphoresWaitNodeGetParams(cudaGraphNode_t node,
                                                     cudaExternalSemaphoreWaitNodeParams* out) {
  return ToRuntime(cuGraphExternalSemaphoresWaitNodeGetParams(
      node, reinterpret_cast<CUDA_EXT_SEM_WAIT_NODE_PARAMS*>(out)));
}
cudaError_t GraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
  return ToRuntime(cuGraphDebugDotPrint(graph, path, flags));
}
cudaError_t GraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* out) {
  return ToRuntime(
      cuGraphMemAllocNodeGetParams(node, reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(out)));
}
cudaError_t GraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return ToRuntime(cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(out)));
}
cudaError_t GraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                        cudaLaunchAttributeValue* value) {
  return ToRuntime(cuGraphKernelNodeGetAttribute(node, static_cast<CUkernelNodeAttrID>(attr),
                                                 reinterpret_cast<CUkernelNodeAttrValue*>(value)));
}
cudaError_t GraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                        const cudaLaunchAttributeValue* value) {
  return ToRuntime(
      cuGraphKernelNodeSetAttribute(node, static_cast<CUkernelNodeAttrID>(attr),
                                    reinterpret_cast<const CUkernelNodeAttrValue*>(value)));
}

cudaError_t GraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return ToRuntime(cuGraphClone(out, graph));
}
cudaError_t GraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t node, cudaGraph_t clone) {
  return ToRuntime(cuGraphNodeFindInClone(out, node, clone));
}
cudaError_t GraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return ToRuntime(cuGraphInstantiate(out, graph, flags));
}
cudaError_t GraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                      unsigned long long flags) {
  return ToRuntime(cuGraphInstantiate(out, graph, flags));
}
cudaError_t GraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph,
                                       cudaGraphInstantiateParams* params) {
  return ToRuntime(cuGraphInstantiateWithParams(
      out, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(params)));
}
cudaError_t GraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  cuuint64_t value = 0;
  const CUresult result = cuGraphExecGetFlags(exec, &value);
  if (result == CUDA_SUCCESS && flags != nullptr) *flags = value;
  return ToRuntime(result);
}
cudaError_t GraphExecDestroy(cudaGraphExec_t exec) { return ToRuntime(cuGraphExecDestroy(exec)); }
cudaError_t GraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return ToRuntime(cuGraphUpload(exec, stream));
}
cudaError_t GraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return ToRuntime(cuGraphLaunch(exec, stream));
}

}  // namespace graphkit::soft::runtime
