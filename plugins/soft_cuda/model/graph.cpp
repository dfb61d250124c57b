#include "plugins/soft_cuda/model/graph.h"

#include <algorithm>
#include <utility>

namespace graphkit::soft {

Graph* GraphStore::MakeGraph(GraphKind kind) {
  Graph* graph = graphs_.Make();
  graph->kind = kind;
  graph->id = ++graph_count_;
  Tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = graph->handle()});
  return graph;
}

void GraphStore::DestroyGraph(Graph* graph) {
  Tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = graph->handle()});
  ReleaseNodes(graph);
  graphs_.Unmake(graph);
}

Node* GraphStore::MakeNode(Graph* graph, CUgraphNodeType type) {
  Node* node = nodes_.Make();
  node->type = type;
  node->graph = graph;
  node->index = graph->next_index++;
  node->position = static_cast<uint32_t>(graph->nodes.size());
  graph->nodes.push_back(node);
  ++graph->live;
  if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    ++graph->memory_nodes;
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
       {.graph = graph->handle(), .node = node->handle(), .type = type});
  return node;
}

Node* GraphStore::AddNode(Graph* graph, CUgraphNodeType type, NodeParams params,
                          std::span<const Edge> dependencies) {
  Node* node = MakeNode(graph, type);
  node->params = std::move(params);
  node->in.reserve(dependencies.size());
  for (const Edge& edge : dependencies) Link(edge.node, node, edge.data);
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {.graph = graph->handle(), .node = node->handle()});
  return node;
}

void GraphStore::Link(Node* from, Node* to, CUgraphEdgeData data) {
  from->out.push_back({to, data});
  to->in.push_back({from, data});
  if (from->index > to->index) to->graph->ordered_by_index = false;
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
       {.graph = to->graph->handle(), .node = to->handle(), .dependency = from->handle()});
}

CUresult GraphStore::AddEdge(Node* from, Node* to, CUgraphEdgeData data) {
  const bool known =
      std::any_of(to->in.begin(), to->in.end(), [&](const Edge& e) { return e.node == from; });
  const bool forward = to->graph->ordered_by_index && from->index < to->index;
  if (known || from == to || from->graph != to->graph || (!forward && Reaches(to, from))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Link(from, to, data);
  return CUDA_SUCCESS;
}

CUresult GraphStore::RemoveEdge(Node* from, Node* to, const CUgraphEdgeData* data) {
  auto other_end = [](Node* node) { return [node](const Edge& e) { return e.node == node; }; };
  auto in = std::find_if(to->in.begin(), to->in.end(), other_end(from));
  if (in == to->in.end() || (data != nullptr && !(in->data == *data)))
    return CUDA_ERROR_INVALID_VALUE;
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
       {.graph = to->graph->handle(), .node = to->handle(), .dependency = from->handle()});
  to->in.erase(in);
  from->out.erase(std::find_if(from->out.begin(), from->out.end(), other_end(to)));
  return CUDA_SUCCESS;
}

void GraphStore::DestroyNode(Node* node) {
  Graph* graph = node->graph;
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
       {.graph = graph->handle(), .node = node->handle()});
  auto is_node = [node](const Edge& e) { return e.node == node; };
  for (const Edge& e : node->in) std::erase_if(e.node->out, is_node);
  for (const Edge& e : node->out) std::erase_if(e.node->in, is_node);
  graph->nodes[node->position] = nullptr;
  --graph->live;
  ReleaseNode(node);
}

void GraphStore::ReleaseNode(Node* node) {
  if (auto* child = std::get_if<ChildParams>(&node->params);
      child != nullptr && child->graph != nullptr) {
    DestroyGraph(child->graph);
  }
  nodes_.Unmake(node);
}

}  // namespace graphkit::soft
