#include "libgraphkit/ran/graph_places.h"

#include "libgraphkit/group_by.h"
#include "libgraphkit/model/nesting.h"

namespace graphkit {
namespace {

bool WasDestroyed(const Node& node) { return node.destroyed != kNever; }

}  // namespace

GraphPlaces::GraphPlaces(const Trace& trace) : trace_(trace), shrank_(trace.graphs.size()) {
  Grouped by_graph =
      Group(trace.nodes, trace.graphs.size(), [](const Node& node) { return node.graph; });
  first_ = std::move(by_graph.first);
  nodes_.reserve(by_graph.items.size());
  for (const uint32_t node : by_graph.items) nodes_.emplace_back(node);
  if (std::ranges::any_of(trace.nodes.shared(), WasDestroyed)) {
    for (const Node node : trace.nodes) {
      if (WasDestroyed(node)) shrank_[node.graph.index()] = true;
    }
  }
  for (size_t i = 0; i < trace_.graphs.size(); ++i) {
    if (trace_.graphs[i].parent.valid()) held_[trace_.graphs[i].parent].push_back(GraphId(i));
  }
}

std::span<const NodeId> GraphPlaces::NodesAt(GraphId graph, Seq at,
                                             std::vector<NodeId>* live) const {
  const auto all = std::span(nodes_).subspan(first_[graph.index()],
                                             first_[graph.index() + 1] - first_[graph.index()]);
  const auto end =
      std::ranges::lower_bound(all, at, {}, [&](NodeId node) { return trace_[node].seq; });
  if (!shrank_[graph.index()]) return {all.begin(), end};
  live->assign(all.begin(), end);
  std::erase_if(*live, [&](NodeId node) { return trace_[node].destroyed <= at; });
  return *live;
}

GraphId GraphPlaces::Held(NodeId node, uint32_t body) const {
  const auto found = held_.find(node);
  if (found == held_.end()) return {};
  const auto at =
      std::ranges::find(found->second, body, [&](GraphId graph) { return trace_[graph].body; });
  return at == found->second.end() ? GraphId() : *at;
}

NodeId GraphPlaces::Counterpart(NodeId node, Seq node_at, GraphId root, Seq root_at) const {
  struct Step {
    size_t place;
    NodeKind kind;
    uint32_t body;  // of the graph that the step is in
  };
  if (!root.valid() || RootOf(trace_, trace_[node].graph) == root) {
    return root.valid() ? node : NodeId();
  }
  std::vector<NodeId> live;
  std::vector<Step> steps;
  for (NodeId inner = node; inner.valid() && steps.size() <= trace_.graphs.size();) {
    const Graph& graph = trace_[trace_[inner].graph];
    const std::span<const NodeId> nodes = NodesAt(trace_[inner].graph, node_at, &live);
    const auto place = std::ranges::lower_bound(nodes, inner);
    if (place == nodes.end() || *place != inner) return {};
    steps.push_back({static_cast<size_t>(place - nodes.begin()), trace_[inner].kind, graph.body});
    inner = graph.parent;
  }
  GraphId graph = root;
  NodeId found;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (found.valid()) graph = Held(found, step->body);
    if (!graph.valid()) return {};
    const std::span<const NodeId> nodes = NodesAt(graph, root_at, &live);
    if (step->place >= nodes.size() || trace_[nodes[step->place]].kind != step->kind) return {};
    found = nodes[step->place];
  }
  return found;
}

std::optional<GraphPlaces::NodePairs> GraphPlaces::Pairs(GraphAt first, GraphAt second) const {
  NodePairs pairs;
  if (!first.graph.valid() || !second.graph.valid() || !AddPairs(first, second, 0, &pairs))
    return std::nullopt;
  return pairs;
}

bool GraphPlaces::AddPairs(GraphAt first, GraphAt second, size_t depth, NodePairs* pairs) const {
  constexpr size_t kDeepest = 100;  // of graphs in graphs; more: a damaged file
  std::vector<NodeId> live_a, live_b;
  const std::span<const NodeId> a = NodesAt(first.graph, first.at, &live_a),
                                b = NodesAt(second.graph, second.at, &live_b);
  if (a.size() != b.size() || depth > kDeepest) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (trace_[a[i]].kind != trace_[b[i]].kind) return false;
    pairs->emplace_back(a[i], b[i]);
    for (uint32_t body = 0;; ++body) {
      const GraphId inner = Held(a[i], body);
      const GraphId other = Held(b[i], body);
      if (inner.valid() != other.valid()) return false;
      if (!inner.valid()) break;
      if (!AddPairs({inner, first.at}, {other, second.at}, depth + 1, pairs)) return false;
    }
  }
  return true;
}

}  // namespace graphkit
