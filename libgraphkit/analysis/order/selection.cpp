#include "libgraphkit/analysis/order/selection.h"

#include <algorithm>
#include <functional>

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

void Reach(const Trace& trace, NodeId Edge::*near, NodeId Edge::*far,
           const SelectionOptions& options, std::vector<bool>& reached) {
  const Grouped edges = EdgesBy(trace, near);
  std::vector<bool> seen(reached.size());
  std::vector<NodeId> front = {options.focus}, next;
  reached[options.focus.index()] = seen[options.focus.index()] = true;
  for (uint32_t step = 0; step < options.depth && !front.empty(); ++step) {
    for (const NodeId id : front) {
      for (const uint32_t edge : edges.Of(id.index())) {
        const NodeId to = trace.edges[edge].*far;
        if (seen[to.index()]) continue;
        reached[to.index()] = seen[to.index()] = true;
        next.push_back(to);
      }
    }
    front.swap(next);
    next.clear();
  }
}

std::vector<bool> AroundFocus(const Trace& trace, const SelectionOptions& options) {
  std::vector<bool> reached(trace.nodes.size());
  Reach(trace, &Edge::from, &Edge::to, options, reached);
  Reach(trace, &Edge::to, &Edge::from, options, reached);
  return reached;
}

// With what lies inside them. Of equal ones those of the smallest ids.
void KeepLargest(const Trace& trace, uint64_t most, Selection& selection) {
  const std::vector<GraphId> roots = FindRoots(trace);
  std::vector<uint64_t> nodes(trace.graphs.size());
  std::vector<GraphId> alone;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (selection.nodes[i]) ++nodes[roots[trace.nodes[i].graph.index()].index()];
  }
  for (size_t i = 0; i < roots.size(); ++i) {
    if (selection.graphs[i] && roots[i] == GraphId(i)) alone.emplace_back(i);
  }
  if (alone.size() <= most) return;
  std::ranges::stable_sort(alone, std::greater(), [&](GraphId id) { return nodes[id.index()]; });
  std::vector<bool> kept(trace.graphs.size());
  for (size_t i = 0; i < most; ++i) kept[alone[i].index()] = true;
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!kept[roots[i].index()]) selection.graphs[i] = false;
  }
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!selection.graphs[trace.nodes[i].graph.index()]) selection.nodes[i] = false;
  }
  selection.graphs_left_out = alone.size() - most;
}

constexpr uint32_t kNoGroup = 0xffffffffu;

// By group: whether it has kernels, and all of them a duration.
std::vector<bool> Measured(const Trace& trace, const std::vector<uint32_t>& group, size_t groups) {
  std::vector<bool> any(groups), measured(groups, true);
  for (size_t i = 0; i < group.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kind != NodeKind::kKernel || group[i] == kNoGroup) continue;
    any[group[i]] = true;
    if (node.duration_ns == 0) measured[group[i]] = false;
  }
  for (size_t i = 0; i < groups; ++i) measured[i] = measured[i] && any[i];
  return measured;
}

// By group: the longest path through its nodes. `group`: of each node, or kNoGroup.
std::vector<std::vector<NodeId>> PathsOf(const Trace& trace, const InEdges& in,
                                         const std::vector<uint32_t>& group, size_t groups) {
  const std::vector<bool> measured = Measured(trace, group, groups);
  std::vector<uint64_t> length(trace.nodes.size());
  std::vector<NodeId> before(trace.nodes.size()), ends(groups);
  for (const uint32_t id : SortNodes(in)) {
    if (group[id] == kNoGroup) continue;
    for (const InEdge& edge : in.Of(id)) {
      const size_t from = edge.from.index();
      const bool longer = !before[id] || length[from] > length[before[id].index()];
      if (group[from] == group[id] && longer) before[id] = edge.from;
    }
    length[id] = (before[id] ? length[before[id].index()] : 0) +
                 (measured[group[id]] ? uint64_t{trace.nodes[id].duration_ns} : 1);
    NodeId& end = ends[group[id]];
    if (!end || length[id] > length[end.index()]) end = NodeId(id);
  }
  std::vector<std::vector<NodeId>> paths(groups);
  for (size_t i = 0; i < groups; ++i) {
    for (NodeId at = ends[i]; at; at = before[at.index()]) paths[i].push_back(at);
    std::ranges::reverse(paths[i]);
  }
  return paths;
}

}  // namespace

Selection Select(const Trace& trace, const SelectionOptions& options) {
  Selection selection;
  selection.graphs = SelectGraphs(trace, options.graph);
  selection.nodes.resize(trace.nodes.size());
  std::vector<bool> near;
  if (options.focus) near = AroundFocus(trace, options);
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
  const bool any = !options.graph && !options.focus;
  if (any && options.most_graphs > 0) KeepLargest(trace, options.most_graphs, selection);
  return selection;
}

std::vector<NodeId> LongestPath(const Trace& trace, const std::vector<bool>& nodes) {
  std::vector<uint32_t> group;
  for (const bool selected : nodes) group.push_back(selected ? 0 : kNoGroup);
  return PathsOf(trace, FindInEdges(trace), group, 1).front();
}

std::vector<std::vector<NodeId>> LongestPaths(const Trace& trace, const InEdges& in) {
  std::vector<uint32_t> group;
  for (const Node& node : trace.nodes) {
    group.push_back(InGraph(trace, node) ? node.graph.value : kNoGroup);
  }
  return PathsOf(trace, in, group, trace.graphs.size());
}

}  // namespace graphkit
