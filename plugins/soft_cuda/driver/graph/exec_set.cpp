// New parameters for single nodes of an exec, named by the nodes of the graph that it was made of.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"

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

CUresult Replace(CUgraphExec exec, CUgraphNode handle, const CUgraphNodeParams& p) {
  const Target target = FindTarget(exec, handle);
  if (target.node == nullptr || target.node->type != p.type) return CUDA_ERROR_INVALID_VALUE;
  NodeParams params;
  if (CUresult error = ReadParams(p, &params); error != CUDA_SUCCESS) return error;
  KeepAttributes(*target.node, &params);
  const bool flat = IsFlat(params) && IsFlat(target.node->params);
  if (!flat || !IsSameDirection(target.node->params, params) ||
      CheckChange(*target.exec, *target.node, params) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.SetExecParams(target.exec, target.node, target.source, std::move(params),
                                     CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS);
  return CUDA_SUCCESS;
}

// The same from the parameters of its type.
template <typename Params, typename... Context>
CUresult ReplaceFrom(CUgraphExec exec, CUgraphNode node, const Params* p, Context... context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return Replace(exec, node, AnyParams(*p, context...));
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
  return ReplaceFrom(exec, node, p);
}

CUresult GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return ReplaceFrom(exec, node, p);
}

CUresult GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                      CUcontext context) {
  return ReplaceFrom(exec, node, copy, context);
}

CUresult GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  return ReplaceFrom(exec, node, set, context);
}

CUresult GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                    const CUDA_HOST_NODE_PARAMS* p) {
  return ReplaceFrom(exec, node, p);
}

CUresult GraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  return Replace(exec, node, EventRecordParams(event));
}

CUresult GraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  return Replace(exec, node, EventWaitParams(event));
}

CUresult GraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                        const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* p) {
  return ReplaceFrom(exec, node, p);
}

CUresult GraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_EXT_SEM_WAIT_NODE_PARAMS* p) {
  return ReplaceFrom(exec, node, p);
}

CUresult GraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return ReplaceFrom(exec, node, p);
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
  return Replace(exec, node, *p);
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
