// Copies of graphs: clones, embedded child graphs, and what an instantiation makes.
#include <algorithm>
#include <cstring>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

std::unique_ptr<KernelParams> CopyKernelParams(const KernelParams& from) {
  auto copy = std::make_unique<KernelParams>();
  copy->function = from.function;
  copy->context = from.context;
  copy->given_as_kernel = from.given_as_kernel;
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
  NodeParams operator()(const ChildParams&) const { return ChildParams{nullptr}; }
  template <typename T>
  NodeParams operator()(const T& p) const {
    return p;
  }
};

}  // namespace

NodeParams CopyParams(const NodeParams& params) { return std::visit(Copier{}, params); }

void GraphStore::CloneNodes(Graph* source, Graph* copy) {
  copy->nodes.reserve(source->live);
  for (Node* from : source->nodes) {
    if (from == nullptr) continue;
    Node* node = MakeNode(copy, from->type);
    node->original = from;
    node->enabled = from->enabled;
    node->params = CopyParams(from->params);
    if (const auto* child = std::get_if<ChildParams>(&from->params)) {
      Graph* body = Clone(child->graph, GraphKind::kChild);
      body->parent = node;
      node->params = ChildParams{body};
    }
    from->mark = node->position;  // for CloneEdges
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {.graph = copy->handle(), .node = node->handle()});
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
  copy->original = source;
  CloneNodes(source, copy);
  CloneEdges(source, copy);
  if (kind != GraphKind::kUser) copy->order = ExecutionOrder(*copy);
  if (kind != GraphKind::kExec) {
    Tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED,
         {.graph = copy->handle(), .original_graph = source->handle()});
  }
  return copy;
}

// The second internal graph of an instantiation: its nodes are announced (12) and linked (15),
// never completed (13). It uses up an id even where nobody listens.
void GraphStore::MakeShadow(Graph* exec) {
  const uint32_t id = ++graph_count_;
  if (!hub_.Wants(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING)) return;
  exec->shadow = graphs_.Make();
  exec->shadow->kind = GraphKind::kExec;
  exec->shadow->id = id;
  for (Node* from : exec->nodes) MakeNode(exec->shadow, from->type);
  const std::vector<Node*>& nodes = exec->shadow->nodes;
  for (Node* from : exec->nodes) {
    for (const Edge& e : from->in) Link(nodes[e.node->position], nodes[from->position], e.data);
  }
  MakeNode(exec->shadow, CU_GRAPH_NODE_TYPE_EMPTY);
}

Graph* GraphStore::Instantiate(Graph* source, uint64_t flags, CUcontext context) {
  Graph* exec = Clone(source, GraphKind::kExec);
  exec->source = source;
  exec->flags = flags;
  MakeShadow(exec);
  const GraphNews news{.graph = source->handle(), .exec = exec->exec_handle()};
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, news, context);
  if (exec->shadow != nullptr) DestroyNode(exec->shadow->nodes.back());
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, news, context);
  return exec;
}

void GraphStore::ReleaseNodes(Graph* graph) {
  for (Node* node : graph->nodes) {
    if (node == nullptr) continue;
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
         {.graph = graph->handle(), .node = node->handle()});
    ReleaseNode(node);
  }
}

void GraphStore::DestroyExec(Graph* exec) {
  Graph* shadow = exec->shadow;
  Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, {.exec = exec->exec_handle()});
  Tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = exec->handle()});
  if (shadow != nullptr)
    Tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = shadow->handle()});
  ReleaseNodes(exec);
  graphs_.Unmake(exec);
  if (shadow == nullptr) return;
  ReleaseNodes(shadow);
  graphs_.Unmake(shadow);
}

}  // namespace graphkit::soft
