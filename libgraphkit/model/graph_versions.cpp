#include "libgraphkit/model/graph_versions.h"

#include <algorithm>
#include <span>

#include "libgraphkit/model/graph_places.h"

namespace graphkit {
namespace {

std::vector<GraphId> RootsOf(const Trace& trace) {
  std::vector<GraphId> roots;
  for (size_t i = 0; i < trace.graphs.size(); ++i) roots.push_back(RootOf(trace, GraphId(i)));
  return roots;
}

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

// True when all of the first versions are among the second.
bool Within(Slice inner, Slice outer) {
  return outer.first <= inner.first && inner.first + inner.count <= outer.first + outer.count;
}

}  // namespace

std::vector<GraphEdit> FindLateEdits(const Trace& trace) {
  if (trace.execs.empty()) return {};
  const std::vector<GraphId> roots = RootsOf(trace);
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
  for (const GraphId root : RootsOf(*trace)) {
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
