// Graphs made by explicit calls.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph/graph_edges.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/rules/memory_place.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/graph_memory.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"

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

// True if the graph can hold a node of the type. A child graph can't hold conditional nodes.
bool Allows(const Graph& graph, CUgraphNodeType type) {
  if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) return graph.kind != GraphKind::kChild;
  const bool memory = type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
  return !(memory && graph.moved);
}

CUresult Prepare(const Place& place, CUgraphNodeType type, Prepared* out) {
  out->graph = Resolve<Graph>(place.graph);
  if (place.out == nullptr || !IsEditable(out->graph)) return CUDA_ERROR_INVALID_VALUE;
  if (!Allows(*out->graph, type)) return CUDA_ERROR_NOT_SUPPORTED;
  const bool read =
      ReadDependencies(out->graph, place.dependencies, place.data, place.count, &out->edges);
  return read ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Node* Make(const Place& place, const Prepared& prepared, CUgraphNodeType type, NodeParams params) {
  Node* node =
      Device::Get().graphs.AddNode(prepared.graph, type, std::move(params), prepared.edges);
  *place.out = node->handle();
  return node;
}

// Adds a node whose parameters are all read before.
CUresult AddRead(const Place& place, const CUgraphNodeParams& p) {
  Prepared prepared;
  if (CUresult error = Prepare(place, p.type, &prepared); error != CUDA_SUCCESS) return error;
  NodeParams params;
  if (CUresult error = ReadParams(p, &params); error != CUDA_SUCCESS) return error;
  Make(place, prepared, p.type, std::move(params));
  return CUDA_SUCCESS;
}

// The same from the parameters of its type.
template <typename Params, typename... Context>
CUresult AddFrom(const Place& place, const Params* p, Context... context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  return AddRead(place, AnyParams(*p, context...));
}

// Of peers, at most one for each device.
bool AreAccesses(const CUmemAccessDesc* accesses, size_t count) {
  if (count == 0) return true;
  if (accesses == nullptr || count > Device::Get().gpus.size()) return false;
  return std::all_of(accesses, accesses + count, [](const CUmemAccessDesc& access) {
    return access.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           Device::Get().IsGpu(access.location.id);
  });
}

CUresult AddMemAlloc(const Place& place, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  Prepared prepared;
  const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  if (CUresult error = Prepare(place, type, &prepared); error != CUDA_SUCCESS) return error;
  const CUmemPoolProps& pool = params->poolProps;
  if (params->bytesize == 0 || CheckPoolPlace(pool.location, pool.allocType) != CUDA_SUCCESS ||
      pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      !AreAccesses(params->accessDescs, params->accessDescCount)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (CUresult error = PlaceGraphAllocation(prepared.graph, prepared.edges, *params);
      error != CUDA_SUCCESS) {
    return error;
  }
  auto node = std::make_unique<MemAllocParams>();
  node->params = *params;
  node->access.assign(params->accessDescs, params->accessDescs + params->accessDescCount);
  node->params.accessDescs = node->access.empty() ? nullptr : node->access.data();
  Make(place, prepared, type, std::move(node));
  return CUDA_SUCCESS;
}

CUresult AddMemFree(const Place& place, CUdeviceptr address) {
  Prepared prepared;
  const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  if (CUresult error = Prepare(place, type, &prepared); error != CUDA_SUCCESS) return error;
  if (!CanFreeInGraph(*prepared.graph, address)) return CUDA_ERROR_INVALID_VALUE;
  const Node* node = Make(place, prepared, type, MemFreeParams{address});
  prepared.graph->addresses.Free(address, node);
  return CUDA_SUCCESS;
}

CUresult AddChild(const Place& place, CUgraph handle, CUgraphChildGraphNodeOwnership ownership) {
  const bool move = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  auto* child = Resolve<Graph>(handle);
  Prepared prepared;
  if (CUresult error = Prepare(place, CU_GRAPH_NODE_TYPE_GRAPH, &prepared); error != CUDA_SUCCESS)
    return error;
  if (CUresult error = CheckChild(child, *prepared.graph, move); error != CUDA_SUCCESS)
    return error;
  GraphStore& graphs = Device::Get().graphs;
  Node* node = graphs.BeginNode(prepared.graph, CU_GRAPH_NODE_TYPE_GRAPH, prepared.edges);
  Graph* body = move ? child : graphs.Clone(child, GraphKind::kChild);
  body->moved = move;
  graphs.EndNode(node, ChildParams{body});
  graphs.Adopt(node, body, GraphKind::kChild);
  *place.out = node->handle();
  return CUDA_SUCCESS;
}

bool ReservedAreZero(const CUgraphNodeParams& p) {
  const auto zero = [](int value) { return value == 0; };
  if (!std::all_of(std::begin(p.reserved0), std::end(p.reserved0), zero) || p.reserved2 != 0)
    return false;
  return p.type != CU_GRAPH_NODE_TYPE_MEMCPY || (p.memcpy.flags == 0 && p.memcpy.reserved == 0);
}

CUresult AddConditional(const Place& place, CUDA_CONDITIONAL_NODE_PARAMS* params) {
  Prepared prepared;
  const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  if (CUresult error = Prepare(place, type, &prepared); error != CUDA_SUCCESS) return error;
  ConditionalHandle* handle = FindHandle(prepared.graph, params->handle);
  if (handle == nullptr || handle->used || !CanHaveBodies(params->type, params->size))
    return CUDA_ERROR_INVALID_VALUE;
  handle->used = true;
  GraphStore& graphs = Device::Get().graphs;
  Node* node = graphs.BeginNode(prepared.graph, type, prepared.edges);
  auto owned =
      std::make_unique<ConditionalParams>(ConditionalParams{params->handle, params->type, {}, {}});
  for (unsigned i = 0; i < params->size; ++i) {
    owned->bodies.push_back(graphs.MakeGraph(GraphKind::kBody));
    owned->shown.push_back(owned->bodies.back()->handle());
  }
  params->phGraph_out = owned->shown.data();
  graphs.EndNode(node, std::move(owned));
  for (Graph* body : InnerGraphs(*node)) graphs.Adopt(node, body, GraphKind::kBody);
  *place.out = node->handle();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult GraphCreate(CUgraph* out, unsigned int flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  *out = Device::Get().graphs.MakeGraph(GraphKind::kUser)->handle();
  return CUDA_SUCCESS;
}

CUresult GraphDestroy(CUgraph handle) {
  Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || graph->kind != GraphKind::kUser || Device::Get().captures.Uses(graph))
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.DestroyGraph(graph);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                               size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                            const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                            const CUDA_MEMCPY3D* copy, CUcontext context) {
  return AddFrom({out, graph, deps, nullptr, count}, copy, context);
}

CUresult GraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                            const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  return AddFrom({out, graph, deps, nullptr, count}, set, context);
}

CUresult GraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                          const CUDA_HOST_NODE_PARAMS* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count) {
  CUgraphNodeParams empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  const Lock lock = LockDevice();
  return AddRead({out, graph, deps, nullptr, count}, empty);
}

