#include "libgraphkit/render/dot/selection.h"

#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {

namespace {

// Nested graphs follow the graph that holds them, however deep.
std::vector<bool> SelectGraphs(const Trace& trace, GraphId wanted) {
  std::vector<bool> graphs(trace.graphs.size(), !wanted);
  if (!wanted) return graphs;
  graphs[wanted.index()] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < trace.graphs.size(); ++i) {
      const NodeId parent = trace.graphs[i].parent;
      if (graphs[i] || !parent || !graphs[trace[parent].graph.index()]) continue;
      graphs[i] = grew = true;
    }
  }
  return graphs;
}

// Neighbours of each node in one direction, as runs of a column.
struct Neighbours {
  std::vector<uint32_t> first;
  std::vector<NodeId> nodes;
};

Neighbours NeighboursOf(const Trace& trace, NodeId Edge::*from, NodeId Edge::*to) {
  Neighbours result;
  result.first.resize(trace.nodes.size() + 2);
  for (const Edge& edge : trace.edges) ++result.first[(edge.*from).index() + 2];
  for (size_t i = 2; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.nodes.resize(trace.edges.size());
  for (const Edge& edge : trace.edges) {
    if (Joins(trace, edge)) {
      result.nodes[result.first[(edge.*from).index() + 1]++] = edge.*to;
    }
  }
  return result;
}

void Reach(const Neighbours& neighbours, NodeId from, uint32_t depth, std::vector<bool>& reached) {
  std::vector<bool> seen(reached.size());
  std::vector<NodeId> front = {from}, next;
  reached[from.index()] = seen[from.index()] = true;
  for (uint32_t step = 0; step < depth && !front.empty(); ++step) {
    for (const NodeId id : front) {
      for (uint32_t i = neighbours.first[id.index()]; i < neighbours.first[id.index() + 1]; ++i) {
        const NodeId to = neighbours.nodes[i];
        if (!to || seen[to.index()]) continue;
        reached[to.index()] = seen[to.index()] = true;
        next.push_back(to);
      }
    }
    front.swap(next);
    next.clear();
  }
}

std::vector<bool> AroundFocus(const Trace& trace, NodeId focus, uint32_t depth) {
  std::vector<bool> reached(trace.nodes.size());
  Reach(NeighboursOf(trace, &Edge::from, &Edge::to), focus, depth, reached);
  Reach(NeighboursOf(trace, &Edge::to, &Edge::from), focus, depth, reached);
  return reached;
}

}  // namespace

Selection Select(const Trace& trace, const SelectionOptions& options) {
  Selection selection;
  selection.graphs = SelectGraphs(trace, options.graph);
  selection.nodes.resize(trace.nodes.size());
  std::vector<bool> near;
  if (options.focus) near = AroundFocus(trace, options.focus, options.depth);
  std::vector<bool> used(trace.graphs.size(), !options.focus);
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    selection.nodes[i] =
        selection.graphs[node.graph.index()] && InGraph(trace, node) && (near.empty() || near[i]);
    if (selection.nodes[i]) used[node.graph.index()] = true;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) selection.graphs[i] = false;
  }
  return selection;
}

}  // namespace graphkit
