#include "libgraphkit/model/graph_versions.h"

#include "libgraphkit/group_by.h"
#include "libgraphkit/model/nesting.h"

namespace graphkit {
namespace {

// By graph: where its root was fixed first.
std::vector<Seq> FirstFixes(const Trace& trace, const std::vector<GraphId>& roots) {
  std::vector<Seq> by_root(roots.size(), kNever), first;
  const auto fix = [&](GraphId graph, Seq seq) {
    if (!graph.valid()) return;
    Seq& known = by_root[roots[graph.index()].index()];
    known = std::min(known, seq);
  };
  for (const Exec& exec : trace.execs) fix(exec.graph, exec.created);
  for (const ExecUpdate& update : trace.exec_updates) {
    if (update.result == 0) fix(update.graph, update.seq);
  }
  for (const GraphId root : roots) first.push_back(by_root[root.index()]);
  return first;
}

Slice ShownOf(const Trace& trace, GraphId graph) {
  return graph.index() < trace.shown_versions.size() ? trace.shown_versions[graph.index()]
                                                     : Slice();
}

// Of what is sorted by graph.
template <typename T>
std::span<const T> Of(GraphId graph, const std::vector<T>& all, GraphId T::*of) {
  const auto first = std::ranges::lower_bound(all, graph, {}, of);
  return {first, std::ranges::upper_bound(first, all.end(), graph, {}, of)};
}

// Of some versions, those between two places.
Slice Between(const Trace& trace, Slice versions, Seq made, Seq gone) {
  const auto all = std::span(trace.versions).subspan(versions.first, versions.count);
  const auto first = std::ranges::upper_bound(all, made, {}, &GraphVersion::seq);
  const auto last = std::ranges::lower_bound(first, all.end(), gone, {}, &GraphVersion::seq);
  return {versions.first + static_cast<uint32_t>(first - all.begin()),
          static_cast<uint32_t>(last - first)};
}

bool WasDestroyed(const Node& node) { return node.destroyed != kNever; }

// True when all of the first versions are among the second.
bool Within(Slice inner, Slice outer) {
  return outer.first <= inner.first && inner.first + inner.count <= outer.first + outer.count;
}

}  // namespace

// Bounded by the number of graphs: a damaged file may have graphs inside themselves.
GraphId RootOf(const Trace& trace, GraphId graph) {
  for (size_t i = 0; i < trace.graphs.size() && graph.valid(); ++i) {
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) break;
    graph = trace[parent].graph;
  }
  return graph;
}

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

std::span<const NodeId> GraphPlaces::NodesAt(GraphId graph, Seq at, std::vector<NodeId>* live) {
  const auto all = std::span(nodes_).subspan(first_[graph.index()],
                                             first_[graph.index() + 1] - first_[graph.index()]);
  const auto end =
      std::ranges::lower_bound(all, at, {}, [&](NodeId node) { return trace_[node].seq; });
  if (!shrank_[graph.index()]) return {all.begin(), end};
  live->assign(all.begin(), end);
  std::erase_if(*live, [&](NodeId node) { return trace_[node].destroyed <= at; });
  return *live;
}

GraphId GraphPlaces::Held(NodeId node, uint32_t body) {
  const auto found = held_.find(node);
  if (found == held_.end()) return {};
  const auto at =
      std::ranges::find(found->second, body, [&](GraphId graph) { return trace_[graph].body; });
  return at == found->second.end() ? GraphId() : *at;
}

