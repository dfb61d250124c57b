// Making execs of graphs, and the rules for it.
#include <algorithm>
#include <unordered_set>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/exec_memory.h"

namespace graphkit::soft::driver {
namespace {

constexpr unsigned long long kInstantiateFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

struct Outcome {
  CUresult error = CUDA_SUCCESS;
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  Node* node = nullptr;
};

bool IsUpdatable(const Node& node) {
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  return kernel != nullptr &&
         std::any_of((*kernel)->attributes.begin(), (*kernel)->attributes.end(),
                     [](const CUlaunchAttribute& a) {
                       return a.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE &&
                              a.value.deviceUpdatableKernelNode.deviceUpdatable != 0;
                     });
}

// Is this a graph of which only one exec may exist at a time?
bool IsSingle(const Graph& graph) {
  return graph.memory_nodes > 0 || graph.conditional_nodes > 0 ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node* node) { return node != nullptr && IsUpdatable(*node); });
}

Outcome CheckDevice(const Graph& graph) {
  if (Node* node = ForbiddenOnDevice(graph)) {
    return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node};
  }
  if (graph.live > 0) return {};
  return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
}

// The first body at any depth that holds a node which it can't; recorded by a capture.
Node* ForbiddenInside(const Graph& graph) {
  if (graph.conditional_nodes == 0) return nullptr;
  for (const Node* node : graph.nodes) {
    if (node == nullptr) continue;
    for (const Graph* inner : InnerGraphs(*node)) {
      const bool body = inner->kind == GraphKind::kBody;
      if (Node* found = body ? ForbiddenInBodies(*inner) : ForbiddenInside(*inner)) return found;
    }
  }
  return nullptr;
}

// A node of the graph, at any depth, that a cycle leads to; null: none. Edges may close a cycle.
Node* OnCycle(const Graph& graph) {
  if (!graph.ordered_by_index) {
    const std::vector<Node*> order = ExecutionOrder(graph);
    if (order.size() < graph.live) {
      const std::unordered_set<const Node*> ordered(order.begin(), order.end());
      return *std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node* node) {
        return node != nullptr && !ordered.contains(node);
      });
    }
  }
  for (const Node* node : graph.nodes) {
    if (node == nullptr) continue;
    for (const Graph* inner : InnerGraphs(*node)) {
      if (Node* found = OnCycle(*inner)) return found;
    }
  }
  return nullptr;
}

Outcome Check(CUgraphExec* out, const Graph* graph, unsigned long long flags) {
  const Outcome wrong{CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  const bool auto_free = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  const bool on_device = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  if (out == nullptr || graph == nullptr) return wrong;
  const Outcome not_supported{CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  if (graph->parent != nullptr) return not_supported;
  if (!IsEditable(graph)) return wrong;
  if ((flags & ~kInstantiateFlags) != 0 || (auto_free && on_device)) return wrong;
  if (Device::Get().captures.Uses(graph)) return wrong;
  if (graph->instances > 0 && IsSingle(*graph)) return not_supported;
  if (!AllHandlesUsed(*graph)) {
    return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr};
  }
  if (Node* node = OnCycle(*graph))
    return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, node};
  if (Node* node = ForbiddenInside(*graph)) {
    return {CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node};
  }
  return on_device ? CheckDevice(*graph) : Outcome{};
}

Outcome Instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  auto* graph = Resolve<Graph>(handle);
  const Outcome outcome = Check(out, graph, flags);
  if (outcome.error != CUDA_SUCCESS) return outcome;
  Context* context = CurrentContext();
  if (context == nullptr)
    return {CUDA_ERROR_INVALID_CONTEXT, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  if (CUresult error = CheckUnsafe(); error != CUDA_SUCCESS)
    return {error, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  GraphStore& graphs = Device::Get().graphs;
  Graph* exec = graphs.Instantiate(graph, flags, context->handle());
  if (!TakeExecMemory(exec, context->gpu)) {
    graphs.DestroyExec(exec);
    return {CUDA_ERROR_OUT_OF_MEMORY, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  }
  *out = exec->exec_handle();
  return outcome;
}

}  // namespace

CUresult GraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  const Lock lock = LockDevice();
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) return CUDA_ERROR_INVALID_VALUE;
  return Instantiate(out, graph, flags).error;
}

CUresult GraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log,
                             size_t log_bytes) {
  const Lock lock = LockDevice();
  const Outcome outcome = Instantiate(out, graph, 0);
  if (error_node != nullptr)
    *error_node = outcome.node != nullptr ? outcome.node->handle() : nullptr;
  if (log != nullptr && log_bytes > 0) *log = 0;
  return outcome.error;
}

CUresult GraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log,
                          size_t log_bytes) {
  return GraphInstantiate_v2(out, graph, error_node, log, log_bytes);
}

CUresult GraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                    CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock = LockDevice();
  const Outcome outcome = Instantiate(out, graph, params->flags);
  params->hErrNode_out = outcome.node != nullptr ? outcome.node->handle() : nullptr;
  params->result_out = outcome.result;
  const bool upload = (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
  if (outcome.error != CUDA_SUCCESS || !upload) return outcome.error;
  const CUresult uploaded = GraphUpload(*out, params->hUploadStream);
  if (uploaded == CUDA_SUCCESS) return uploaded;
  params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  Device::Get().graphs.DestroyExec(Resolve<Graph>(*out));
  *out = nullptr;
  Settle(lock);
  return uploaded;
}

}  // namespace graphkit::soft::driver
