// Nodes that one call copies from existing ones: clones, graphs that a node embeds, graphs that are
// launched into a capture. Their nodes do what their originals do at that time, with the parameters
// set since these were made.
//
//     graph 1           cuGraphAddChildGraphNode(graph 2, graph 1)         graph 2
//       node a                                                               node c
//       node b          made: graph 3, of graph 1;                             graph 3
//                       nodes d, e, clones of a, b                               node d, node e
//
// A graph that is made is claimed by the node that holds it, or by none: once, and its nodes come
// after.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/recorder/execs.h"
#include "plugins/cupti_tracer/recorder/graphs.h"

namespace graphkit {

// A node of which CUPTI has told, and whose record is not written yet.
struct NodeDraft {
  bool open = false;
  bool of_call = false;  // the call's own, not one of a graph that it makes
  uint64_t handle = 0;
  uint64_t graph = 0;
  NodeKind kind = NodeKind::kUnknown;
  std::vector<uint64_t> dependencies;

  bool embeds() const { return kind == NodeKind::kChildGraph || kind == NodeKind::kConditional; }
};

class Copies {
 public:
  struct Graph {
    uint64_t handle = 0;
    uint64_t original = 0;
    uint64_t tool_id = 0;
    bool claimed = false;
  };
  struct Clone {
    NodeId source;      // the graph's node
    NodeInfo original;  // its work: that of the source, or of an exec that has it
    const PartialEdges* edges = nullptr;
  };

  Copies(Graphs& graphs, Execs& execs) : graphs_(graphs), execs_(execs) {}

  // Notes what the events of the call say of graphs and nodes that it makes, whatever their order.
  void Collect(const Call& call, const std::vector<GraphEvent>& events);
  void Clear();
  bool empty() const { return made_.empty(); }
  // True if the work of an exec's nodes isn't known when the exec is launched into a capture.
  bool IsUnknown(const Call& call, const std::vector<GraphEvent>& events) const;

  // In the order in which the call made them.
  std::vector<Graph>& made() { return made_; }
  // The handles of graphs in the order of their nodes' records: after the node that claims them.
  const std::vector<uint64_t>& order() const { return order_; }
  void AddToOrder(uint64_t graph) { order_.push_back(graph); }
  bool IsMade(uint64_t graph) const { return places_.Find(graph) != nullptr; }
  Graph* Made(uint64_t graph);
  const Clone* CloneOf(uint64_t node) const { return clones_.Find(node); }
  // The data of the edge between what two clones were made of; null: that is a full one, or they
  // are no clones.
  const FrontierEntry* EdgeData(uint64_t from, uint64_t to) const;
  // The graph that the call itself works on: one that is there, or the clone that it makes.
  uint64_t TargetOf(const Call& call, const std::vector<GraphEvent>& events) const;

  // The graphs that a node embeds, of those that the call makes: their records follow the node's,
  // in this order.
  std::vector<Graph> ClaimFor(const NodeDraft& node, const Call& call);
  // The graph that the call's node takes over as it is; null: none.
  GraphInfo* MovedBy(const NodeDraft& node, const Call& call) const;
  // The user's graph of which the call makes a copy for the node.
  GraphId SourceOf(uint64_t graph, const NodeDraft& node, const Call& call) const;

 private:
  using Held = std::pair<NodeId, uint32_t>;

  void AddClone(const GraphEvent& event, const ExecInfo* exec, const HandleMap<uint32_t>& places);
  ExecInfo* Launched(const Call& call) const {
    return call.kind == CallKind::kGraphLaunch ? execs_.Find(call.exec) : nullptr;
  }
  NodeId HolderOf(uint64_t graph, const Call& call) const;

  Graphs& graphs_;
  Execs& execs_;
  std::vector<Graph> made_;
  HandleMap<uint32_t> places_;  // in it, by handle
  std::vector<Held> held_;      // by the node that holds the original: places
  size_t first_free_ = 0;       // before this place all are claimed
  std::vector<uint64_t> order_;
  HandleMap<Clone> clones_;  // nodes
};

}  // namespace graphkit
