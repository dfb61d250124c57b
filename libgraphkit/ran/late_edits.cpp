#include "libgraphkit/ran/late_edits.h"

#include <algorithm>
#include <iterator>
#include <span>

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

// Those of a graph; they are sorted by graph.
std::span<const GraphEdit> Of(GraphId root, const std::vector<GraphEdit>& edits) {
  const auto first = std::ranges::lower_bound(edits, root, {}, &GraphEdit::root);
  return {first, std::ranges::upper_bound(first, edits.end(), root, {}, &GraphEdit::root)};
}

}  // namespace

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

void SetVersions(const std::vector<GraphEdit>& edits, std::vector<GraphFix> fixes, Ran* ran) {
  ran->versions.clear();
  ran->shown_versions.clear();
  if (edits.empty()) return;
  std::ranges::sort(fixes);
  std::vector<Slice> by_root(ran->graphs.size());
  for (auto fix = fixes.begin(); fix != fixes.end();) {
    const GraphId root = fix->root;
    const auto end = std::find_if(fix, fixes.end(), [&](const auto& f) { return f.root != root; });
    const bool launched = std::any_of(fix, end, [](const auto& f) { return f.launched; });
    const auto first = static_cast<uint32_t>(ran->versions.size());
    const std::span<const GraphEdit> edited = Of(root, edits);
    auto last = edited.end();
    for (; fix != end; ++fix) {
      const auto before = std::ranges::lower_bound(edited, fix->seq, {}, &GraphEdit::seq);
      const bool same = ran->versions.size() > first && before == last;
      if (edited.empty() || same || fix->launched != launched) continue;
      ran->versions.push_back({root, fix->exec, fix->seq});
      if (before != edited.begin()) ran->versions.back().since = std::prev(before)->seq;
      if (before != edited.end()) ran->versions.back().until = before->seq;
      last = before;
    }
    by_root[root.index()] = {first, static_cast<uint32_t>(ran->versions.size()) - first};
  }
  for (const GraphId root : FindRoots(*ran)) ran->shown_versions.push_back(by_root[root.index()]);
}

}  // namespace graphkit
