#include "libgraphkit/model/nesting.h"

#include "libgraphkit/group_by.h"

namespace graphkit {

// A graph in itself, which only a damaged file has, stands alone.
Nesting::Nesting(const Trace& trace) {
  const auto stands_alone = [](const Graph& graph) { return !graph.parent.valid(); };
  if (std::ranges::all_of(trace.graphs, stands_alone)) return;
  const Grouped inside = Group(trace.graphs, trace.graphs.size(), [&](const Graph& graph) {
    return graph.parent.valid() ? trace[graph.parent].graph : GraphId();
  });
  at_.resize(trace.graphs.size());
  std::vector<GraphId> numbered, next;
  for (size_t i = 0; i < at_.size(); ++i) {
    at_[i].root = GraphId(i);
    if (stands_alone(trace.graphs[i])) next.push_back(GraphId(i));
  }
  while (!next.empty()) {
    const GraphId graph = next.back();
    next.pop_back();
    Enter(trace, graph);
    Place& place = at_[graph.index()];
    place.first = static_cast<uint32_t>(numbered.size());
    place.end = place.first + 1;
    numbered.push_back(graph);
    for (const uint32_t held : inside.Of(graph.index())) next.emplace_back(held);
  }
  for (size_t i = numbered.size(); i-- > 0;) {
    const Place& place = at_[numbered[i].index()];
    if (!place.around.valid()) continue;
    Place& around = at_[place.around.index()];
    around.end = std::max(around.end, place.end);
  }
}

// What surrounds it is known.
void Nesting::Enter(const Trace& trace, GraphId graph) {
  Place& place = at_[graph.index()];
  place.far = graph;
  if (!trace[graph].parent.valid()) return;
  const Node& holder = trace[trace[graph].parent];
  const Place& around = at_[holder.graph.index()];
  place.holder = trace[graph].parent;
  place.around = holder.graph;
  place.root = around.root;
  place.depth = around.depth + 1;
  place.loops = around.loops + MayRepeat(holder);
  place.conditionals = around.conditionals + (holder.kind == NodeKind::kConditional);
  const Place& far = at_[around.far.index()];
  const bool even = around.depth - far.depth == far.depth - at_[far.far.index()].depth;
  place.far = even ? far.far : holder.graph;
}

std::vector<GraphId> FindRoots(const Trace& trace) {
  const Nesting nesting(trace);
  std::vector<GraphId> roots(trace.graphs.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = nesting.Root(GraphId(i));
  return roots;
}

// Bounded by the number of graphs: a damaged file may have graphs inside themselves.
GraphId RootOf(const Trace& trace, GraphId graph) {
  for (size_t i = 0; i < trace.graphs.size() && graph.valid(); ++i) {
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) break;
    graph = trace[parent].graph;
  }
  return graph;
}

}  // namespace graphkit
