// New parameters for the nodes of a graph. Execs that were made of it before stay as they are.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph_rules.h"
#include "plugins/soft_cuda/driver/node_params.h"

namespace graphkit::soft::driver {
namespace {

// A node of this type in a graph that may be changed, or null.
Node* FindNode(CUgraphNode handle, CUgraphNodeType type) {
  auto* node = Resolve<Node>(handle);
  return node != nullptr && node->type == type && IsEditable(node->graph) ? node : nullptr;
}

// Gives a node the parameters that were read with this result. Kernel attributes stay.
CUresult Replace(CUgraphNode handle, CUgraphNodeType type, CUresult read, NodeParams params) {
  Node* node = FindNode(handle, type);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (read != CUDA_SUCCESS) return read;
  if (auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&params)) {
    (*kernel)->attributes = std::get<std::unique_ptr<KernelParams>>(node->params)->attributes;
  }
  node->params = std::move(params);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult GraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadKernel(Widen(*p), &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_KERNEL, read, std::move(params));
}

CUresult GraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadKernel(Widen(*p), &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_KERNEL, read, std::move(params));
}

CUresult GraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadMemcpy(*copy, CurrentHandle(), &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_MEMCPY, read, std::move(params));
}

CUresult GraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* set) {
  if (set == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadMemset(*set, CurrentHandle(), &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_MEMSET, read, std::move(params));
}

CUresult GraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadHost(p->fn, p->userData, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_HOST, read, std::move(params));
}

CUresult GraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadEvent(event, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, read, std::move(params));
}

CUresult GraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadEvent(event, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, read, std::move(params));
}

CUresult GraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node,
                                                    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadSignal(*p, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, read, std::move(params));
}

CUresult GraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node,
                                                  const CUDA_EXT_SEM_WAIT_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadWait(*p, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, read, std::move(params));
}

CUresult GraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  NodeParams params;
  const CUresult read = ReadBatch(*p, &params);
  return Replace(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, read, std::move(params));
}

CUresult GraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (FindNode(node, p->type) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  NodeParams params;
  const CUresult read = ReadParams(*p, &params);
  return Replace(node, p->type, read, std::move(params));
}

}  // namespace graphkit::soft::driver
