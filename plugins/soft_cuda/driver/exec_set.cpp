// New parameters for single nodes of an exec, named by the nodes of the graph that it was made of.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/exec.h"
#include "plugins/soft_cuda/driver/leftovers.h"
#include "plugins/soft_cuda/driver/node_params.h"

namespace graphkit::soft::driver {
namespace {

struct Target {
  Graph* exec = nullptr;
  Node* source = nullptr;
  Node* node = nullptr;  // of the exec; null: not found, or of another type
};

Target FindTarget(CUgraphExec exec_handle, CUgraphNode node_handle) {
  Target target{FindExec(exec_handle), Resolve<Node>(node_handle)};
  if (target.exec != nullptr && target.source != nullptr)
    target.node = FindCopy(target.exec, target.source);
  return target;
}

// A copy keeps its direction as it was given: that of another one, or one that the addresses
// decide, isn't the same (the public hip-tests on GPUs).
bool IsSameDirection(const NodeParams& from, const NodeParams& to) {
  const auto* a = std::get_if<std::unique_ptr<MemcpyParams>>(&from);
  const auto* b = std::get_if<std::unique_ptr<MemcpyParams>>(&to);
  if (a == nullptr || b == nullptr) return true;
  return (*a)->copy.srcMemoryType == (*b)->copy.srcMemoryType &&
         (*a)->copy.dstMemoryType == (*b)->copy.dstMemoryType;
}

bool IsFlat(const NodeParams& params) {
  const auto* copy = std::get_if<std::unique_ptr<MemcpyParams>>(&params);
  if (copy == nullptr) return true;
  const CUDA_MEMCPY3D& c = (*copy)->copy;
  return c.WidthInBytes > 0 && c.Height == 1 && c.Depth == 1;
}

// Gives a node of an exec the parameters that were read with this result.
CUresult Replace(CUgraphExec exec, CUgraphNode handle, CUgraphNodeType type, CUresult read,
                 NodeParams params) {
  const Target target = FindTarget(exec, handle);
  if (target.node == nullptr || target.node->type != type) return CUDA_ERROR_INVALID_VALUE;
  if (read != CUDA_SUCCESS) return read;
  if (auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&params)) {
    (*kernel)->attributes =
        std::get<std::unique_ptr<KernelParams>>(target.node->params)->attributes;
  }
  const bool flat = IsFlat(params) && IsFlat(target.node->params);
  if (!flat || !IsSameDirection(target.node->params, params) ||
      CheckChange(*target.exec, *target.node, params) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.SetExecParams(target.exec, target.node, target.source, std::move(params),
                                     CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS);
  return CUDA_SUCCESS;
}

// Can this node be switched off? Kernel, memcpy and memset nodes can.
Node* FindSwitchable(CUgraphExec exec, CUgraphNode handle) {
  Node* node = FindTarget(exec, handle).node;
  const bool can = node != nullptr && (node->type == CU_GRAPH_NODE_TYPE_KERNEL ||
                                       node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                                       node->type == CU_GRAPH_NODE_TYPE_MEMSET);
  return can ? node : nullptr;
}

}  // namespace

CUresult GraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                         const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadKernel(Widen(*p), &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, read, std::move(params));
}

CUresult GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadKernel(Widen(*p), &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, read, std::move(params));
}

CUresult GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                      CUcontext context) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadMemcpy(*copy, context, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, read, std::move(params));
}

CUresult GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  if (set == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadMemset(*set, context, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, read, std::move(params));
}

CUresult GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                    const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadHost(p->fn, p->userData, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_HOST, read, std::move(params));
}

CUresult GraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadEvent(event, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, read, std::move(params));
}

CUresult GraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadEvent(event, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, read, std::move(params));
}

CUresult GraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                        const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadSignal(*p, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, read, std::move(params));
}

CUresult GraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_EXT_SEM_WAIT_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadWait(*p, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, read, std::move(params));
}

CUresult GraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadBatch(*p, &params);
  return Replace(exec, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, read, std::move(params));
}

CUresult GraphExecChildGraphNodeSetParams(CUgraphExec exec_handle, CUgraphNode node_handle,
                                          CUgraph child_handle) {
  Lock lock = LockDevice();
  const Target target = FindTarget(exec_handle, node_handle);
  auto* child = Resolve<Graph>(child_handle);
  const auto* params =
      target.node != nullptr ? std::get_if<ChildParams>(&target.node->params) : nullptr;
  if (params == nullptr || child == nullptr || child->kind == GraphKind::kExec)
    return CUDA_ERROR_INVALID_VALUE;
  const CUgraphExecUpdateResultInfo info = CheckUpdate(*target.exec, *params->graph, *child);
  if (info.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  ApplyUpdate(target.exec, params->graph, *child);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return GraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
  NodeParams params;
  const CUresult read = ReadParams(*p, &params);
  return Replace(exec, node, p->type, read, std::move(params));
}

CUresult GraphNodeSetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned int enabled) {
  const Lock lock = LockDevice();
  Node* node = FindSwitchable(exec, handle);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node->enabled = enabled != 0;
  return CUDA_SUCCESS;
}

CUresult GraphNodeGetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned int* enabled) {
  const Lock lock = LockDevice();
  const Node* node = FindSwitchable(exec, handle);
  if (node == nullptr || enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *enabled = node->enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
