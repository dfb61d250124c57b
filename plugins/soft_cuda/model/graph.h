// Graphs as the driver holds them: nodes, edges with edge data, and the graphs that live inside an
// exec. Every change tells the CUPTI subscriber, in the order of an H200 with driver 580.159.04,
// but for what an instantiation puts in place of child and conditional nodes.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/soft_cuda/ground/hub.h"
#include "plugins/soft_cuda/model/graph_addresses.h"
#include "plugins/soft_cuda/model/handle.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft {

struct Gpu;
struct Graph;
struct Node;

struct Edge {
  Node* node;  // the other end
  CUgraphEdgeData data;
};

constexpr bool operator==(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
  return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}
constexpr bool IsFull(const CUgraphEdgeData& d) {
  return d.from_port == 0 && d.to_port == 0 && d.type == 0;
}

struct Node {
  static constexpr Tag kTag = Tag::kNode;
  Tag tag = kTag;
  CUgraphNodeType type;
  uint32_t index;     // local id, in order of creation
  uint32_t position;  // in graph->nodes
  uint32_t mark = 0;  // visit mark of searches
  bool enabled = true;
  bool told_gone = false;  // of an exec: a subscriber takes it for destroyed
  Graph* graph;
  std::vector<Edge> in;
  std::vector<Edge> out;
  NodeParams params;

  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
};

enum class GraphKind : uint8_t {
  kUser,   // made by the user, destroyed by the user
  kChild,  // owned by a child graph node
  kBody,   // owned by a conditional node
  kExec,   // the graph of an exec; its handle is the exec's handle
};

// A value that a conditional node reads. Kernels would set it; without them it keeps its default.
struct ConditionalHandle {
  CUgraphConditionalHandle id;
  unsigned value;  // at each launch
  bool used = false;
};

// Something of the user's that lives as long as a reference to it is held.
struct UserObject {
  static constexpr Tag kTag = Tag::kUserObject;
  Tag tag = kTag;
  void* pointer;
  CUhostFn destroy;
  uint64_t references;

  CUuserObject handle() { return reinterpret_cast<CUuserObject>(this); }
};

struct HeldObject {
  UserObject* object;
  uint64_t references;
};

struct Graph {
  static constexpr Tag kTag = Tag::kGraph;
  Tag tag = kTag;
  GraphKind kind = GraphKind::kUser;
  bool capturing = false;
  bool ordered_by_index = true;  // each edge goes from a lower to a higher index
  uint32_t id = 0;               // as cuptiGetGraphId counts
  uint32_t next_index = 0;
  uint32_t live = 0;                       // nodes that exist
  uint32_t memory_nodes = 0;               // its own and those of the graphs inside it
  uint32_t conditional_nodes = 0;          // likewise
  uint32_t last_mark = 0;                  // of the searches
  uint32_t instances = 0;                  // execs that exist of it
  bool moved = false;                      // a child graph that was a user's graph before
  bool instantiated = false;               // at least once
  std::vector<Node*> nodes;                // in order of creation; null where one was destroyed
  Node* parent = nullptr;                  // of a child or body graph
  GraphAddresses addresses;                // of its allocation nodes
  std::vector<ConditionalHandle> handles;  // by id
  std::vector<HeldObject> objects;
  // Of a clone: where it comes from. Its first nodes were copied from these indices, in order.
  uint32_t original_id = 0;
  std::vector<uint32_t> original_indices;
  // Exec only
  Graph* source = nullptr;  // may be gone: see original_id
  uint64_t flags = 0;
  Gpu* gpu = nullptr;         // that has its memory (exec_memory.h)
  uint64_t device_bytes = 0;  // of it
  bool uploaded = false;
  // The second graph of an instantiation; kept only where a subscriber saw it.
  Graph* shadow = nullptr;
  std::vector<Node*> order;  // of execution; of every graph that lives in an exec

  CUgraph handle() { return reinterpret_cast<CUgraph>(this); }
  CUgraphExec exec_handle() { return reinterpret_cast<CUgraphExec>(this); }
};

// Work that remains at the end of a graph, once the lock is released.
struct Leftovers {
  std::vector<HostParams> destructors;  // of user objects
  std::vector<CUdeviceptr> addresses;   // that no allocation node holds any more
};

// Where graphs and nodes live, and who is told about them.
class GraphStore {
 public:
  explicit GraphStore(const Hub& hub) : hub_(hub) {}

  Graph* MakeGraph(GraphKind kind);
  void DestroyGraph(Graph* graph);  // with its nodes and child graphs

