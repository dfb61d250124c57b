// Graphs made by explicit calls.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph_edges.h"
#include "plugins/soft_cuda/driver/graph_memory.h"
#include "plugins/soft_cuda/driver/launch_params.h"
#include "plugins/soft_cuda/driver/submit.h"

namespace graphkit::soft::driver {
namespace {

// Where a new node goes.
struct Place {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* dependencies;
  const CUgraphEdgeData* data;
  size_t count;
};

struct Prepared {
  Graph* graph = nullptr;
  std::vector<Edge> edges;
};

bool IsEditable(const Graph* graph) { return graph != nullptr && graph->kind != GraphKind::kExec; }

CUresult Prepare(const Place& place, Prepared* out) {
  out->graph = Resolve<Graph>(place.graph);
  if (place.out == nullptr || !IsEditable(out->graph)) return CUDA_ERROR_INVALID_VALUE;
  const bool read =
      ReadDependencies(out->graph, place.dependencies, place.data, place.count, &out->edges);
  return read ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult Add(const Place& place, CUgraphNodeType type, NodeParams params) {
  Prepared prepared;
  if (CUresult error = Prepare(place, &prepared); error != CUDA_SUCCESS) return error;
  *place.out = Device::Get()
                   .graphs.AddNode(prepared.graph, type, std::move(params), prepared.edges)
                   ->handle();
  return CUDA_SUCCESS;
}

CUcontext CurrentHandle() {
  Context* context = CurrentContext();
  return context != nullptr ? context->handle() : nullptr;
}

CUresult AddKernel(const Place& place, const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  auto* function = Resolve<Function>(p.func);
  if (function == nullptr) function = Resolve<Function>(p.kern);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto params = std::make_unique<KernelParams>();
  params->function = function;
  params->given_as_kernel = p.func == nullptr;
  params->context = p.ctx != nullptr ? p.ctx : CurrentHandle();
  params->shape = {{p.gridDimX, p.gridDimY, p.gridDimZ},
                   {p.blockDimX, p.blockDimY, p.blockDimZ},
                   p.sharedMemBytes};
  if (CUresult error = CheckShape(params->shape); error != CUDA_SUCCESS) return error;
  if (CUresult error = CopyArguments(*function, p.kernelParams, p.extra, &params->arguments);
      error != CUDA_SUCCESS) {
    return error;
  }
  return Add(place, CU_GRAPH_NODE_TYPE_KERNEL, std::move(params));
}

CUresult AddMemAlloc(const Place& place, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  Prepared prepared;
  if (CUresult error = Prepare(place, &prepared); error != CUDA_SUCCESS) return error;
  if (params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = PlaceGraphAllocation(prepared.graph, prepared.edges, *params);
      error != CUDA_SUCCESS) {
    return error;
  }
  Device& device = Device::Get();
  device.allocations.at(params->dptr).live = false;
  auto node = std::make_unique<MemAllocParams>();
  node->params = *params;
  node->access.assign(params->accessDescs, params->accessDescs + params->accessDescCount);
  node->params.accessDescs = node->access.empty() ? nullptr : node->access.data();
  *place.out =
      device.graphs
          .AddNode(prepared.graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC, std::move(node), prepared.edges)
          ->handle();
  return CUDA_SUCCESS;
}

CUresult AddMemFree(const Place& place, CUdeviceptr address) {
  Prepared prepared;
  if (CUresult error = Prepare(place, &prepared); error != CUDA_SUCCESS) return error;
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end() || block->second.kind != AllocationKind::kGraph) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (MemAllocParams* allocation = OpenAllocation(prepared.graph, address))
    allocation->freed_in_graph = true;
  *place.out = device.graphs
                   .AddNode(prepared.graph, CU_GRAPH_NODE_TYPE_MEM_FREE, MemFreeParams{address},
                            prepared.edges)
                   ->handle();
  return CUDA_SUCCESS;
}

CUresult AddChild(const Place& place, CUgraph handle) {
  auto* child = Resolve<Graph>(handle);
  if (!IsEditable(child) || child->memory_nodes > 0) return CUDA_ERROR_INVALID_VALUE;
  Prepared prepared;
  if (CUresult error = Prepare(place, &prepared); error != CUDA_SUCCESS) return error;
  GraphStore& graphs = Device::Get().graphs;
  Graph* body = graphs.Clone(child, GraphKind::kChild);
  Node* node =
      graphs.AddNode(prepared.graph, CU_GRAPH_NODE_TYPE_GRAPH, ChildParams{body}, prepared.edges);
  body->parent = node;
  *place.out = node->handle();
  return CUDA_SUCCESS;
}

CUresult AddEvent(const Place& place, CUgraphNodeType type, CUevent handle) {
  auto* event = Resolve<Event>(handle);
  return event != nullptr ? Add(place, type, EventParams{event}) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult AddMemset(const Place& place, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext context) {
  const bool element = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
  if (!element || p.dst % p.elementSize != 0) return CUDA_ERROR_INVALID_VALUE;
  return Add(place, CU_GRAPH_NODE_TYPE_MEMSET,
             std::make_unique<MemsetParams>(MemsetParams{p, context}));
}

CUresult AddMemcpy(const Place& place, CUDA_MEMCPY3D copy, CUcontext context) {
  if (copy.srcHeight == 0) copy.srcHeight = copy.Height;
  if (copy.dstHeight == 0) copy.dstHeight = copy.Height;
  if (copy.srcPitch == 0) copy.srcPitch = copy.WidthInBytes;
  if (copy.dstPitch == 0) copy.dstPitch = copy.WidthInBytes;
  return Add(place, CU_GRAPH_NODE_TYPE_MEMCPY,
             std::make_unique<MemcpyParams>(MemcpyParams{copy, context}));
}

}  // namespace

CUresult GraphCreate(CUgraph* out, unsigned int flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  *out = Device::Get().graphs.MakeGraph(GraphKind::kUser)->handle();
  return CUDA_SUCCESS;
}

CUresult GraphDestroy(CUgraph handle) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || graph->kind != GraphKind::kUser || graph->capturing)
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.DestroyGraph(graph);
  return CUDA_SUCCESS;
}

