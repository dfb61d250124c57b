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
  ReleaseObjects(graph);
  graphs_.Unmake(graph);
}

namespace {

bool IsMemory(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

// Counts nodes for a graph and for those around it.
void Count(Graph* graph, uint32_t memory, uint32_t conditional) {
  for (Graph* g = graph; g != nullptr; g = g->parent != nullptr ? g->parent->graph : nullptr) {
    g->memory_nodes += memory;
    g->conditional_nodes += conditional;
  }
}

}  // namespace

void GraphStore::Adopt(Node* node, Graph* body, GraphKind kind) {
  body->parent = node;
  body->kind = kind;
  Count(node->graph, body->memory_nodes, body->conditional_nodes);
}

void GraphStore::CountAddress(const Node& node) {
  if (const auto* p = std::get_if<std::unique_ptr<MemAllocParams>>(&node.params))
    ++address_count_[(*p)->params.dptr];
}

void GraphStore::DropAddress(const Node& node) {
  const auto* p = std::get_if<std::unique_ptr<MemAllocParams>>(&node.params);
  if (p == nullptr) return;
  auto count = address_count_.find((*p)->params.dptr);
  if (--count->second > 0) return;
  leftovers_.addresses.push_back(count->first);
  address_count_.erase(count);
}

Node* GraphStore::MakeNode(Graph* graph, CUgraphNodeType type) {
  Node* node = nodes_.Make();
  node->type = type;
  node->graph = graph;
  node->index = graph->next_index++;
  node->position = static_cast<uint32_t>(graph->nodes.size());
  graph->nodes.push_back(node);
  ++graph->live;
  if (IsMemory(type)) Count(graph, 1, 0);
  if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) Count(graph, 0, 1);
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
       {.graph = graph->handle(), .node = node->handle(), .type = type});
  return node;
}

Node* GraphStore::BeginNode(Graph* graph, CUgraphNodeType type,
                            std::span<const Edge> dependencies) {
  Node* node = MakeNode(graph, type);
  node->in.reserve(dependencies.size());
  for (const Edge& edge : dependencies) Link(edge.node, node, edge.data);
  return node;
}

void GraphStore::EndNode(Node* node, NodeParams params) {
  node->params = std::move(params);
  CountAddress(*node);
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
       {.graph = node->graph->handle(), .node = node->handle()});
}

Node* GraphStore::AddNode(Graph* graph, CUgraphNodeType type, NodeParams params,
                          std::span<const Edge> dependencies) {
  Node* node = BeginNode(graph, type, dependencies);
  EndNode(node, std::move(params));
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
  if (known || from == to || from->graph != to->graph) return CUDA_ERROR_INVALID_VALUE;
  Link(from, to, data);
  return CUDA_SUCCESS;
}

CUresult GraphStore::RemoveEdge(Node* from, Node* to) {
  auto other_end = [](Node* node) { return [node](const Edge& e) { return e.node == node; }; };
  auto in = std::find_if(to->in.begin(), to->in.end(), other_end(from));
  if (in == to->in.end()) return CUDA_ERROR_INVALID_VALUE;
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
       {.graph = to->graph->handle(), .node = to->handle(), .dependency = from->handle()});
  to->in.erase(in);
  from->out.erase(std::find_if(from->out.begin(), from->out.end(), other_end(to)));
  return CUDA_SUCCESS;
}

void GraphStore::TellRemoved(Node* node) const {
  const CUgraph graph = node->graph->handle();
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, {.graph = graph, .node = node->handle()});
  for (const Edge& e : node->out) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
         {.graph = graph, .node = e.node->handle(), .dependency = node->handle()});
  }
  for (const Edge& e : node->in) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
         {.graph = graph, .node = node->handle(), .dependency = e.node->handle()});
  }
}

void GraphStore::DestroyNode(Node* node) {
  Graph* graph = node->graph;
  TellRemoved(node);
  auto is_node = [node](const Edge& e) { return e.node == node; };
  for (const Edge& e : node->in) std::erase_if(e.node->out, is_node);
  for (const Edge& e : node->out) std::erase_if(e.node->in, is_node);
  graph->nodes[node->position] = nullptr;
  --graph->live;
  uint32_t conditional = node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? 1 : 0;
  for (const Graph* inner : InnerGraphs(*node)) conditional += inner->conditional_nodes;
  Count(graph, 0, -conditional);
  ReleaseNode(node);
}

void GraphStore::DestroyInside(Graph* graph) {
  Count(graph, -graph->memory_nodes, -graph->conditional_nodes);
  Graph* empty = graphs_.Make();
  empty->kind = graph->kind;
  empty->parent = graph->parent;
  NodeParams& params = graph->parent->params;
  if (auto* child = std::get_if<ChildParams>(&params)) {
    child->graph = empty;
  } else {
    auto& bodies = std::get<std::unique_ptr<ConditionalParams>>(params)->bodies;
    std::replace(bodies.begin(), bodies.end(), graph, empty);
  }
  DestroyGraph(graph);
}

void GraphStore::ReleaseNode(Node* node) {
  DropAddress(*node);
  if (const auto* p = std::get_if<std::unique_ptr<ConditionalParams>>(&node->params)) {
    if (ConditionalHandle* handle = FindHandle(node->graph, (*p)->handle)) handle->used = false;
  }
  for (Graph* inner : InnerGraphs(*node)) DestroyGraph(inner);
  nodes_.Unmake(node);
}

UserObject* GraphStore::MakeObject(void* pointer, CUhostFn destroy, uint64_t references) {
  UserObject* object = objects_.Make();
  object->pointer = pointer;
  object->destroy = destroy;
  object->references = references;
  return object;
}

void GraphStore::Release(UserObject* object, uint64_t count) {
  object->references -= count;
  if (object->references > 0) return;
  leftovers_.destructors.push_back({object->destroy, object->pointer});
  objects_.Unmake(object);
}

void GraphStore::ReleaseObjects(Graph* graph) {
  for (const HeldObject& held : graph->objects) Release(held.object, held.references);
  graph->objects.clear();
}

void GraphStore::ReplaceObjects(Graph* graph, const Graph& source) {
  const std::vector<HeldObject> objects = source.objects;
  for (const HeldObject& held : objects) Retain(held.object, held.references);
  ReleaseObjects(graph);
  graph->objects = objects;
}

std::span<Graph* const> InnerGraphs(const Node& node) {
  if (const auto* child = std::get_if<ChildParams>(&node.params))
    return {&child->graph, child->graph != nullptr ? size_t{1} : size_t{0}};
  if (const auto* p = std::get_if<std::unique_ptr<ConditionalParams>>(&node.params))
    return (*p)->bodies;
  return {};
}

const Graph* Root(const Graph* graph) {
  while (graph->parent != nullptr) graph = graph->parent->graph;
  return graph;
}

ConditionalHandle* FindHandle(Graph* graph, CUgraphConditionalHandle id) {
  for (Graph* g = graph; g != nullptr; g = g->parent != nullptr ? g->parent->graph : nullptr) {
    auto at = std::lower_bound(
        g->handles.begin(), g->handles.end(), id,
        [](const ConditionalHandle& h, CUgraphConditionalHandle wanted) { return h.id < wanted; });
    if (at != g->handles.end() && at->id == id) return &*at;
  }
  return nullptr;
}

}  // namespace graphkit::soft
