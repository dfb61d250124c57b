#include "libgraphkit/model/graph_places.h"

#include <algorithm>

namespace graphkit {

// Bounded by the number of graphs: a damaged file may have graphs inside themselves.
GraphId GraphPlaces::Root(GraphId graph) const {
  for (size_t i = 0; i < trace_.graphs.size() && graph.valid(); ++i) {
    const NodeId parent = trace_[graph].parent;
    if (!parent.valid()) break;
    graph = trace_[parent].graph;
  }
  return graph;
}

void GraphPlaces::Index() {
  if (indexed_) return;
  indexed_ = true;
  nodes_.resize(trace_.graphs.size());
  shrank_.resize(trace_.graphs.size());
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const Node& node = trace_.nodes[i];
    nodes_[node.graph.index()].push_back(NodeId(i));
    if (node.destroyed != kNever) shrank_[node.graph.index()] = true;
  }
  for (size_t i = 0; i < trace_.graphs.size(); ++i) {
    if (trace_.graphs[i].parent.valid()) held_[trace_.graphs[i].parent].push_back(GraphId(i));
  }
}

std::vector<NodeId> GraphPlaces::NodesAt(GraphId graph, Seq at) {
  Index();
  std::vector<NodeId> nodes = nodes_[graph.index()];
  std::erase_if(
      nodes, [&](NodeId node) { return trace_[node].seq >= at || trace_[node].destroyed <= at; });
  return nodes;
}

std::optional<size_t> GraphPlaces::PlaceOf(NodeId node, Seq at) {
  Index();
  const GraphId graph = trace_[node].graph;
  const auto place = [node](const std::vector<NodeId>& nodes) -> std::optional<size_t> {
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), node);
    if (found == nodes.end() || *found != node) return std::nullopt;
    return static_cast<size_t>(found - nodes.begin());
  };
  return shrank_[graph.index()] ? place(NodesAt(graph, at)) : place(nodes_[graph.index()]);
}

GraphId GraphPlaces::Held(NodeId node, uint32_t body) {
  Index();
  const auto found = held_.find(node);
  if (found == held_.end()) return {};
  const auto at = std::find_if(found->second.begin(), found->second.end(),
                               [&](GraphId graph) { return trace_[graph].body == body; });
  return at == found->second.end() ? GraphId() : *at;
}

NodeId GraphPlaces::Counterpart(NodeId node, GraphId root, Seq at) {
  struct Step {
    size_t place;
    NodeKind kind;
    uint32_t body;  // of the graph that the step is in
  };
  if (!root.valid() || Root(trace_[node].graph) == root) return root.valid() ? node : NodeId();
  std::vector<Step> steps;
  for (NodeId inner = node; inner.valid() && steps.size() <= trace_.graphs.size();) {
    const Graph& graph = trace_[trace_[inner].graph];
    const std::optional<size_t> place = PlaceOf(inner, at);
    if (!place) return {};
    steps.push_back({*place, trace_[inner].kind, graph.body});
    inner = graph.parent;
  }
  GraphId graph = root;
  NodeId found;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (found.valid()) graph = Held(found, step->body);
    if (!graph.valid()) return {};
    const std::vector<NodeId>& all = nodes_[graph.index()];
    const std::vector<NodeId> live =
        shrank_[graph.index()] ? NodesAt(graph, at) : std::vector<NodeId>();
    const std::vector<NodeId>& nodes = shrank_[graph.index()] ? live : all;
    if (step->place >= nodes.size() || trace_[nodes[step->place]].kind != step->kind) return {};
    found = nodes[step->place];
  }
  return found;
}

std::optional<GraphPlaces::NodePairs> GraphPlaces::Pairs(GraphId first, GraphId second, Seq at) {
  NodePairs pairs;
  if (!first.valid() || !second.valid() || !AddPairs(first, second, at, 0, &pairs))
    return std::nullopt;
  return pairs;
}

bool GraphPlaces::AddPairs(GraphId first, GraphId second, Seq at, size_t depth, NodePairs* pairs) {
  constexpr size_t kDeepest = 100;  // of graphs in graphs; more: a damaged file
  const std::vector<NodeId> a = NodesAt(first, at);
  const std::vector<NodeId> b = NodesAt(second, at);
  if (a.size() != b.size() || depth > kDeepest) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (trace_[a[i]].kind != trace_[b[i]].kind) return false;
    pairs->emplace_back(a[i], b[i]);
    for (uint32_t body = 0;; ++body) {
      const GraphId inner = Held(a[i], body);
      const GraphId other = Held(b[i], body);
      if (inner.valid() != other.valid()) return false;
      if (!inner.valid()) break;
      if (!AddPairs(inner, other, at, depth + 1, pairs)) return false;
    }
  }
  return true;
}

}  // namespace graphkit