  // Makes a node with its incoming edges: callbacks 12, 15 for each edge, 13.
  Node* AddNode(Graph* graph, CUgraphNodeType type, NodeParams params,
                std::span<const Edge> dependencies);
  // The same in two steps: what the node holds is made between them.
  Node* BeginNode(Graph* graph, CUgraphNodeType type, std::span<const Edge> dependencies);
  void EndNode(Node* node, NodeParams params);
  void DestroyNode(Node* node);

  CUresult AddEdge(Node* from, Node* to, CUgraphEdgeData data);  // callback 15
  CUresult RemoveEdge(Node* from, Node* to);                     // callback 16

  // Makes a graph part of a node, which owns it from then on.
  void Adopt(Node* node, Graph* body, GraphKind kind);
  Graph* Clone(Graph* source, GraphKind kind);
  Graph* Instantiate(Graph* source, uint64_t flags, CUcontext context);
  void DestroyExec(Graph* exec);
  // Of a child or body graph: its handle is of no use any more. NVIDIA's driver crashes when the
  // node that held it is used or destroyed; here the node holds an empty graph from then on.
  void DestroyInside(Graph* graph);
  // New parameters for a node of an exec: callback 22 (an update, of host nodes) or 23 (a single
  // node, of kernels).
  void SetExecParams(Graph* exec, Node* node, Node* source, NodeParams params,
                     CUpti_CallbackIdResource cbid);

  UserObject* MakeObject(void* pointer, CUhostFn destroy, uint64_t references);
  void Retain(UserObject* object, uint64_t count) { object->references += count; }
  void Release(UserObject* object, uint64_t count);
  void ReplaceObjects(Graph* graph, const Graph& source);  // by what an update's source holds

  // Does an allocation node of any graph have this address?
  bool HasAddress(CUdeviceptr address) const { return address_count_.contains(address); }
  CUgraphConditionalHandle NextHandle() { return ++handle_count_; }
  Leftovers TakeLeftovers() { return std::exchange(leftovers_, {}); }
  size_t live_graphs() const { return graphs_.live(); }

 private:
  Node* MakeNode(Graph* graph, CUgraphNodeType type);
  void Link(Node* from, Node* to, CUgraphEdgeData data);
  NodeParams CloneParams(const Node& from, Node* to);
  void CloneNodes(Graph* source, Graph* copy);
  void CloneEdges(Graph* source, Graph* copy);
  void TellRemoved(Node* node) const;
  Graph* MakeShadow(const Graph& of);
  NodeParams ShadowParams(const Node& of);
  void TellSimplified(Graph* exec);
  void ReleaseNode(Node* node);
  void ReleaseObjects(Graph* graph);
  void CountAddress(const Node& node);
  void DropAddress(const Node& node);
  void ReleaseNodes(Graph* graph);
  void Tell(CUpti_CallbackIdResource cbid, const GraphNews& news,
            CUcontext context = nullptr) const {
    if (hub_.Wants(CUPTI_CB_DOMAIN_RESOURCE, cbid)) NotifyGraph(hub_, cbid, news, context);
  }

  const Hub& hub_;
  Slab<Graph> graphs_;
  Slab<Node> nodes_;
  Slab<UserObject> objects_;
  std::unordered_map<CUdeviceptr, uint32_t> address_count_;  // allocation nodes that have it
  Leftovers leftovers_;
  uint32_t graph_count_ = 0;
  CUgraphConditionalHandle handle_count_ = 0;
};

// The child graph or the body graphs of a node.
std::span<Graph* const> InnerGraphs(const Node& node);
// The node of `copy` that was cloned from `node`, at any depth; null: none.
Node* FindCopy(Graph* copy, const Node* node);
// The graph that holds this one at the end of all parents.
const Graph* Root(const Graph* graph);
// The handle of a conditional node of this graph: the graph's own or that of a graph around it.
ConditionalHandle* FindHandle(Graph* graph, CUgraphConditionalHandle id);

// Searches. `full_only` follows edges that wait for completion only.
bool IsAncestorOrSelf(Node* ancestor, std::span<const Edge> from, bool full_only);
std::vector<Node*> ExecutionOrder(const Graph& graph);
// Shows nodes at or before `from`, along edges that wait for completion, nearest first, at most
// `limit` of them, until `visit` says true.
using NodeVisitor = std::function<bool(const Node&)>;
void VisitAncestors(std::span<const Edge> from, size_t limit, NodeVisitor visit);
// Marks every node that is at or before one of `from`; a node is marked when node->mark == the
// result.
uint32_t MarkAncestors(std::span<const Edge> from, bool full_only);

}  // namespace graphkit::soft
