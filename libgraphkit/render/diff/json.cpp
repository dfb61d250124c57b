#include "libgraphkit/render/json.h"
#include "libgraphkit/render/diff/diff.h"
#include "libgraphkit/render/names.h"

namespace graphkit {

GRAPHKIT_JSON_OF(FigureChange, figure, before, after)
GRAPHKIT_JSON_OF(FindingChange, check, severity, message, count_before, count_after, bytes_before,
                 bytes_after)

namespace {

Json OneJson(const Trace& trace, NodeId id) {
  const Node& node = trace[id];
  return Json{{"id", id},
              {"kind", NodeKindName(node.kind)},
              {"kernel", node.kernel ? Json(trace[trace[node.kernel].name]) : Json(nullptr)},
              {"stream", node.stream}};
}
Json OneJson(const Trace& trace, EdgeId id) { return EdgeJson(id, trace[id]); }
Json OneJson(const Trace& trace, GraphId id) {
  return Json{{"id", id}, {"name", trace[trace[id].name]}};
}

template <typename Tag>
Json AllJson(const Trace& trace, const std::vector<Id<Tag>>& ids) {
  return ListJson(ids, [&trace](Id<Tag> id) { return OneJson(trace, id); });
}

Json GraphJson(const Trace& before, const Trace& after, const GraphDiff& diff) {
  const auto pair = [&](const auto& both) {
    return Json{{"before", OneJson(before, both.before)}, {"after", OneJson(after, both.after)}};
  };
  const auto parameter = [&](const ParameterChange& change) {
    return Json{{"node", pair(change.node)},
                {"what", change.what},
                {"before", change.before},
                {"after", change.after}};
  };
  return Json{{"before", diff.before},
              {"after", diff.after},
              {"name", before[before[diff.before].name]},
              {"equal", diff.equal()},
              {"matched_nodes", diff.matched_nodes},
              {"removed_nodes", AllJson(before, diff.removed_nodes)},
              {"added_nodes", AllJson(after, diff.added_nodes)},
              {"moved_nodes", ListJson(diff.moved_nodes, pair)},
              {"parameters", ListJson(diff.parameters, parameter)},
              {"lost_edges", AllJson(before, diff.lost_edges)},
              {"gained_edges", AllJson(after, diff.gained_edges)},
              {"changed_edges", ListJson(diff.changed_edges, pair)},
              {"figures", diff.figures}};
}

Json SideJson(const DiffSide& side) {
  return Json{{"file", side.file}, {"complete", IsComplete(side.trace)}};
}

}  // namespace

void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out) {
  const auto graph = [&](const GraphDiff& of) { return GraphJson(before.trace, after.trace, of); };
  const Json root = {{"schema", "graphkit-diff"},
                     {"version", 1},
                     {"equal", diff.any_graph() ? Json(diff.equal()) : Json(nullptr)},
                     {"before", SideJson(before)},
                     {"after", SideJson(after)},
                     {"graphs", ListJson(diff.graphs, graph)},
                     {"removed_graphs", AllJson(before.trace, diff.removed_graphs)},
                     {"added_graphs", AllJson(after.trace, diff.added_graphs)},
                     {"findings", diff.findings}};
  out << Dump(root, 2) << "\n";
}

}  // namespace graphkit
