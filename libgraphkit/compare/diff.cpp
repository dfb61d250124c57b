#include "libgraphkit/compare/diff.h"

#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/match_graphs.h"
#include "libgraphkit/compare/ranks.h"
#include "libgraphkit/ran/node_changes.h"

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

Held HeldGraphs(const Ran& trace) {
  Held held;
  for (const auto& [i, graph] : Enumerate(trace.graphs)) {
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

  void Count(const Report& report, std::span<const GraphView> views, bool after,
             const std::map<GraphId, GraphId>& to_before) {
    for (const Finding& finding : report.findings) {
      std::string key = finding.check + "|";
      if (!finding.places.empty() && !finding.places[0].frames.empty()) {
        const PlaceFrame& frame = finding.places[0].frames[0];
        key += frame.function + "|" + std::string(FileName(frame.file));
      }
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

constexpr uint32_t kNone = NodeMatching::kNone;

// "writes 4 KiB at 512 of 1 MiB": what is accessed, whichever block it is.
std::string AccessText(const Ran& trace, const Access& access) {
  static constexpr std::array kModes = {"touches", "reads", "writes", "reads and writes"};
  std::string text = kModes[static_cast<size_t>(access.mode)];
  if (access.length != kLengthUnknown) text += " " + FormatBytes(access.length);
  if (access.rows.width != 0) {
    text += " in rows of " + std::to_string(access.rows.width) + " every " +
            std::to_string(access.rows.pitch);
  }
  if (access.offset != 0) text += " at " + std::to_string(access.offset);
  if (access.block) text += " of " + FormatBytes(trace[access.block].size);
  return text;
}

bool SameAccess(const Ran& a, const Access& x, const Ran& b, const Access& y) {
  const auto size = [](const Ran& trace, const Access& access) {
    return access.block ? trace[access.block].size : kLengthUnknown;
  };
  return x.mode == y.mode && x.offset == y.offset && x.length == y.length && x.rows == y.rows &&
         size(a, x) == size(b, y);
}

struct ComparedSide {
  const Ran& trace;
  const NodeChanges& changes;
  const GraphView& view;
};

struct ParameterDiff {
  const ComparedSide &before, &after;
  std::vector<ParameterChange>& changes;
  NodePair pair = {};

  void Compare(NodePair compared) {
    pair = compared;
    const Node &a = before.trace[pair.before], &b = after.trace[pair.after];
    CompareShapes(a, b);
    if (a.block && b.block) {
      Note("size", FormatCount(before.trace[a.block].size) + " B",
           FormatCount(after.trace[b.block].size) + " B");
    }
    CompareAccesses(a, b);
    if (before.changes.empty() && after.changes.empty()) return;
    const auto said = [](std::string text) { return text.empty() ? "as made" : text; };
    Note("launches", said(before.changes.Text(pair.before)), said(after.changes.Text(pair.after)));
  }

  void Note(const char* what, std::string was, std::string is) {
    if (was != is) changes.push_back({pair, what, std::move(was), std::move(is)});
  }

  void CompareShapes(const Node& a, const Node& b) {
    if (a.shape >= before.trace.shapes.size() || b.shape >= after.trace.shapes.size()) return;
    const LaunchShape &x = before.trace.shapes[a.shape], &y = after.trace.shapes[b.shape];
    Note("grid", SizesText(x.grid), SizesText(y.grid));
    Note("block", SizesText(x.block), SizesText(y.block));
    Note("shared bytes", std::to_string(x.shared_bytes), std::to_string(y.shared_bytes));
  }

  void CompareAccesses(const Node& a, const Node& b) {
    if (a.accesses.count != b.accesses.count) {
      return Note("accesses", std::to_string(a.accesses.count), std::to_string(b.accesses.count));
    }
    for (uint32_t i = 0; i < a.accesses.count; ++i) {
      const Access& x = before.trace.accesses[a.accesses.first + i];
      const Access& y = after.trace.accesses[b.accesses.first + i];
      if (SameAccess(before.trace, x, after.trace, y)) continue;
      changes.push_back({pair, "access " + std::to_string(i), AccessText(before.trace, x),
                         AccessText(after.trace, y)});
    }
  }
};

// An edge by its ends in the graph after, so that edges of both sides can be compared.
struct EdgeEnds {
  uint32_t from, to, data;
  EdgeId edge;
  auto Ends() const { return std::tuple(from, to); }
  auto All() const { return std::tuple(from, to, data); }
};

// Edges between matched nodes.
std::vector<EdgeEnds> EdgesOf(const GraphView& view, const std::vector<uint32_t>* to_after,
                              const std::vector<uint32_t>* to_before) {
  std::vector<EdgeEnds> edges;
  const auto translate = [&](uint32_t node) {
    if (to_after != nullptr) return (*to_after)[node];
    return (*to_before)[node] == kNone ? kNone : node;
  };
  for (uint32_t node = 0; node < view.size(); ++node) {
    for (const Neighbour& out : view.Out(node)) {
      const uint32_t from = translate(node), to = translate(out.node);
      if (from != kNone && to != kNone) edges.push_back({from, to, out.data, out.edge});
    }
  }
  std::ranges::sort(edges, {}, [](const EdgeEnds& edge) {
    return std::tuple(edge.from, edge.to, edge.data, edge.edge);
  });
  return edges;
}

void DiffEdges(const GraphView& before, const GraphView& after, const NodeMatching& matching,
               GraphDiff& diff) {
  std::vector<EdgeEnds> lost, gained;
  WalkSorted(
      EdgesOf(before, &matching.after, nullptr), EdgesOf(after, nullptr, &matching.before),
      [](const EdgeEnds& edge) { return edge.All(); },
      [&](const EdgeEnds& edge) { lost.push_back(edge); },
      [&](const EdgeEnds& edge) { gained.push_back(edge); },
      [](const EdgeEnds&, const EdgeEnds&) {});
  // An edge that is lost and gained between the same nodes is one that changed.
  WalkSorted(
      lost, gained, [](const EdgeEnds& edge) { return edge.Ends(); },
      [&](const EdgeEnds& edge) { diff.lost_edges.push_back(edge.edge); },
      [&](const EdgeEnds& edge) { diff.gained_edges.push_back(edge.edge); },
      [&](const EdgeEnds& a, const EdgeEnds& b) {
        diff.changed_edges.push_back({a.edge, b.edge});
      });
  std::ranges::sort(diff.lost_edges);
  std::ranges::sort(diff.gained_edges);
  std::ranges::sort(diff.changed_edges, {}, &EdgePair::before);
}

// Differences of two graphs whose nodes are matched: all but the figures.
GraphDiff DiffGraph(const ComparedSide& before_side, const ComparedSide& after_side,
                    const NodeMatching& matching) {
  const GraphView &before = before_side.view, &after = after_side.view;
  GraphDiff diff{.before = before.graph, .after = after.graph};
  ParameterDiff parameters{before_side, after_side, diff.parameters};
  for (uint32_t node = 0; node < before.size(); ++node) {
    const uint32_t partner = matching.after[node];
    if (partner == kNone) {
      diff.removed_nodes.push_back(before.nodes[node]);
      continue;
    }
    ++diff.matched_nodes;
    const NodePair pair{before.nodes[node], after.nodes[partner]};
    const bool moved = matching.streams.Of(before.streams[node]) != after.streams[partner];
    if (moved) diff.moved_nodes.push_back(pair);
    parameters.Compare(pair);
  }
  for (uint32_t node = 0; node < after.size(); ++node) {
    if (matching.before[node] == kNone) diff.added_nodes.push_back(after.nodes[node]);
  }
  DiffEdges(before, after, matching, diff);
  return diff;
}

}  // namespace

TraceDiff DiffTraces(const Ran& before, const Report& before_report, const Ran& after,
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
  findings.Count(before_report, before_views, false, to_before);
  findings.Count(after_report, after_views, true, to_before);
  diff.findings = findings.Changes();
  return diff;
}

}  // namespace graphkit
