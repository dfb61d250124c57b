// Edges between nodes that exist, and the removal of nodes and edges.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph/graph_edges.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"

namespace graphkit::soft::driver {

CUresult GraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                 const CUgraphEdgeData* data, size_t count) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (!IsEditable(graph) || (count > 0 && (from == nullptr || to == nullptr)))
    return CUDA_ERROR_INVALID_VALUE;
  const auto edge = [data](size_t i) { return data != nullptr ? data[i] : CUgraphEdgeData{}; };
  for (size_t i = 0; i < count; ++i) {
    auto* a = Resolve<Node>(from[i]);
    auto* b = Resolve<Node>(to[i]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph)
      return CUDA_ERROR_INVALID_VALUE;
    if (!IsPossible(*a, edge(i))) return CUDA_ERROR_INVALID_VALUE;
  }
  GraphStore& graphs = Device::Get().graphs;
  for (size_t i = 0; i < count; ++i) {
    const CUresult error = graphs.AddEdge(Resolve<Node>(from[i]), Resolve<Node>(to[i]), edge(i));
    if (error == CUDA_SUCCESS) continue;
    while (i-- > 0) graphs.RemoveEdge(Resolve<Node>(from[i]), Resolve<Node>(to[i]));
    return error;  // all of the list or nothing
  }
  return CUDA_SUCCESS;
}

CUresult GraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                              size_t count) {
  return GraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult GraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                    const CUgraphEdgeData*, size_t count) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (!IsEditable(graph)) return CUDA_ERROR_INVALID_VALUE;
  if (graph->memory_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (count > 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    auto* a = Resolve<Node>(from[i]);
    auto* b = Resolve<Node>(to[i]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph)
      return CUDA_ERROR_INVALID_VALUE;
    // Two nodes have at most one edge: its data isn't looked at, by others' measurement.
    const CUresult error = Device::Get().graphs.RemoveEdge(a, b);
    if (error != CUDA_SUCCESS) return error;
    Device::Get().captures.CutOff(a);
  }
  return CUDA_SUCCESS;
}

CUresult GraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                 size_t count) {
  return GraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult GraphDestroyNode(CUgraphNode handle) {
  Lock lock = LockDevice();
  auto* node = Resolve<Node>(handle);
  if (node == nullptr || node->graph->kind == GraphKind::kExec) return CUDA_ERROR_INVALID_VALUE;
  if (node->graph->memory_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  // While a capture goes on no node can be removed.
  const Captures& captures = Device::Get().captures;
  const auto inner = InnerGraphs(*node);
  const bool captured = node->graph->capturing ||
                        std::any_of(inner.begin(), inner.end(),
                                    [&](const Graph* graph) { return captures.Uses(graph); });
  if (captured) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.DestroyNode(node);
  Settle(lock);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
