#include "plugins/soft_cuda/driver/graph/graph_edges.h"

#include <algorithm>

namespace graphkit::soft::driver {

bool IsPossible(const Node& from, const CUgraphEdgeData& data) {
  if (data.to_port != 0) return false;
  for (const auto& byte : data.reserved) {
    if (byte != 0) return false;
  }
  const bool kernel = from.type == CU_GRAPH_NODE_TYPE_KERNEL;
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
    return kernel && (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                      data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
  }
  if (data.type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) return false;
  return data.from_port == 0 ||
         (kernel && data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
}

bool ReadDependencies(Graph* graph, const CUgraphNode* nodes, const CUgraphEdgeData* data,
                      size_t count, std::vector<Edge>* edges) {
  if (count > 0 && nodes == nullptr) return false;
  edges->reserve(count);
  for (size_t i = 0; i < count; ++i) {
    auto* node = Resolve<Node>(nodes[i]);
    const CUgraphEdgeData edge_data = data != nullptr ? data[i] : CUgraphEdgeData{};
    if (node == nullptr || node->graph != graph || !IsPossible(*node, edge_data)) return false;
    if (std::any_of(edges->begin(), edges->end(), [&](const Edge& e) { return e.node == node; }))
      return false;
    edges->push_back({node, edge_data});
  }
  return true;
}

bool AllFull(std::span<const Edge> edges) {
  return std::all_of(edges.begin(), edges.end(), [](const Edge& e) { return IsFull(e.data); });
}

CUresult WriteEdges(std::span<const Edge> edges, CUgraphNode* nodes, CUgraphEdgeData* data,
                    size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (nodes == nullptr) {
    if (data != nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  if (data == nullptr && !AllFull(edges)) return CUDA_ERROR_LOSSY_QUERY;
  for (size_t i = 0; i < *count; ++i) {
    nodes[i] = i < edges.size() ? edges[i].node->handle() : nullptr;
    if (data != nullptr) data[i] = i < edges.size() ? edges[i].data : CUgraphEdgeData{};
  }
  *count = std::min(*count, edges.size());
  return CUDA_SUCCESS;
}

void ShowDependencies(Stream* stream, const CUgraphNode** nodes, const CUgraphEdgeData** data,
                      size_t* count) {
  stream->shown_nodes.clear();
  stream->shown_data.clear();
  for (const Edge& e : stream->dependencies) {
    stream->shown_nodes.push_back(e.node->handle());
    stream->shown_data.push_back(e.data);
  }
  if (nodes != nullptr) *nodes = stream->shown_nodes.data();
  if (data != nullptr) *data = stream->shown_data.data();
  if (count != nullptr) *count = stream->shown_nodes.size();
}

}  // namespace graphkit::soft::driver
