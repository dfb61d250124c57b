#include "libgraphkit/analysis/order/shape.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// Per node: nodes and nanoseconds of the longest path that ends with it.
struct Longest {
  uint64_t nodes = 0;
  uint64_t ns = 0;
};

struct Walker {
  // Graphs that are held come before the ones that hold them: deeper graphs first.
  std::vector<Shape> Walk() {
    as_they_are = LeadForwards();
    if (!as_they_are) sorted = SortNodes(in);
    Grouped by;
    by.Assign(as_they_are ? trace.nodes.size() : sorted.size(), trace.graphs.size(),
              [&](size_t item) { return trace.nodes[NodeAt(item)].graph.index(); });
    const Nesting nesting(trace);
    std::multimap<uint32_t, GraphId, std::greater<>> deepest;  // by depth
    for (size_t i = 0; i < trace.graphs.size(); ++i) deepest.emplace(nesting.Depth(GraphId(i)), i);
    for (const auto& [depth, graph] : deepest) WalkGraph(graph, by);
    return std::move(shapes);
  }

  // Nearly always: then the nodes are sorted as they are.
  bool LeadForwards() const {
    for (size_t node = 0; node < in.nodes(); ++node) {
      for (const InEdge& edge : in.Of(node)) {
        if (edge.from.index() >= node) return false;
      }
    }
    return true;
  }
  size_t NodeAt(size_t item) const { return as_they_are ? item : sorted[item]; }

  void WalkGraph(GraphId graph, const Grouped& by) {
    Shape& shape = shapes[graph.index()];
    level_sizes.clear();
    for (const uint32_t item : by.Of(graph.index())) {
      const size_t index = NodeAt(item);
      const Node& node = trace.nodes[index];
      if (!trace.graph_nodes.Has(NodeId(index))) continue;
      Longest longest = Before(index);
      if (level_sizes.size() <= longest.nodes) level_sizes.resize(longest.nodes + 1);
      shape.width = std::max(shape.width, ++level_sizes[longest.nodes]);
      const auto held = inside_nodes.find(NodeId(index));
      const Longest inside = held == inside_nodes.end() ? Longest() : held->second;
      longest.nodes += std::max<uint64_t>(1, inside.nodes);
      longest.ns += std::max<uint64_t>(node.duration_ns, inside.ns);
      Set(index, longest);
      shape.critical_path_nodes = std::max(shape.critical_path_nodes, longest.nodes);
      shape.critical_path_ns = std::max(shape.critical_path_ns, longest.ns);
    }
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) return;
    Longest& held = inside_nodes[parent];
    held = {std::max(held.nodes, shape.critical_path_nodes),
            std::max(held.ns, shape.critical_path_ns)};
  }

  Longest Before(size_t node) const {
    Longest longest;
    for (const InEdge& edge : in.Of(node)) {
      longest.nodes = std::max<uint64_t>(longest.nodes, nodes[edge.from.index()]);
      if (!ns.empty()) longest.ns = std::max(longest.ns, ns[edge.from.index()]);
    }
    return longest;
  }
  void Set(size_t node, const Longest& longest) {
    nodes[node] = static_cast<uint32_t>(longest.nodes);
    if (ns.empty() && longest.ns != 0) ns.resize(nodes.size());
    if (!ns.empty()) ns[node] = longest.ns;
  }

  const Ran& trace;
  const InEdges& in;
  bool as_they_are = false;           // the nodes are sorted
  std::vector<uint32_t> sorted = {};  // otherwise: nodes
  std::vector<uint32_t> nodes =
      std::vector<uint32_t>(trace.nodes.size());  // by node, as Longest::nodes
  std::vector<uint64_t> ns = {};                  // as Longest::ns; empty: no durations so far
  std::unordered_map<NodeId, Longest> inside_nodes = {};  // by node: of the graphs that it holds
  std::vector<uint64_t> level_sizes = {};
  std::vector<Shape> shapes = std::vector<Shape>(trace.graphs.size());
};

// By node that full edges into one node come from, whether another edge says what they say.
struct ImpliedEdges {
  bool Implied(EdgeId id) {
    const Edge& edge = trace[id];
    if (!edge.full()) return false;
    if (edge.to != target) Find(edge.to);
    const auto at = std::ranges::lower_bound(sources, edge.from);
    return implied[static_cast<size_t>(at - sources.begin())];
  }

  void Find(NodeId to) {
    target = to;
    sources.clear();
    for (const InEdge& edge : in.Of(to.index())) {
      if (edge.full) sources.push_back(edge.from);
    }
    SortUnique(&sources);
    order.EndBeforeOthers(sources, &implied);
    for (const InEdge& other : in.Of(to.index())) {
      if (other.full) continue;
      for (size_t i = 0; i < sources.size(); ++i) {
        if (order.Before(sources[i], other.from)) implied[i] = true;
      }
    }
  }

