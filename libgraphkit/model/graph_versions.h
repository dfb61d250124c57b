// Pairs of nodes that have the same place in two graphs: nodes are paired in the order in which
// they were made, embedded graphs with their nodes (as cudaGraphExecUpdate pairs them; the
// documentation says "the order of the calls").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The outermost graph that holds a graph: the one that the user launches. Of many: Nesting.
GraphId RootOf(const Trace& trace, GraphId graph);

class GraphPlaces {
 public:
  // The trace must outlive it.
  explicit GraphPlaces(const Trace& trace);

  // The node of the graph `root` as it was at a place, or of one inside it, that has the node's
  // place in its own as that was at another; the node itself where that is its root. None: there is
  // no such node, or it is of another kind.
  NodeId Counterpart(NodeId node, Seq node_at, GraphId root, Seq root_at);
  // A graph inside a node; none: it holds none.
  GraphId Held(NodeId node, uint32_t body);
  // The nodes that a graph has at a place; `live` holds them where some were destroyed.
  std::span<const NodeId> NodesAt(GraphId graph, Seq at, std::vector<NodeId>* live);
  // A graph at a place.
  struct GraphAt {
    GraphId graph;
    Seq at;
  };
  // The nodes of two graphs, and of the graphs inside them, pair by pair; none: they differ.
  using NodePairs = std::vector<std::pair<NodeId, NodeId>>;
  std::optional<NodePairs> Pairs(GraphAt first, GraphAt second);

 private:
  bool AddPairs(GraphAt first, GraphAt second, size_t depth, NodePairs* pairs);

  const Trace& trace_;
  std::vector<uint32_t> first_;  // by graph, in `nodes_`; and the end
  std::vector<NodeId> nodes_;
  std::vector<bool> shrank_;  // by graph: nodes of it were destroyed
  std::unordered_map<NodeId, std::vector<GraphId>> held_;
};

// Versions of graphs: an exec keeps the graph as it was instantiated, or as it last was updated to
// it; what is done to the graph afterwards counts for later execs.
//
//     a ─ b   instantiate e0   remove a ─ b   launch e0   instantiate e1   launch e1
//                  └─ version: a ─ b                           └─ version: a   b
//
// Of a graph that was edited after an exec was made of it, those versions count that launches ran;
// without launches, those that execs have. Any other graph is as it was last seen. Where several
// versions are shown at once, a node is in the graph that is in one of them, and an edge that is in
// all those that have the node it leads to: what this order proves holds in each version.

// An exec takes over a graph: it is instantiated, or updated.
struct GraphFix {
  GraphId root;
  Seq seq = 0;
  ExecId exec;
  bool launched = false;  // before the next one
  auto operator<=>(const GraphFix&) const = default;
};

// Where a graph was edited after it was first fixed.
struct GraphEdit {
  GraphId root;
  Seq seq = 0;
  auto operator<=>(const GraphEdit&) const = default;
};

// Sorted; mostly there are none.
std::vector<GraphEdit> FindLateEdits(const Trace& trace);
// Sets Trace::versions, and shows all.
void SetVersions(const std::vector<GraphEdit>& edits, std::vector<GraphFix> fixes, Trace* trace);

// The most versions that a graph has.
size_t CountVersions(const Trace& trace);
bool HasSeveralVersions(const Trace& trace, GraphId graph);
// Of a graph with several of which one is shown: that one; else null.
const GraphVersion* ShownAlone(const Trace& trace, GraphId graph);
// True when the version of a root that an exec took over at a place is among those shown.
bool IsShown(const Trace& trace, GraphId root, Seq fixed);

// True when a node or edge is in the graph: in a version that is shown, or as it was last seen.

bool IsInShown(const Trace& trace, const Node& node);
bool IsInShown(const Trace& trace, const Edge& edge);
inline bool InGraph(const Trace& trace, const Node& node) {
  if (!trace.shown_versions.empty()) return IsInShown(trace, node);
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}
// `from` and `to` are the edge's nodes.
inline bool InGraph(const Trace& trace, const Edge& edge, const Node& from, const Node& to) {
  if (!trace.shown_versions.empty()) return IsInShown(trace, edge);
  return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
         InGraph(trace, from) && InGraph(trace, to);
}
inline bool InGraph(const Trace& trace, const Edge& edge) {
  return InGraph(trace, edge, trace[edge.from], trace[edge.to]);
}

}  // namespace graphkit
