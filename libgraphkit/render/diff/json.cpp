#include "libgraphkit/render/diff/json.h"

#include "libgraphkit/render/explain/explain.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

GRAPHKIT_JSON_OF(FigureChange, figure, before, after)
GRAPHKIT_JSON_OF(RemarkChange, kind, before, after, text, advice)
GRAPHKIT_JSON_OF(FindingChange, check, severity, message, count_before, count_after, bytes_before,
                 bytes_after)

namespace {

Json OneJson(const Ran& trace, NodeId id) {
  const Node& node = trace[id];
  return Json{{"id", id},
              {"kind", NodeKindName(node.kind)},
              {"kernel", node.kernel ? Json(trace[trace[node.kernel].name]) : Json(nullptr)},
              {"stream", node.stream}};
}
Json OneJson(const Ran& trace, EdgeId id) { return EdgeJson(id, trace[id]); }
Json OneJson(const Ran& trace, GraphId id) {
  return Json{{"id", id}, {"name", trace[trace[id].name]}};
}

template <typename Tag>
Json AllJson(const Ran& trace, const std::vector<Id<Tag>>& ids) {
  return ListJson(ids, [&trace](Id<Tag> id) { return OneJson(trace, id); });
}

Json GraphDiffJson(const Ran& before, const Ran& after, const GraphDiff& diff) {
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

Json MemoryDiffJson(const MemoryDiff& diff, const DiffSide& before, const DiffSide& after) {
  const auto account = [](const DiffSide& side, std::optional<size_t> index) {
    return index ? &side.memory[*index] : nullptr;
  };
  const MemoryAccount* from = account(before, diff.before);
  const MemoryAccount* to = account(after, diff.after);
  const auto device = [](const MemoryAccount* of) {
    return of == nullptr ? Json(nullptr) : Json(of->device);
  };
  const auto peak = [](const DiffSide& side, const MemoryAccount* of) {
    if (of == nullptr || !of->has_history) return Json(nullptr);
    return Json{{"record", of->moments.peak_in_use.seq},
                {"event", of->peak_event},
                {"place", MemoryTitle(side.trace, of->peak_stack)}};
  };
  const auto holder = [](const MemoryAccount* of, std::optional<size_t> index) {
    return index ? HolderJson(of->holders[*index]) : Json(nullptr);
  };
  const auto held = [&](const HolderChange& change) {
    const int64_t bytes = static_cast<int64_t>(change.after) - static_cast<int64_t>(change.before);
    return Json{{"change_bytes", bytes},
                {"before", holder(from, change.holder.before)},
                {"after", holder(to, change.holder.after)}};
  };
  return Json{{"device", {{"before", device(from)}, {"after", device(to)}}},
              {"equal", diff.equal()},
              {"figures", diff.figures},
              {"peak", {{"before", peak(before, from)}, {"after", peak(after, to)}}},
              {"holders", ListJson(diff.holders, held)},
              {"worth_a_look", diff.remarks}};
}

Json SideJson(const DiffSide& side) {
  return Json{{"file", side.file}, {"complete", IsComplete(side.trace)}};
}

}  // namespace

void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out) {
  const auto graph = [&](const GraphDiff& of) {
    return GraphDiffJson(before.trace, after.trace, of);
  };
  const auto memory = [&](const MemoryDiff& of) { return MemoryDiffJson(of, before, after); };
  WriteDocument("graphkit-diff",
                Json{{"equal", diff.any() ? Json(diff.equal()) : Json(nullptr)},
                     {"before", SideJson(before)},
                     {"after", SideJson(after)},
                     {"memory", ListJson(diff.memory, memory)},
                     {"graphs", ListJson(diff.graphs, graph)},
                     {"removed_graphs", AllJson(before.trace, diff.removed_graphs)},
                     {"added_graphs", AllJson(after.trace, diff.added_graphs)},
                     {"findings", diff.findings}},
                out);
}

}  // namespace graphkit
