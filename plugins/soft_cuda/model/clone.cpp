// Copies of graphs: clones, embedded child graphs, and what an instantiation makes.
#include <algorithm>
#include <cstring>

#include "plugins/soft_cuda/model/exec_memory.h"
#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

std::unique_ptr<KernelParams> CopyKernelParams(const KernelParams& from) {
  auto copy = std::make_unique<KernelParams>();
  copy->function = from.function;
  copy->context = from.context;
  copy->shape = from.shape;
  copy->attributes = from.attributes;
  copy->arguments.size = from.arguments.size;
  copy->arguments.as_buffer = from.arguments.as_buffer;
  if (from.arguments.bytes) {
    copy->arguments.bytes = std::make_unique<std::byte[]>(from.arguments.size);
    std::memcpy(copy->arguments.bytes.get(), from.arguments.bytes.get(), from.arguments.size);
  }
  return copy;
}

namespace {

struct Copier {
  NodeParams operator()(const std::unique_ptr<KernelParams>& p) const {
    return CopyKernelParams(*p);
  }
  NodeParams operator()(const std::unique_ptr<MemAllocParams>& p) const {
    auto copy = std::make_unique<MemAllocParams>(*p);
    copy->params.accessDescs = copy->access.empty() ? nullptr : copy->access.data();
    return copy;
  }
  template <typename T>
  NodeParams operator()(const std::unique_ptr<T>& p) const {
    return std::make_unique<T>(*p);
  }
  NodeParams operator()(const std::unique_ptr<ConditionalParams>& p) const {
    return std::make_unique<ConditionalParams>(ConditionalParams{p->handle, p->kind, {}, {}});
  }
  NodeParams operator()(const ChildParams&) const { return ChildParams{nullptr}; }
  template <typename T>
  NodeParams operator()(const T& p) const {
    return p;
  }
};

}  // namespace

NodeParams CopyParams(const NodeParams& params) { return std::visit(Copier{}, params); }

// The graphs inside a node are cloned, too, and become part of its copy.
NodeParams GraphStore::CloneParams(const Node& from, Node* to) {
  NodeParams params = CopyParams(from.params);
  if (const auto* child = std::get_if<ChildParams>(&from.params)) {
    Graph* body = Clone(child->graph, GraphKind::kChild);
    Adopt(to, body, GraphKind::kChild);
    params = ChildParams{body};
  }
  if (const auto* from_params = std::get_if<std::unique_ptr<ConditionalParams>>(&from.params)) {
    auto& copy = std::get<std::unique_ptr<ConditionalParams>>(params);
    for (Graph* body : (*from_params)->bodies) {
      copy->bodies.push_back(Clone(body, GraphKind::kBody));
      copy->shown.push_back(copy->bodies.back()->handle());
      Adopt(to, copy->bodies.back(), GraphKind::kBody);
    }
  }
  return params;
}

void GraphStore::CloneNodes(Graph* source, Graph* copy) {
  copy->nodes.reserve(source->live);
  copy->original_indices.reserve(source->live);
  for (Node* from : source->nodes) {
    if (from == nullptr) continue;
    Node* node = MakeNode(copy, from->type);
    copy->original_indices.push_back(from->index);
    node->enabled = from->enabled;
    node->params = CloneParams(*from, node);
    CountAddress(*node);
    from->mark = node->position;  // for CloneEdges
    const bool memory =
        node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (!memory) {
      Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
           {.graph = copy->handle(), .node = node->handle()});
    }
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, {.graph = copy->handle(),
                                                .original_graph = source->handle(),
                                                .node = node->handle(),
                                                .original_node = from->handle()});
  }
}

// Uses the positions that CloneNodes left in the marks of the source's nodes, and clears them.
void GraphStore::CloneEdges(Graph* source, Graph* copy) {
  for (Node* from : source->nodes) {
    if (from == nullptr) continue;
    Node* to = copy->nodes[from->mark];
    to->in.reserve(from->in.size());
    for (const Edge& e : from->in) Link(copy->nodes[e.node->mark], to, e.data);
  }
  for (Node* from : source->nodes) {
    if (from != nullptr) from->mark = 0;
  }
}

Graph* GraphStore::Clone(Graph* source, GraphKind kind) {
  Graph* copy = MakeGraph(kind);
  copy->original_id = source->id;
  copy->handles = source->handles;
  copy->objects = source->objects;
  for (const HeldObject& held : copy->objects) Retain(held.object, held.references);
  CloneNodes(source, copy);
  CloneEdges(source, copy);
  if (kind != GraphKind::kUser) copy->order = ExecutionOrder(*copy);
  if (kind == GraphKind::kUser) {
    Tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED,
         {.graph = copy->handle(), .original_graph = source->handle()});
  }
  return copy;
}

namespace {

size_t GraphsIn(const Graph& graph) {
  size_t count = 1;
  for (const Node* node : graph.nodes) {
    for (const Graph* inner : InnerGraphs(*node)) count += GraphsIn(*inner);
  }
  return count;
}

}  // namespace