  const Ran& trace;
  const Order& order;
  const InEdges& in;
  NodeId target = {};
  std::vector<NodeId> sources = {};
  std::vector<bool> implied = {};
};

// Nested graphs follow the graph that holds them, however deep.
std::vector<bool> SelectGraphs(const Ran& trace, GraphId wanted) {
  const Nesting nesting(trace);
  std::vector<bool> graphs;
  for (size_t i = 0; i < trace.graphs.size(); ++i)
    graphs.push_back(!wanted || nesting.Holds(wanted, GraphId(i)));
  return graphs;
}

void Reach(const Ran& trace, NodeId Edge::*near, NodeId Edge::*far, const SelectionOptions& options,
           std::vector<bool>& reached) {
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

std::vector<bool> AroundFocus(const Ran& trace, const SelectionOptions& options) {
  std::vector<bool> reached(trace.nodes.size());
  Reach(trace, &Edge::from, &Edge::to, options, reached);
  Reach(trace, &Edge::to, &Edge::from, options, reached);
  return reached;
}

// With what lies inside them. Of equal ones those of the smallest ids.
void KeepLargest(const Ran& trace, uint64_t most, Selection& selection) {
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
std::vector<bool> Measured(const Ran& trace, const std::vector<uint32_t>& group, size_t groups) {
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
std::vector<std::vector<NodeId>> PathsOf(const Ran& trace, const InEdges& in,
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

using What = GraphDifference::What;

// Of a copy's end that is a block, the memory that it is in.
const char* MemoryOf(const Ran& trace, BlockId block) {
  const PoolKind kind = KindOf(trace, trace[block].pool);
  if (kind == PoolKind::kHost) return "pinned host memory";
  return kind == PoolKind::kManaged ? "managed memory" : "device memory";
}

// The accesses of a node that read, or write.
const char* EndOf(const Ran& trace, NodeId node, AccessMode mode) {
  for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
    if (access.mode == mode) return MemoryOf(trace, access.block);
  }
  for (const HostEnd& end : RowsAt(trace.host_ends, trace[node].seq)) {
    if (end.mode == mode) return "pageable host memory";
  }
  return nullptr;
}

Bytes AllocatedBytes(const Ran& trace, NodeId node) {
  const BlockId block = trace[node].block;
  return block.valid() ? trace[block].size : 0;
}

std::string InsteadText(const Ran& trace, NodeId old, NodeId now) {
  return NameOf(trace, now) + " stands where the exec has " + NameOf(trace, old);
}

}  // namespace

std::vector<Shape> FindShapes(const Ran& trace, const InEdges& in) {
  return Walker{trace, in}.Walk();
}

std::vector<EdgeId> RedundantEdges(const Ran& trace, const Order& order, const InEdges& in) {
  std::vector<EdgeId> redundant;
  ImpliedEdges implied{trace, order, in};
  for (const EdgeId edge : trace.graph_edges) {
    const bool alone = in.Of(trace[edge].to.index()).size() < 2;
    if (!alone && implied.Implied(edge)) redundant.push_back(edge);
  }
  return redundant;
}

Selection Select(const Ran& trace, const SelectionOptions& options) {
  Selection selection;
  selection.graphs = SelectGraphs(trace, options.graph);
  selection.nodes.resize(trace.nodes.size());
  std::vector<bool> near;
  if (options.focus) near = AroundFocus(trace, options);
  std::vector<bool> used(trace.graphs.size(), !options.focus);
  for (const auto& [i, node] : Enumerate(trace.nodes)) {
    selection.nodes[i] = selection.graphs[node.graph.index()] && trace.graph_nodes.Has(NodeId(i)) &&
                         (near.empty() || near[i]);
    if (selection.nodes[i]) used[node.graph.index()] = true;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) selection.graphs[i] = false;
  }
  const bool any = !options.graph && !options.focus;
  if (any && options.most_graphs > 0) KeepLargest(trace, options.most_graphs, selection);
  return selection;
}

std::vector<NodeId> LongestPath(const Ran& trace, const std::vector<bool>& nodes) {
  std::vector<uint32_t> group;
  for (const bool selected : nodes) group.push_back(selected ? 0 : kNoGroup);
  return PathsOf(trace, FindInEdges(trace), group, 1).front();
}

std::vector<std::vector<NodeId>> LongestPaths(const Ran& trace, const InEdges& in) {
  std::vector<uint32_t> group;
  for (const auto& [i, node] : Enumerate(trace.nodes))
    group.push_back(trace.graph_nodes.Has(NodeId(i)) ? node.graph.value : kNoGroup);
  return PathsOf(trace, in, group, trace.graphs.size());
}

std::string CopyText(const Ran& trace, NodeId node) {
  const char* from = EndOf(trace, node, AccessMode::kRead);
  const char* to = EndOf(trace, node, AccessMode::kWrite);
  std::string text;
  if (from != nullptr) text = std::string("from ") + from;
  if (to != nullptr) text += (text.empty() ? "to " : " to ") + std::string(to);
  return text;
}

GraphDifference GraphDifferences::First(GraphId old, Seq old_at, GraphId now, Seq now_at,
                                        NodeId blamed) {
  std::vector<NodeId> live_old, live_now;
  const std::span<const NodeId> had = places_.NodesAt(old, old_at, &live_old);
  const std::span<const NodeId> has = places_.NodesAt(now, now_at, &live_now);
  GraphDifference shape = InShape({had, old_at}, {has, now_at});
  if (shape.what != What::kNothing) return shape;
  const auto at = std::ranges::find(has, blamed);
  const auto first = static_cast<uint32_t>(at == has.end() ? 0 : at - has.begin());
  for (uint32_t i = 0; i < has.size(); ++i) {
    const uint32_t place = i == 0 ? first : i <= first ? i - 1 : i;
    GraphDifference found = InPair(place, had[place], has[place]);
    if (found.what != What::kNothing) return found;
    for (uint32_t body = 0;; ++body) {
      const GraphId inner_old = places_.Held(had[place], body);
      const GraphId inner_now = places_.Held(has[place], body);
      if (!inner_old.valid() || !inner_now.valid()) break;
      found = First(inner_old, old_at, inner_now, now_at, blamed);
      if (found.what != What::kNothing) return found;
    }
    if (i == 0 && at != has.end()) break;  // CUDA names the node; nothing recorded differs in it
  }
  return {};
}

GraphDifference GraphDifferences::InShape(NodesAt old_nodes, NodesAt now_nodes) {
  const std::span<const NodeId> old = old_nodes.nodes, now = now_nodes.nodes;
  const size_t both = std::min(old.size(), now.size());
  for (uint32_t i = 0; i < both; ++i) {
    if (trace_[old[i]].kind != trace_[now[i]].kind)
      return {What::kKind, i, old[i], now[i], InsteadText(trace_, old[i], now[i])};
    if (!SameEdges(old_nodes, now_nodes, i)) {
      return {What::kEdges, i, old[i], now[i],
              NameOf(trace_, now[i]) + " depends on other nodes than " + NameOf(trace_, old[i]) +
                  " of the exec"};
    }
  }
  const auto place = static_cast<uint32_t>(both);
  if (old.size() > both)
    return {What::kNode, place, old[both], {}, NameOf(trace_, old[both]) + " has no counterpart"};
  if (now.size() > both)
    return {What::kNode, place, {}, now[both], NameOf(trace_, now[both]) + " is new"};
  return {};
}

bool GraphDifferences::SameEdges(NodesAt old, NodesAt now, uint32_t place) {
  const auto places = [&](NodesAt of) {
    std::vector<std::tuple<size_t, bool, uint8_t>> from;
    edges_.ForEachInto(of.nodes[place], of.at, [&](const InEdge& edge) {
      const auto at = std::ranges::lower_bound(of.nodes, edge.from);
      from.emplace_back(static_cast<size_t>(at - of.nodes.begin()), edge.full, edge.from_port);
    });
    std::ranges::sort(from);
    return from;
  };
  return places(old) == places(now);
}

GraphDifference GraphDifferences::InPair(uint32_t place, NodeId old, NodeId now) const {
  const NodeKind kind = trace_[now].kind;
  if (kind == NodeKind::kKernel && trace_[old].kernel != trace_[now].kernel)
    return {What::kKernel, place, old, now, InsteadText(trace_, old, now)};
  const bool copies = kind == NodeKind::kMemcpy;
  if (!copies && kind != NodeKind::kMemAlloc) return {};
  const bool same = copies ? CopyText(trace_, old) == CopyText(trace_, now)
                           : AllocatedBytes(trace_, old) == AllocatedBytes(trace_, now);
  if (same) return {};
  const auto what = [&](NodeId node) {
    return copies ? CopyText(trace_, node) : FormatBytes(AllocatedBytes(trace_, node));
  };
  return {copies ? What::kCopy : What::kSize, place, old, now,
          Say(trace_, "{} {} {}, and {} of the exec {}", now, copies ? "copies" : "allocates",
              what(now), old, what(old))};
}

}  // namespace graphkit
