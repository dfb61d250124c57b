#include "libgraphkit/compare/match_graphs.h"

#include "libgraphkit/compare/ranks.h"

namespace graphkit {

namespace {

// The graphs that are matched, and what each is compared by.
struct GraphsAlone {
  std::vector<GraphId> ids = {};
  std::vector<ComparedGraph> graphs = {};
};

GraphsAlone FindGraphsAlone(const ComparedTrace& side) {
  GraphsAlone compared;
  for (size_t i = 0; i < side.contents.size(); ++i) {
    const bool empty = side.contents[i].sample.empty();
    if (side.trace.graphs[i].parent || empty) continue;
    ComparedGraph& graph = compared.graphs.emplace_back();
    graph.name = side.trace[side.trace.graphs[i].name];
    graph.content = &side.contents[i];
    const auto summary = side.summaries.find(GraphId(i));
    if (summary != side.summaries.end()) graph.figures = GraphFigures(*summary->second);
    compared.ids.push_back(GraphId(i));
  }
  return compared;
}

}  // namespace

GraphMatching MatchGraphs(const ComparedTrace& before_side, const ComparedTrace& after_side) {
  const GraphsAlone before = FindGraphsAlone(before_side), after = FindGraphsAlone(after_side);
  const GraphPairs pairs = MatchContents(before.graphs, after.graphs);
  GraphMatching matching;
  for (size_t i = 0; i < before.ids.size(); ++i) {
    if (pairs.after[i] == GraphPairs::kNone) {
      matching.removed.push_back(before.ids[i]);
    } else {
      matching.pairs.push_back({before.ids[i], after.ids[pairs.after[i]]});
    }
  }
  for (size_t i = 0; i < after.ids.size(); ++i) {
    if (pairs.before[i] == GraphPairs::kNone) matching.added.push_back(after.ids[i]);
  }
  return matching;
}

}  // namespace graphkit
