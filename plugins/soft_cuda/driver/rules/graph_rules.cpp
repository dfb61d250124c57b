#include "plugins/soft_cuda/driver/rules/graph_rules.h"

#include <algorithm>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {
namespace {

// The first node, at any depth, whose type isn't allowed.
template <typename Allowed>
Node* FirstOther(const Graph& graph, Allowed allowed) {
  for (Node* node : graph.nodes) {
    if (node == nullptr) continue;
    if (!allowed(node->type)) return node;
    for (const Graph* inner : InnerGraphs(*node)) {
      if (Node* found = FirstOther(*inner, allowed)) return found;
    }
  }
  return nullptr;
}

}  // namespace

bool IsEditable(const Graph* graph) {
  return graph != nullptr && graph->kind != GraphKind::kExec &&
         Root(graph)->kind != GraphKind::kExec;
}

bool InBody(const Graph& graph) {
  if (graph.kind == GraphKind::kBody) return true;
  return graph.parent != nullptr && InBody(*graph.parent->graph);
}

bool IsBodyType(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY ||
         type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_MEMSET ||
         type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

bool CanHaveBodies(CUgraphConditionalNodeType type, unsigned count) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return count == 1 || count == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return count == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return count > 0;
    default:
      return false;
  }
}

CUresult CheckChild(const Graph* child, const Graph& parent, bool move) {
  if (!IsEditable(child) || Device::Get().captures.Uses(child)) return CUDA_ERROR_INVALID_VALUE;
  if (child->kind == GraphKind::kChild) return CUDA_ERROR_NOT_SUPPORTED;  // it has a parent
  if (child->conditional_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!move) return child->memory_nodes == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  const bool own = child->kind == GraphKind::kUser && child != Root(&parent);
  return own && child->instances == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Node* ForbiddenInBodies(const Graph& graph) { return FirstOther(graph, IsBodyType); }

Node* ForbiddenOnDevice(const Graph& graph) {
  return FirstOther(graph, [](CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH;
  });
}

bool AllHandlesUsed(const Graph& graph) {
  const bool own = std::all_of(graph.handles.begin(), graph.handles.end(),
                               [](const ConditionalHandle& h) { return h.used; });
  return own && std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const Node* node) {
           if (node == nullptr) return true;
           const auto inner = InnerGraphs(*node);
           return std::all_of(inner.begin(), inner.end(),
                              [](const Graph* g) { return AllHandlesUsed(*g); });
         });
}

}  // namespace graphkit::soft::driver
