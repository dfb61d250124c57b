// Graphs, their nodes and edges, by handle.
//
// A handle belongs to what was made with it until that ends, or it is given to another. A graph
// that is in a node, as its child or as a body, ends with that node, and a node with its graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/recorder/edge_list.h"
#include "plugins/cupti_tracer/recorder/frontier.h"

namespace graphkit {

// The data of edges that aren't full ones.
class PartialEdges {
 public:
  void Insert(NodeId from, NodeId to, const FrontierEntry& data) {
    edges_.Insert(EndsKey(from, to), data);
  }
  const FrontierEntry* Find(NodeId from, NodeId to) const { return edges_.Find(EndsKey(from, to)); }
  void Erase(NodeId from, NodeId to) { edges_.Erase(EndsKey(from, to)); }
  void Merge(const PartialEdges& others) {
    others.edges_.ForEach([this](uint64_t key, const auto& data) { edges_.Insert(key, data); });
  }
  void Clear() { edges_.Clear(); }

 private:
  HandleMap<FrontierEntry> edges_;
};

struct NodeInfo {
  NodeId id;
  GraphId graph;
  NodeKind kind = NodeKind::kUnknown;
  bool updatable = false;            // from the device
  bool off = false;                  // of an exec's node
  bool copies_stack = false;         // it is a copy from or to the stack of the thread that made it
  uint32_t host_read = 0xffffffffu;  // its number in HostContent; none: kNone
  uint64_t place = 0;  // of the record that says what it does: its own, or the last set's
  uint64_t fingerprint = Fingerprint::kUnknown;  // of what it was made with, or last set to

  bool Equals(uint64_t other) const {
    return fingerprint == other && other != Fingerprint::kUnknown && !updatable;
  }
};

struct GraphInfo {
  GraphId id;
  uint64_t handle = 0;
  NodeId parent;                // of a child graph or a body: the node that owns it
  std::vector<uint64_t> nodes;  // their handles; some may be others' by now
  uint32_t nodes_ended = 0;     // of all graphs, when these were looked through
  EdgeList edges;
  PartialEdges edge_data;
};

// A graph that is made known.
struct NewGraph {
  uint64_t handle = 0;
  GraphOrigin origin = GraphOrigin::kExplicit;
  uint64_t tool_id = 0;
  GraphId original;
  NodeId parent;
  uint32_t body = 0;
  std::string_view name = {};
};

class Graphs {
 public:
  explicit Graphs(Records& records) : records_(records) {}

  GraphInfo* Find(uint64_t handle) const;
  GraphInfo& Add(const NewGraph& made);
  // A graph that was made before the tracer looked is taken as it comes.
  GraphInfo& Of(uint64_t handle) {
    GraphInfo* known = Find(handle);
    return known != nullptr ? *known : Add({.handle = handle});
  }
  GraphId IdOf(uint64_t handle) const {
    const GraphInfo* known = Find(handle);
    return known != nullptr ? known->id : GraphId();
  }
  // The graphs that are made known next have the ids from this one on.
  GraphId next() const { return GraphId(next_graph_); }
  // A graph that was known by another handle so far.
  void SetHandle(GraphInfo& graph, uint64_t handle);
  // It is in a node from now on.
  void Embed(GraphInfo& graph, NodeId parent);

  const NodeInfo* FindNode(uint64_t handle) const { return nodes_.Find(handle); }
  NodeInfo* FindNode(uint64_t handle) { return nodes_.Find(handle); }
  NodeId NewNode() { return NodeId(next_node_++); }
  // Once its record is written.
  NodeInfo& AddNode(GraphInfo& graph, uint64_t handle, const NodeInfo& node);
  void AddEdge(GraphInfo* graph, NodeId to, const FrontierEntry& from);
  void RemoveEdge(const GraphEvent& event);
  // The nodes of a frontier.
  Frontier EntriesOf(const std::vector<Dependency>& dependencies) const;

  void End(uint64_t handle, Source source);
  // The graph leaves the tables, with its nodes, and has no record of its end yet.
  GraphId Detach(uint64_t handle);
  void WriteEnd(GraphId graph, Source source) {
    records_.WriteEnd<GraphDestroyedRecord>(graph, source);
  }
  // Nodes that don't go with their graph are `told`: each has a record of its end.
  void EndNodes(GraphInfo& graph, bool told);
  void EndNode(uint64_t handle, Source source);

  // How many graphs, nodes and handles of nodes are kept.
  size_t size() const;

 private:
  struct InnerGraph {
    uint64_t handle = 0;
    GraphId id;
  };
  static uint64_t InnerKey(NodeId node) { return uint64_t{node.value} + 1; }
  void EndInner(NodeId node);
  void ForgetEnded(GraphInfo& graph) const;

  Records& records_;
  HandleMap<std::unique_ptr<GraphInfo>> graphs_;
  HandleMap<NodeInfo> nodes_;
  HandleMap<std::vector<InnerGraph>> inner_;  // by InnerKey of the node that they are in
  uint32_t next_graph_ = 0, next_node_ = 0, next_edge_ = 0;
  uint32_t nodes_ended_ = 0;  // alone, not with their graph
};

}  // namespace graphkit
