// Making an exec like another graph of the same shape. Nodes are paired in order of creation, their
// dependencies in order of the edges; the documentation says "the order of the calls".
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"

namespace graphkit::soft::driver {
namespace {

constexpr CUgraphExecUpdateResult kSame = CU_GRAPH_EXEC_UPDATE_SUCCESS;

const CUlaunchAttribute* FindAttribute(const KernelParams& kernel, CUlaunchAttributeID id) {
  auto at = std::find_if(kernel.attributes.begin(), kernel.attributes.end(),
                         [id](const CUlaunchAttribute& a) { return a.id == id; });
  return at != kernel.attributes.end() ? &*at : nullptr;
}

int IntAttribute(const KernelParams& kernel, CUlaunchAttributeID id) {
  const CUlaunchAttribute* a = FindAttribute(kernel, id);
  if (a == nullptr) return 0;
  return id == CU_LAUNCH_ATTRIBUTE_PRIORITY ? a->value.priority : a->value.cooperative;
}

// The GPU that an operand was allocated on; null: it lies on the host. An update can't change it
// (cuda.h on cuGraphExecUpdate and cuGraphExecMemsetNodeSetParams).
const Gpu* PlaceOf(CUdeviceptr address) {
  Device& device = Device::Get();
  const auto block = device.FindAllocation(address);
  return block != device.allocations.end() && !IsOfHost(block->second) ? block->second.gpu
                                                                       : nullptr;
}

const Gpu* PlaceOf(CUmemorytype type, CUdeviceptr address, CUarray array_handle) {
  if (type == CU_MEMORYTYPE_HOST) return nullptr;
  if (type != CU_MEMORYTYPE_ARRAY) return PlaceOf(address);
  const auto* array = Resolve<Array>(array_handle);
  return array != nullptr ? PlaceOf(array->memory) : nullptr;
}

// Both parameters have the same type.
struct Comparer {
  const Graph& exec;
  const NodeParams& to;

  template <typename T>
  const T& Other(const T&) const {
    return std::get<T>(to);
  }

  CUgraphExecUpdateResult operator()(const std::unique_ptr<KernelParams>& from) const {
    const KernelParams& other = *Other(from);
    const auto updatable = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    const auto cooperative = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    const auto priority = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    if (FindAttribute(*from, updatable) != nullptr || FindAttribute(other, updatable) != nullptr)
      return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (from->context != other.context)
      return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    const bool ordered = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    const bool same = IntAttribute(*from, cooperative) == IntAttribute(other, cooperative) &&
                      (!ordered || IntAttribute(*from, priority) == IntAttribute(other, priority));
    return same ? kSame : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<MemcpyParams>& from) const {
    const CUDA_MEMCPY3D& a = from->copy;
    const CUDA_MEMCPY3D& b = Other(from)->copy;
    return Changed(PlaceOf(a.srcMemoryType, a.srcDevice, a.srcArray) !=
                       PlaceOf(b.srcMemoryType, b.srcDevice, b.srcArray) ||
                   PlaceOf(a.dstMemoryType, a.dstDevice, a.dstArray) !=
                       PlaceOf(b.dstMemoryType, b.dstDevice, b.dstArray));
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<MemsetParams>& from) const {
    const CUDA_MEMSET_NODE_PARAMS& a = from->set;
    const CUDA_MEMSET_NODE_PARAMS& b = Other(from)->set;
    const bool flat = a.height <= 1 && b.height <= 1;
    return Changed(PlaceOf(a.dst) != PlaceOf(b.dst) ||
                   (!flat && (a.width != b.width || a.height != b.height || a.pitch != b.pitch ||
                              a.elementSize != b.elementSize)));
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<MemAllocParams>& from) const {
    return Changed(from->params.bytesize != Other(from)->params.bytesize);
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<SignalParams>& from) const {
    return Changed(from->semaphores.size() != Other(from)->semaphores.size());
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<WaitParams>& from) const {
    return Changed(from->semaphores.size() != Other(from)->semaphores.size());
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<BatchParams>& from) const {
    const BatchParams& other = *Other(from);
    return Changed(
        from->context != other.context ||
        !std::equal(from->operations.begin(), from->operations.end(), other.operations.begin(),
                    other.operations.end(),
                    [](const auto& a, const auto& b) { return a.operation == b.operation; }));
  }
  CUgraphExecUpdateResult operator()(const std::unique_ptr<ConditionalParams>& from) const {
    const ConditionalParams& other = *Other(from);
    return Changed(from->kind != other.kind || from->bodies.size() != other.bodies.size());
  }
  template <typename T>
  CUgraphExecUpdateResult operator()(const T&) const {
    return kSame;
  }