CUresult GraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                                size_t count, CUgraph child) {
  const Lock lock = LockDevice();
  return AddChild({out, graph, deps, nullptr, count}, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
}

CUresult GraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                                 size_t count, CUevent event) {
  const Lock lock = LockDevice();
  return AddRead({out, graph, deps, nullptr, count}, EventRecordParams(event));
}

CUresult GraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                               size_t count, CUevent event) {
  const Lock lock = LockDevice();
  return AddRead({out, graph, deps, nullptr, count}, EventWaitParams(event));
}

CUresult GraphAddExternalSemaphoresSignalNode(CUgraphNode* out, CUgraph graph,
                                              const CUgraphNode* deps, size_t count,
                                              const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddExternalSemaphoresWaitNode(CUgraphNode* out, CUgraph graph,
                                            const CUgraphNode* deps, size_t count,
                                            const CUDA_EXT_SEM_WAIT_NODE_PARAMS* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
}

CUresult GraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps,
                                size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return AddFrom({out, graph, deps, nullptr, count}, p);
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
  if (p == nullptr || !ReservedAreZero(*p)) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const Place place{out, graph, deps, data, count};
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return AddChild(place, p->graph.graph, p->graph.ownership);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return AddConditional(place, &p->conditional);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return AddMemFree(place, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      const CUDA_MEM_ALLOC_NODE_PARAMS_v2& a = p->alloc;
      CUDA_MEM_ALLOC_NODE_PARAMS params{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize,
                                        0};
      const CUresult result = AddMemAlloc(place, &params);
      p->alloc.dptr = params.dptr;
      return result;
    }
    default:
      return AddRead(place, *p);
  }
}

CUresult GraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* deps, size_t count,
                      CUgraphNodeParams* p) {
  return GraphAddNode_v2(out, graph, deps, nullptr, count, p);
}

}  // namespace graphkit::soft::driver