NodeId GraphPlaces::Counterpart(NodeId node, Seq node_at, GraphId root, Seq root_at) {
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

std::optional<GraphPlaces::NodePairs> GraphPlaces::Pairs(GraphAt first, GraphAt second) {
  NodePairs pairs;
  if (!first.graph.valid() || !second.graph.valid() || !AddPairs(first, second, 0, &pairs))
    return std::nullopt;
  return pairs;
}

bool GraphPlaces::AddPairs(GraphAt first, GraphAt second, size_t depth, NodePairs* pairs) {
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

std::vector<GraphEdit> FindLateEdits(const Trace& trace) {
  if (trace.execs.empty()) return {};
  const std::vector<GraphId> roots = FindRoots(trace);
  const std::vector<Seq> fixed = FirstFixes(trace, roots);
  const Seq first = fixed.empty() ? kNever : *std::ranges::min_element(fixed);
  std::vector<GraphEdit> edits;
  const auto note = [&](GraphId graph, Seq seq) {
    if (seq <= first || seq == kNever || graph.index() >= roots.size()) return;
    if (seq > fixed[graph.index()] && seq < trace[graph].destroyed) {
      edits.push_back({roots[graph.index()], seq});
    }
  };
  for (const Node& node : trace.nodes) {
    if (node.seq <= first && node.destroyed == kNever) continue;
    note(node.graph, node.seq);
    note(node.graph, node.destroyed);
  }
  for (const Edge& edge : trace.edges) {
    if (edge.seq <= first && edge.removed == kNever) continue;
    if (edge.from.index() >= trace.nodes.size()) continue;
    const GraphId graph = trace[edge.from].graph;
    note(graph, edge.seq);
    note(graph, edge.removed);
  }
  for (const NodeChange& change : trace.node_changes) {
    if (!change.exec.valid() && change.what == NodeChangeKind::kParams) {
      note(trace[change.node].graph, change.seq);
    }
  }
  std::ranges::sort(edits);
  return edits;
}

void SetVersions(const std::vector<GraphEdit>& edits, std::vector<GraphFix> fixes, Trace* trace) {
  trace->versions.clear();
  trace->shown_versions.clear();
  if (edits.empty()) return;
  std::ranges::sort(fixes);
  std::vector<Slice> by_root(trace->graphs.size());
  for (auto fix = fixes.begin(); fix != fixes.end();) {
    const GraphId root = fix->root;
    const auto end = std::find_if(fix, fixes.end(), [&](const auto& f) { return f.root != root; });
    const bool launched = std::any_of(fix, end, [](const auto& f) { return f.launched; });
    const auto first = static_cast<uint32_t>(trace->versions.size());
    const std::span<const GraphEdit> edited = Of(root, edits, &GraphEdit::root);
    auto last = edited.end();
    for (; fix != end; ++fix) {
      const auto before = std::ranges::lower_bound(edited, fix->seq, {}, &GraphEdit::seq);
      const bool same = trace->versions.size() > first && before == last;
      if (edited.empty() || same || fix->launched != launched) continue;
      trace->versions.push_back({root, fix->exec, fix->seq});
      if (before != edited.begin()) trace->versions.back().since = std::prev(before)->seq;
      if (before != edited.end()) trace->versions.back().until = before->seq;
      last = before;
    }
    by_root[root.index()] = {first, static_cast<uint32_t>(trace->versions.size()) - first};
  }
  for (const GraphId root : FindRoots(*trace)) {
    trace->shown_versions.push_back(by_root[root.index()]);
  }
}

size_t CountVersions(const Trace& trace) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < trace.versions.size(); ++i) {
    count = i > 0 && trace.versions[i - 1].graph == trace.versions[i].graph ? count + 1 : 1;
    most = std::max(most, count);
  }
  return most;
}

bool HasSeveralVersions(const Trace& trace, GraphId graph) {
  return ShownOf(trace, graph).count > 1 || ShownAlone(trace, graph) != nullptr;
}

const GraphVersion* ShownAlone(const Trace& trace, GraphId graph) {
  const Slice shown = ShownOf(trace, graph);
  if (shown.count != 1) return nullptr;
  const GraphVersion& version = trace.versions[shown.first];
  return Of(version.graph, trace.versions, &GraphVersion::graph).size() > 1 ? &version : nullptr;
}

bool IsShown(const Trace& trace, GraphId root, Seq fixed) {
  const Slice shown = ShownOf(trace, root);
  if (shown.count == 0) return true;
  const auto versions = std::span(trace.versions).subspan(shown.first, shown.count);
  const auto next = std::ranges::upper_bound(versions, fixed, {}, &GraphVersion::since);
  return next != versions.begin() && fixed < std::prev(next)->until;
}

bool IsInShown(const Trace& trace, const Node& node) {
  const Slice shown = ShownOf(trace, node.graph);
  if (shown.count != 0) return Between(trace, shown, node.seq, node.destroyed).count != 0;
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}

bool IsInShown(const Trace& trace, const Edge& edge) {
  const Node from = trace[edge.from], to = trace[edge.to];
  const Slice shown = ShownOf(trace, from.graph);
  if (shown.count == 0) {
    return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
           IsInShown(trace, from) && IsInShown(trace, to);
  }
  const Slice with = Between(trace, shown, to.seq, to.destroyed);
  return with.count != 0 && Within(with, Between(trace, shown, edge.seq, edge.removed)) &&
         Within(with, Between(trace, shown, from.seq, from.destroyed));
}

}  // namespace graphkit
