// Questions about graphs and nodes, and graphs as DOT.
#include <algorithm>
#include <fstream>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph/graph_edges.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/model/graph_dot.h"

namespace graphkit::soft::driver {
namespace {

template <typename Wanted>
CUresult WriteNodes(CUgraph handle, CUgraphNode* out, size_t* count, Wanted&& wanted) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  size_t found = 0;
  for (Node* node : graph->nodes) {
    if (node == nullptr || !wanted(*node)) continue;
    if (out != nullptr && found < *count) out[found] = node->handle();
    ++found;
  }
  for (size_t i = found; out != nullptr && i < *count; ++i) out[i] = nullptr;
  *count = out != nullptr ? std::min(found, *count) : found;
  return CUDA_SUCCESS;
}

// The parameters of a node of the type that holds T, or null.
template <typename T>
T* ParamsOf(CUgraphNode handle) {
  auto* node = Resolve<Node>(handle);
  return node != nullptr ? std::get_if<T>(&node->params) : nullptr;
}

// Fills `out` with `show` of the parameters of a node of the type that holds T.
template <typename T, typename Out, typename Show>
CUresult Give(CUgraphNode handle, Out* out, Show&& show) {
  const Lock lock = LockDevice();
  T* found = ParamsOf<T>(handle);
  if (found == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = show(*found);
  return CUDA_SUCCESS;
}

template <typename Out>
auto ShowSemaphores(const Out*) {
  return [](auto& p) {
    return Out{p->semaphores.data(), p->values.data(), static_cast<unsigned>(p->semaphores.size())};
  };
}

CUresult Edges(CUgraphNode handle, bool in, CUgraphNode* nodes, CUgraphEdgeData* data,
               size_t* count) {
  const Lock lock = LockDevice();
  auto* node = Resolve<Node>(handle);
  return node != nullptr ? WriteEdges(in ? node->in : node->out, nodes, data, count)
                         : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult GraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return WriteNodes(graph, nodes, count, [](const Node&) { return true; });
}

CUresult GraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return WriteNodes(graph, nodes, count, [](const Node& n) { return n.in.empty(); });
}

CUresult GraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                          size_t* count) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  size_t found = 0;
  bool lossy = false;
  for (Node* node : graph->nodes) {
    if (node == nullptr) continue;
    for (const Edge& e : node->out) {
      lossy |= !IsFull(e.data);
      if (from != nullptr && found < *count) {
        from[found] = node->handle();
        to[found] = e.node->handle();
        if (data != nullptr) data[found] = e.data;
      }
      ++found;
    }
  }
  if (from != nullptr && data == nullptr && lossy) return CUDA_ERROR_LOSSY_QUERY;
  for (size_t i = found; from != nullptr && i < *count; ++i) from[i] = to[i] = nullptr;
  *count = from != nullptr ? std::min(found, *count) : found;
  return CUDA_SUCCESS;
}

CUresult GraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return GraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult GraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                     size_t* count) {
  return Edges(node, true, nodes, data, count);
}
CUresult GraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return Edges(node, true, nodes, nullptr, count);
}
CUresult GraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  return Edges(node, false, nodes, data, count);
}
CUresult GraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return Edges(node, false, nodes, nullptr, count);
}

CUresult GraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  const Lock lock = LockDevice();
  auto* node = Resolve<Node>(handle);
  if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  const Lock lock = LockDevice();
  auto* found = ParamsOf<std::unique_ptr<KernelParams>>(handle);
  if (found == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  KernelParams& p = **found;
  const LaunchShape& s = p.shape;
  *out = {};
  out->func = p.function->handle();
  out->kern = p.function->module->library ? p.function->kernel_handle() : nullptr;
  out->ctx = p.context;
  out->gridDimX = s.grid[0];
  out->gridDimY = s.grid[1];
  out->gridDimZ = s.grid[2];
  out->blockDimX = s.block[0];
  out->blockDimY = s.block[1];
  out->blockDimZ = s.block[2];
  out->sharedMemBytes = s.shared_bytes;
  out->kernelParams = ArgumentPointers(*p.function, p.arguments);
  if (p.arguments.as_buffer) out->extra = BufferPointers(p.arguments);
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  CUDA_KERNEL_NODE_PARAMS p;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const CUresult result = GraphKernelNodeGetParams_v2(handle, &p);
  if (result != CUDA_SUCCESS) return result;
  const KernelParams& kernel = **ParamsOf<std::unique_ptr<KernelParams>>(handle);
  *out = {kernel.function->handle(),
          p.gridDimX,
          p.gridDimY,
          p.gridDimZ,
          p.blockDimX,
          p.blockDimY,
          p.blockDimZ,
          p.sharedMemBytes,
          p.kernelParams,
          p.extra};
  return CUDA_SUCCESS;
}

CUresult GraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* out) {
  return Give<std::unique_ptr<MemcpyParams>>(handle, out, [](auto& p) { return p->copy; });
}

CUresult GraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* out) {
  return Give<std::unique_ptr<MemsetParams>>(handle, out, [](auto& p) { return p->set; });
}

CUresult GraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* out) {
  return Give<HostParams>(handle, out, [](auto& p) {
    return CUDA_HOST_NODE_PARAMS{p.function, p.user_data};
  });
}

CUresult GraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
  return Give<ChildParams>(handle, out, [](auto& p) { return p.graph->handle(); });
}

CUresult GraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return Give<std::unique_ptr<MemAllocParams>>(handle, out, [](auto& p) { return p->params; });
}

CUresult GraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* out) {
  return Give<MemFreeParams>(handle, out, [](auto& p) { return p.address; });
}

namespace {

CUresult GiveEvent(CUgraphNode handle, CUgraphNodeType type, CUevent* out) {
  const Lock lock = LockDevice();
  auto* found = ParamsOf<EventParams>(handle);
  if (found == nullptr || out == nullptr || Resolve<Node>(handle)->type != type)
    return CUDA_ERROR_INVALID_VALUE;
  *out = found->event->handle();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult GraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* out) {
  return GiveEvent(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out);
}
CUresult GraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* out) {
  return GiveEvent(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out);
}

CUresult GraphExternalSemaphoresSignalNodeGetParams(CUgraphNode handle,
                                                    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* out) {
  return Give<std::unique_ptr<SignalParams>>(handle, out, ShowSemaphores(out));
}

CUresult GraphExternalSemaphoresWaitNodeGetParams(CUgraphNode handle,
                                                  CUDA_EXT_SEM_WAIT_NODE_PARAMS* out) {
  return Give<std::unique_ptr<WaitParams>>(handle, out, ShowSemaphores(out));
}

CUresult GraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return Give<std::unique_ptr<BatchParams>>(handle, out, [](auto& p) {
    const auto count = static_cast<unsigned>(p->operations.size());
    return CUDA_BATCH_MEM_OP_NODE_PARAMS{p->context, count, p->operations.data(), p->flags};
  });
}

CUresult GraphDebugDotPrint(CUgraph handle, const char* path, unsigned int flags) {
  constexpr unsigned kFlags = (CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS << 1) - 1;
  const Lock lock = LockDevice();
  const auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || path == nullptr || (flags & ~kFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::ofstream file(path);
  file << DotText(*graph, flags);
  file.close();
  return file ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace graphkit::soft::driver
