// Graphs as the driver holds them: nodes, edges with edge data, and the graphs that live inside an
// exec. Every change tells the CUPTI subscriber, in the order that was measured on a GPU for kernel
// and empty nodes (reference: an RTX 3060 with CUDA 13); for child, conditional and memory nodes
// the same order is assumed.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/soft_cuda/device/hub.h"
#include "plugins/soft_cuda/model/handle.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft {

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
  Graph* graph;
  Node* original = nullptr;  // in a clone: what it was copied from
  std::vector<Edge> in;
  std::vector<Edge> out;
  NodeParams params;

  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
};

enum class GraphKind : uint8_t {
  kUser,   // made by the user, destroyed by the user
  kChild,  // owned by a node
  kExec,   // the graph of an exec; its handle is the exec's handle
};

struct Graph {
  static constexpr Tag kTag = Tag::kGraph;
  Tag tag = kTag;
  GraphKind kind = GraphKind::kUser;
  bool capturing = false;
  bool ordered_by_index = true;  // each edge goes from a lower to a higher index
  uint32_t id = 0;               // as cuptiGetGraphId counts
  uint32_t next_index = 0;
  uint32_t live = 0;  // nodes that exist
  uint32_t memory_nodes = 0;
  uint32_t last_mark = 0;    // of the searches
  std::vector<Node*> nodes;  // in order of creation; null where one was destroyed
  Graph* original = nullptr;
  Node* parent = nullptr;  // of a child graph
  // Exec only
  Graph* source = nullptr;
  uint64_t flags = 0;
  Graph* shadow =
      nullptr;  // the second graph of an instantiation; kept only where a subscriber saw it
  std::vector<Node*> order;  // of execution; of every graph that lives in an exec
  bool memory_live = false;  // launched, and its allocations not freed since

  CUgraph handle() { return reinterpret_cast<CUgraph>(this); }
  CUgraphExec exec_handle() { return reinterpret_cast<CUgraphExec>(this); }
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
  void DestroyNode(Node* node);

  CUresult AddEdge(Node* from, Node* to, CUgraphEdgeData data);            // callback 15
  CUresult RemoveEdge(Node* from, Node* to, const CUgraphEdgeData* data);  // callback 16

  Graph* Clone(Graph* source, GraphKind kind);
  Graph* Instantiate(Graph* source, uint64_t flags, CUcontext context);
  void DestroyExec(Graph* exec);

  size_t live_graphs() const { return graphs_.live(); }

 private:
  Node* MakeNode(Graph* graph, CUgraphNodeType type);
  void Link(Node* from, Node* to, CUgraphEdgeData data);
  void CloneNodes(Graph* source, Graph* copy);
  void CloneEdges(Graph* source, Graph* copy);
  void MakeShadow(Graph* exec);
  void ReleaseNode(Node* node);
  void ReleaseNodes(Graph* graph);
  void Tell(CUpti_CallbackIdResource cbid, const GraphNews& news,
            CUcontext context = nullptr) const {
    if (hub_.Wants(CUPTI_CB_DOMAIN_RESOURCE, cbid)) NotifyGraph(hub_, cbid, news, context);
  }

  const Hub& hub_;
  Slab<Graph> graphs_;
  Slab<Node> nodes_;
  uint32_t graph_count_ = 0;
};

// Searches. `full_only` follows edges that wait for completion only.
bool IsAncestorOrSelf(Node* ancestor, std::span<const Edge> from, bool full_only);
bool Reaches(Node* from, Node* to);
std::vector<Node*> ExecutionOrder(const Graph& graph);
// Marks every node that is at or before one of `from`; a node is marked when node->mark == the
// result.
uint32_t MarkAncestors(std::span<const Edge> from, bool full_only);

}  // namespace graphkit::soft
