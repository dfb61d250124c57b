// New parameters for the nodes of a graph. Execs that were made of it before stay as they are.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"

namespace graphkit::soft::driver {
namespace {

// A node of this type in a graph that may be changed, or null.
Node* FindNode(CUgraphNode handle, CUgraphNodeType type) {
  auto* node = Resolve<Node>(handle);
  return node != nullptr && node->type == type && IsEditable(node->graph) ? node : nullptr;
}

CUresult Replace(CUgraphNode handle, const CUgraphNodeParams& p) {
  Node* node = FindNode(handle, p.type);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  NodeParams params;
  if (CUresult error = ReadParams(p, &params); error != CUDA_SUCCESS) return error;
  KeepAttributes(*node, &params);
  KeepArgumentMemory(node, &params);
  node->params = std::move(params);
  return CUDA_SUCCESS;
}

// The same from the parameters of its type.
template <typename Params, typename... Context>
CUresult ReplaceFrom(CUgraphNode node, const Params* p, Context... context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return Replace(node, AnyParams(*p, context...));
}

}  // namespace

CUresult GraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return ReplaceFrom(node, copy, CurrentHandle());
}

CUresult GraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* set) {
  return ReplaceFrom(node, set, CurrentHandle());
}

CUresult GraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  return Replace(node, EventRecordParams(event));
}

CUresult GraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  return Replace(node, EventWaitParams(event));
}

CUresult GraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node,
                                                    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node,
                                                  const CUDA_EXT_SEM_WAIT_NODE_PARAMS* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return ReplaceFrom(node, p);
}

CUresult GraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return Replace(node, *p);
}

}  // namespace graphkit::soft::driver