CUresult GraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                               size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return AddKernel({out, graph, deps, nullptr, count},
                   {p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY,
                    p->blockDimZ, p->sharedMemBytes, p->kernelParams, p->extra, p->kern, p->ctx});
}

CUresult GraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                            const CUDA_MEMCPY3D* copy, CUcontext context) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return AddMemcpy({out, graph, deps, nullptr, count}, *copy, context);
}

CUresult GraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                            const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  if (set == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return AddMemset({out, graph, deps, nullptr, count}, *set, context);
}

CUresult GraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                          const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr || p->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return Add({out, graph, deps, nullptr, count}, CU_GRAPH_NODE_TYPE_HOST,
             HostParams{p->fn, p->userData});
}

CUresult GraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count) {
  const Lock lock = LockDevice();
  return Add({out, graph, deps, nullptr, count}, CU_GRAPH_NODE_TYPE_EMPTY, std::monostate{});
}

CUresult GraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                                size_t count, CUgraph child) {
  const Lock lock = LockDevice();
  return AddChild({out, graph, deps, nullptr, count}, child);
}

CUresult GraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                                 size_t count, CUevent event) {
  const Lock lock = LockDevice();
  return AddEvent({out, graph, deps, nullptr, count}, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult GraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                               size_t count, CUevent event) {
  const Lock lock = LockDevice();
  return AddEvent({out, graph, deps, nullptr, count}, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult GraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                              size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return AddMemAlloc({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                             CUdeviceptr address) {
  const Lock lock = LockDevice();
  return AddMemFree({out, graph, deps, nullptr, count}, address);
}

CUresult GraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                         const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const Place place{out, graph, deps, data, count};
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return AddKernel(place, p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return AddMemcpy(place, p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS_v2& s = p->memset;
      return AddMemset(place, {s.dst, s.pitch, s.value, s.elementSize, s.width, s.height}, s.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      if (p->host.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return Add(place, CU_GRAPH_NODE_TYPE_HOST, HostParams{p->host.fn, p->host.userData});
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return AddChild(place, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return Add(place, CU_GRAPH_NODE_TYPE_EMPTY, std::monostate{});
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return AddEvent(place, p->type, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return AddEvent(place, p->type, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      const CUDA_MEM_ALLOC_NODE_PARAMS_v2& a = p->alloc;
      CUDA_MEM_ALLOC_NODE_PARAMS params{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize,
                                        0};
      const CUresult result = AddMemAlloc(place, &params);
      p->alloc.dptr = params.dptr;
      return result;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return AddMemFree(place, p->free.dptr);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult GraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                 const CUgraphEdgeData* data, size_t count) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (!IsEditable(graph) || (count > 0 && (from == nullptr || to == nullptr)))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    auto* a = Resolve<Node>(from[i]);
    auto* b = Resolve<Node>(to[i]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph)
      return CUDA_ERROR_INVALID_VALUE;
    const CUgraphEdgeData edge = data != nullptr ? data[i] : CUgraphEdgeData{};
    if (!IsPossible(*a, edge)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = Device::Get().graphs.AddEdge(a, b, edge); error != CUDA_SUCCESS)
      return error;
  }
  return CUDA_SUCCESS;
}

CUresult GraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                              size_t count) {
  return GraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult GraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                    const CUgraphEdgeData* data, size_t count) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (!IsEditable(graph) || graph->memory_nodes > 0) return CUDA_ERROR_INVALID_VALUE;
  if (count > 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    auto* a = Resolve<Node>(from[i]);
    auto* b = Resolve<Node>(to[i]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph)
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult error =
        Device::Get().graphs.RemoveEdge(a, b, data != nullptr ? &data[i] : nullptr);
    if (error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult GraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                 size_t count) {
  return GraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult GraphDestroyNode(CUgraphNode handle) {
  const Lock lock = LockDevice();
  auto* node = Resolve<Node>(handle);
  if (node == nullptr || node->graph->kind == GraphKind::kExec) return CUDA_ERROR_INVALID_VALUE;
  if (node->graph->memory_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  Device::Get().captures.Forget(node);
  Device::Get().graphs.DestroyNode(node);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
