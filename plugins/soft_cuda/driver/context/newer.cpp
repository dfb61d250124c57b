// Functions of CUDA 13.1 and 13.2: the ids of graphs and nodes, which are those that CUPTI gives
// and drawings show, and the parameters of any node.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/shared.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"

namespace graphkit::soft::driver {
namespace {

// Writes what `ask` finds of a handle, as a tool would ask.
template <typename Handle, typename Id>
CUresult GiveId(bool (*ask)(Handle, Id*), Handle handle, Id* out) {
  const Lock lock = LockDevice();
  return out != nullptr && ask(handle, out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUgraphNodeParams Show(std::monostate&, Node& node) {
  CUgraphNodeParams any{};
  any.type = node.type;
  return any;
}
CUgraphNodeParams Show(std::unique_ptr<KernelParams>&, Node& node) {
  CUDA_KERNEL_NODE_PARAMS kernel{};
  GraphKernelNodeGetParams_v2(node.handle(), &kernel);
  return AnyParams(kernel);
}
CUgraphNodeParams Show(std::unique_ptr<MemcpyParams>& p, Node&) {
  return AnyParams(p->copy, p->context);
}
CUgraphNodeParams Show(std::unique_ptr<MemsetParams>& p, Node&) {
  return AnyParams(p->set, p->context);
}
CUgraphNodeParams Show(HostParams& p, Node&) {
  return AnyParams(CUDA_HOST_NODE_PARAMS{p.function, p.user_data});
}
CUgraphNodeParams Show(ChildParams& p, Node& node) {
  CUgraphNodeParams any{};
  any.type = node.type;
  any.graph.graph = p.graph->handle();
  return any;
}
CUgraphNodeParams Show(EventParams& p, Node& node) {
  return node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? EventRecordParams(p.event->handle())
                                                      : EventWaitParams(p.event->handle());
}
CUgraphNodeParams Show(std::unique_ptr<MemAllocParams>& p, Node& node) {
  CUgraphNodeParams any{};
  any.type = node.type;
  any.alloc = {p->params.poolProps, p->params.accessDescs, p->params.accessDescCount,
               p->params.bytesize, p->params.dptr};
  return any;
}
CUgraphNodeParams Show(MemFreeParams& p, Node& node) {
  CUgraphNodeParams any{};
  any.type = node.type;
  any.free.dptr = p.address;
  return any;
}
CUgraphNodeParams Show(std::unique_ptr<SignalParams>& p, Node&) {
  return AnyParams(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS{p->semaphores.data(), p->values.data(),
                                                   static_cast<unsigned>(p->semaphores.size())});
}
CUgraphNodeParams Show(std::unique_ptr<WaitParams>& p, Node&) {
  return AnyParams(CUDA_EXT_SEM_WAIT_NODE_PARAMS{p->semaphores.data(), p->values.data(),
                                                 static_cast<unsigned>(p->semaphores.size())});
}
CUgraphNodeParams Show(std::unique_ptr<BatchParams>& p, Node&) {
  return AnyParams(CUDA_BATCH_MEM_OP_NODE_PARAMS{
      p->context, static_cast<unsigned>(p->operations.size()), p->operations.data(), p->flags});
}
CUgraphNodeParams Show(std::unique_ptr<ConditionalParams>& p, Node& node) {
  CUgraphNodeParams any{};
  any.type = node.type;
  any.conditional.handle = p->handle;
  any.conditional.type = p->kind;
  any.conditional.size = static_cast<unsigned>(p->shown.size());
  any.conditional.phGraph_out = p->shown.data();
  return any;
}

}  // namespace

CUresult GraphNodeGetContainingGraph(CUgraphNode handle, CUgraph* out) {
  const Lock lock = LockDevice();
  const auto* node = Resolve<Node>(handle);
  if (node == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = node->graph->handle();
  return CUDA_SUCCESS;
}

CUresult GraphNodeGetLocalId(CUgraphNode handle, unsigned int* out) {
  const Lock lock = LockDevice();
  const auto* node = Resolve<Node>(handle);
  if (node == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = static_cast<unsigned>(node->index);
  return CUDA_SUCCESS;
}

CUresult GraphNodeGetToolsId(CUgraphNode handle, unsigned long long* out) {
  uint64_t id = 0;
  const CUresult result =
      GiveId(graphkit_soft_shared()->node_id, handle, out != nullptr ? &id : nullptr);
  if (result == CUDA_SUCCESS) *out = id;
  return result;
}

CUresult GraphGetId(CUgraph graph, unsigned int* out) {
  return GiveId(graphkit_soft_shared()->graph_id, graph, out);
}

CUresult GraphExecGetId(CUgraphExec exec, unsigned int* out) {
  return GiveId(graphkit_soft_shared()->exec_id, exec, out);
}

CUresult GraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams* out) {
  const Lock lock = LockDevice();
  auto* node = Resolve<Node>(handle);
  if (node == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = std::visit([node](auto& params) { return Show(params, *node); }, node->params);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