// The graphs in a node of a shadow are shadows, too.
NodeParams GraphStore::ShadowParams(const Node& of) {
  if (const auto* child = std::get_if<ChildParams>(&of.params))
    return ChildParams{MakeShadow(*child->graph)};
  const auto* conditional = std::get_if<std::unique_ptr<ConditionalParams>>(&of.params);
  if (conditional == nullptr) return {};
  auto params = std::make_unique<ConditionalParams>();
  for (const Graph* body : (*conditional)->bodies) params->bodies.push_back(MakeShadow(*body));
  return params;
}

// The second internal graph of an instantiation: its nodes are announced (12) and linked (15),
// completed (13) only where they hold graphs.
Graph* GraphStore::MakeShadow(const Graph& of) {
  Graph* shadow = MakeGraph(GraphKind::kExec);
  for (const Node* from : of.nodes) {
    Node* node = MakeNode(shadow, from->type);
    node->params = ShadowParams(*from);
    if (InnerGraphs(*node).empty()) continue;
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
         {.graph = shadow->handle(), .node = node->handle()});
  }
  for (const Node* from : of.nodes) {
    for (const Edge& e : from->in)
      Link(shadow->nodes[e.node->position], shadow->nodes[from->position], e.data);
  }
  return shadow;
}

// An exec's graph has no empty and no memory nodes in the end.
void GraphStore::TellSimplified(Graph* exec) {
  for (Node* node : exec->nodes) {
    node->told_gone = node->type == CU_GRAPH_NODE_TYPE_EMPTY ||
                      node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                      node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (node->told_gone) TellRemoved(node);
  }
}

Graph* GraphStore::Instantiate(Graph* source, uint64_t flags, CUcontext context) {
  Graph* exec = Clone(source, GraphKind::kExec);
  exec->source = source;
  ++source->instances;
  source->instantiated = true;
  exec->flags = flags;
  // The shadow uses up ids even without a subscriber.
  if (hub_.Wants(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING)) {
    exec->shadow = MakeShadow(*exec);
  } else {
    graph_count_ += static_cast<uint32_t>(GraphsIn(*exec));
  }
  const GraphNews news{.graph = source->handle(), .exec = exec->exec_handle()};
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, news, context);
  TellSimplified(exec);
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, news, context);
  return exec;
}

void GraphStore::ReleaseNodes(Graph* graph) {
  for (Node* node : graph->nodes) {
    if (node == nullptr) continue;
    if (!node->told_gone) {
      Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
           {.graph = graph->handle(), .node = node->handle()});
    }
    ReleaseNode(node);
  }
}

namespace {

// The graph that an exec was made of, where it still exists.
Graph* LiveSource(const Graph& exec) {
  Graph* source = exec.source;
  return source->tag == Tag::kGraph && source->id == exec.original_id ? source : nullptr;
}

}  // namespace

void GraphStore::DestroyExec(Graph* exec) {
  Graph* shadow = exec->shadow;
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, {.exec = exec->exec_handle()});
  Tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = exec->handle()});
  if (shadow != nullptr)
    Tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = shadow->handle()});
  GiveBackExecMemory(exec);
  if (shadow != nullptr) {
    ReleaseNodes(shadow);
    graphs_.Unmake(shadow);
  }
  ReleaseNodes(exec);
  ReleaseObjects(exec);
  if (Graph* source = LiveSource(*exec)) --source->instances;
  graphs_.Unmake(exec);
}

void GraphStore::SetExecParams(Graph* exec, Node* node, Node* source, NodeParams params,
                               CUpti_CallbackIdResource cbid) {
  DropAddress(*node);
  node->params = std::move(params);
  CountAddress(*node);
  if (cbid == CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED) {
    if (node->type == CU_GRAPH_NODE_TYPE_HOST)
      Tell(cbid, {.node = source->handle(), .exec = exec->exec_handle()});
  } else if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
    Tell(cbid, {.original_graph = source->graph->handle(),
                .node = node->handle(),
                .original_node = source->handle(),
                .exec = exec->exec_handle()});
  }
}

Node* FindCopy(Graph* copy, const Node* node) {
  Graph* around = copy;
  if (node->graph->id != copy->original_id) {  // deeper: first the copy of the node around it
    if (node->graph->parent == nullptr) return nullptr;
    const Node* parent = FindCopy(copy, node->graph->parent);
    if (parent == nullptr) return nullptr;
    const auto inner = InnerGraphs(*parent);
    auto found = std::find_if(inner.begin(), inner.end(), [node](const Graph* graph) {
      return graph->original_id == node->graph->id;
    });
    if (found == inner.end()) return nullptr;
    around = *found;
  }
  const std::vector<uint32_t>& indices = around->original_indices;
  auto at = std::lower_bound(indices.begin(), indices.end(), node->index);
  if (at == indices.end() || *at != node->index) return nullptr;
  return around->nodes[static_cast<size_t>(at - indices.begin())];
}

}  // namespace graphkit::soft
