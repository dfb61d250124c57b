#include "libgraphkit/compare/diff.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/match_graphs.h"
#include "libgraphkit/compare/match_nodes.h"
#include "libgraphkit/compare/ranks.h"

namespace graphkit {

namespace {

using Summaries = std::map<GraphId, const GraphSummary*>;

Summaries SummariesOf(const Report& report) {
  Summaries summaries;
  for (const GraphSummary& graph : report.graphs) summaries.emplace(graph.graph, &graph);
  return summaries;
}

// Two measurements of the same differ by chance: they are different where their intervals are
// apart. Two estimates by one table have the same error.
void DiffExecs(const GraphSummary& before, const GraphSummary& after, GraphDiff& diff) {
  const ByteRange from = before.exec_peak ? before.exec_peak->bytes : ByteRange();
  const ByteRange to = after.exec_peak ? after.exec_peak->bytes : ByteRange();
  const bool estimated =
      before.exec_source != ExecSource::kMeasured && after.exec_source != ExecSource::kMeasured;
  const bool apart = from.high < to.low || to.high < from.low;
  const bool both = before.exec_peak && after.exec_peak;
  if (both && from != to && (estimated || apart))
    diff.figures.push_back({"exec_bytes", from.bytes, to.bytes});
}

void DiffFigures(const Summaries& before, const Summaries& after, GraphDiff& diff) {
  const auto a = before.find(diff.before), b = after.find(diff.after);
  if (a == before.end() || b == after.end()) return;
  const auto before_figures = GraphFigures(*a->second), after_figures = GraphFigures(*b->second);
  for (size_t i = 0; i < before_figures.size(); ++i) {
    const RankFigure from = before_figures[i], to = after_figures[i];
    if (from && to && from != to) diff.figures.push_back({kRankGraphFigures[i], from, to});
  }
  DiffExecs(*a->second, *b->second, diff);
}

// Of each graph the first one that is equal to it: findings of equal graphs are counted together,
// since which of them is which isn't known.
std::vector<GraphId> FirstEqualGraphs(const ComparedTrace& side) {
  std::map<std::tuple<uint64_t, std::string_view, bool>, GraphId> first;
  std::vector<GraphId> equal;
  for (size_t i = 0; i < side.contents.size(); ++i) {
    const Graph& graph = side.trace.graphs[i];
    const std::tuple key(side.contents[i].hash, side.trace[graph.name], graph.parent.valid());
    equal.push_back(first.emplace(key, GraphId(i)).first->second);
  }
  return equal;
}

using Held = std::map<std::pair<NodeId, uint32_t>, GraphId>;  // by holder and body

Held HeldGraphs(const Trace& trace) {
  Held held;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const Graph& graph = trace.graphs[i];
    if (graph.parent) held.emplace(std::pair(graph.parent, graph.body), GraphId(i));
  }
  return held;
}

// The graphs inside of matched nodes.
void MatchHeld(const Held& before, const Held& after, const GraphView& view,
               const GraphView& after_view, const NodeMatching& matching, GraphMatching& graphs) {
  if (before.empty() && after.empty()) return;
  for (uint32_t node = 0; node < view.size(); ++node) {
    if (matching.after[node] == NodeMatching::kNone) continue;
    const NodeId a = view.nodes[node], b = after_view.nodes[matching.after[node]];
    for (auto held = before.lower_bound({a, 0}); held != before.end() && held->first.first == a;
         ++held) {
      const auto other = after.find({b, held->first.second});
      if (other != after.end()) {
        graphs.pairs.push_back({held->second, other->second});
      } else {
        graphs.removed.push_back(held->second);
      }
    }
    for (auto held = after.lower_bound({b, 0}); held != after.end() && held->first.first == b;
         ++held) {
      if (!before.contains({a, held->first.second})) graphs.added.push_back(held->second);
    }
  }
}

// A finding by what it says and where it comes from, in terms that both traces share: the ids of
// graphs are those of the trace before, that of the first one for equal graphs. Graphs without
// nodes aren't matched: they count as one.
class FindingCounter {
 public:
  explicit FindingCounter(std::vector<GraphId> equal) : equal_(std::move(equal)) {}

  void Count(const Trace& trace, const Report& report, std::span<const GraphView> views, bool after,
             const std::map<GraphId, GraphId>& to_before) {
    for (const Finding& finding : report.findings) {
      const FindingPlace place = PlaceOf(finding, trace);
      std::string key = finding.check;
      key += "|" + (place.frames.empty() ? std::string()
                                         : place.frames[0].function + "|" +
                                               std::string(FileName(place.frames[0].file)));
      const bool empty = finding.graph && views[finding.graph.index()].size() == 0;
      key += "|" + (empty ? "without nodes" : GraphKey(finding.graph, after, to_before));
      FindingChange& change = changes_[key];
      if (change.check.empty()) {
        change.check = finding.check;
        change.severity = finding.severity;
        change.message = finding.message;
      }
      (after ? change.count_after : change.count_before) += 1;
      (after ? change.bytes_after : change.bytes_before) += finding.bytes;
    }
  }

  std::vector<FindingChange> Changes() const {
    std::vector<FindingChange> changes;
    for (const auto& [key, change] : changes_) {
      if (change.changed()) changes.push_back(change);
    }
    return changes;
  }

 private:
  std::string GraphKey(GraphId graph, bool after,
                       const std::map<GraphId, GraphId>& to_before) const {
    if (!graph) return "";
    if (!after) return std::to_string(equal_[graph.index()].value);
    const auto found = to_before.find(graph);
    return found == to_before.end() ? "added " + std::to_string(graph.value)
                                    : std::to_string(equal_[found->second.index()].value);
  }

  std::vector<GraphId> equal_;
  std::map<std::string, FindingChange> changes_;
};

}  // namespace

TraceDiff DiffTraces(const Trace& before, const Report& before_report, const Trace& after,
                     const Report& after_report) {
  const std::vector<GraphView> before_views = ViewGraphs(before), after_views = ViewGraphs(after);
  const Summaries before_summaries = SummariesOf(before_report);
  const Summaries after_summaries = SummariesOf(after_report);
  const ComparedTrace before_side{before, before_summaries, ContentsOf(before_views)};
  const ComparedTrace after_side{after, after_summaries, ContentsOf(after_views)};
  const Held before_held = HeldGraphs(before), after_held = HeldGraphs(after);
  const NodeChanges before_changes(before), after_changes(after);
  GraphMatching graphs = MatchGraphs(before_side, after_side);
  std::map<GraphId, GraphId> to_before;
  TraceDiff diff;
  // Grows while it is walked: the graphs inside of a graph's nodes follow.
  for (size_t i = 0; i < graphs.pairs.size(); ++i) {
    const auto [a, b] = graphs.pairs[i];
    if (!to_before.emplace(b, a).second) continue;
    const GraphView &view = before_views[a.index()], &after_view = after_views[b.index()];
    const NodeMatching matching = MatchNodes(view, before, after_view, after);
    diff.graphs.push_back(
        DiffGraph({before, before_changes, view}, {after, after_changes, after_view}, matching));
    DiffFigures(before_summaries, after_summaries, diff.graphs.back());
    MatchHeld(before_held, after_held, view, after_view, matching, graphs);
  }
  diff.removed_graphs = std::move(graphs.removed);
  diff.added_graphs = std::move(graphs.added);
  FindingCounter findings(FirstEqualGraphs(before_side));
  findings.Count(before, before_report, before_views, false, to_before);
  findings.Count(after, after_report, after_views, true, to_before);
  diff.findings = findings.Changes();
  return diff;
}

}  // namespace graphkit