  static CUgraphExecUpdateResult Changed(bool changed) {
    return changed ? CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED : kSame;
  }
};

// The live nodes of a graph in order; their marks become their places.
std::vector<Node*> Number(const Graph& graph) {
  std::vector<Node*> nodes;
  nodes.reserve(graph.live);
  for (Node* node : graph.nodes) {
    if (node == nullptr) continue;
    node->mark = static_cast<uint32_t>(nodes.size());
    nodes.push_back(node);
  }
  return nodes;
}

void Unnumber(const std::vector<Node*>& nodes) {
  for (Node* node : nodes) node->mark = 0;
}

CUgraphExecUpdateResultInfo Wrong(CUgraphExecUpdateResult result, Node* node,
                                  Node* from = nullptr) {
  return {result, node != nullptr ? node->handle() : nullptr,
          from != nullptr ? from->handle() : nullptr};
}

// A node without dependents, where the graph has more of them than the exec; null: it hasn't.
Node* NewExit(const Graph& into, const std::vector<Node*>& nodes) {
  const auto is_exit = [](const Node* node) { return node->out.empty(); };
  const auto exits = std::count_if(into.nodes.begin(), into.nodes.end(), is_exit);
  if (std::count_if(nodes.begin(), nodes.end(), is_exit) <= exits) return nullptr;
  return *std::find_if(nodes.rbegin(), nodes.rend(), is_exit);
}

// One node of the exec (its position is its place) and the one that it is to be like.
CUgraphExecUpdateResultInfo CheckPair(const Graph& exec, const Node& into, Node* from) {
  if (into.in.size() != from->in.size())
    return Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, from);
  for (size_t i = 0; i < into.in.size(); ++i) {
    const Edge& edge = from->in[i];
    if (edge.node->mark != into.in[i].node->position || !(edge.data == into.in[i].data))
      return Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, from, edge.node);
  }
  if (into.type != from->type) return Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, from);
  const CUgraphExecUpdateResult change = CheckChange(exec, into, from->params);
  if (change != kSame) return Wrong(change, from);
  const auto inner_into = InnerGraphs(into);
  const auto inner_from = InnerGraphs(*from);
  for (size_t i = 0; i < inner_into.size(); ++i) {
    const CUgraphExecUpdateResultInfo info = CheckUpdate(exec, *inner_into[i], *inner_from[i]);
    if (info.result != kSame) return info;
  }
  return {kSame, nullptr, nullptr};
}

NodeParams UpdatedParams(const Node& into, const Node& from) {
  NodeParams params = CopyParams(from.params);
  if (const auto* child = std::get_if<ChildParams>(&into.params)) return *child;
  if (auto* conditional = std::get_if<std::unique_ptr<ConditionalParams>>(&params))
    **conditional = *std::get<std::unique_ptr<ConditionalParams>>(into.params);
  return params;
}

}  // namespace

CUgraphExecUpdateResult CheckChange(const Graph& exec, const Node& node, const NodeParams& to) {
  return std::visit(Comparer{exec, to}, node.params);
}

CUgraphExecUpdateResultInfo CheckUpdate(const Graph& exec, const Graph& into, const Graph& from) {
  const std::vector<Node*> nodes = Number(from);
  CUgraphExecUpdateResultInfo info{kSame, nullptr, nullptr};
  if (nodes.size() != into.nodes.size() || into.handles.size() != from.handles.size())
    info = Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  else if (Node* exit = NewExit(into, nodes); exit != nullptr)
    info = Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, exit);
  for (size_t i = 0; i < nodes.size() && info.result == kSame; ++i)
    info = CheckPair(exec, *into.nodes[i], nodes[i]);
  Unnumber(nodes);
  return info;
}

void ApplyUpdate(Graph* exec, Graph* into, const Graph& from) {
  size_t i = 0;
  for (Node* node : from.nodes) {
    if (node == nullptr) continue;
    Node* target = into->nodes[i++];
    Device::Get().graphs.SetExecParams(exec, target, node, UpdatedParams(*target, *node),
                                       CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
    const auto inner = InnerGraphs(*target);
    for (size_t k = 0; k < inner.size(); ++k) ApplyUpdate(exec, inner[k], *InnerGraphs(*node)[k]);
  }
  Device::Get().graphs.ReplaceObjects(into, from);
  for (size_t k = 0; k < into->handles.size(); ++k) into->handles[k].value = from.handles[k].value;
}

CUresult GraphExecUpdate_v2(CUgraphExec exec_handle, CUgraph graph_handle,
                            CUgraphExecUpdateResultInfo* info) {
  Lock lock = LockDevice();
  Graph* exec = FindExec(exec_handle);
  const auto* graph = Resolve<Graph>(graph_handle);
  if (info != nullptr) *info = Wrong(CU_GRAPH_EXEC_UPDATE_ERROR, nullptr);
  if (exec == nullptr || graph == nullptr || graph->kind != GraphKind::kUser || info == nullptr ||
      Device::Get().captures.Uses(graph)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Memory nodes belong to one exec at a time.
  const bool elsewhere = graph->memory_nodes > 0 && graph->instances > 0 && exec->source != graph;
  *info = elsewhere ? Wrong(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, nullptr)
                    : CheckUpdate(*exec, *exec, *graph);
  if (info->result != kSame) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  ApplyUpdate(exec, exec, *graph);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                         CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult code = GraphExecUpdate_v2(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return code;
}

}  // namespace graphkit::soft::driver
