#include <nlohmann/json.hpp>

#include "libgraphkit/render/diff/diff.h"
#include "libgraphkit/render/id_json.h"
#include "libgraphkit/render/names.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

template <typename List, typename ToJson>
Json ListJson(const List& list, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : list) array.push_back(to_json(item));
  return array;
}

Json NodeJson(const Trace& trace, NodeId id) {
  const Node& node = trace[id];
  return Json{{"id", id.value},
              {"kind", NodeKindName(node.kind)},
              {"kernel", node.kernel ? Json(trace[trace[node.kernel].name]) : Json(nullptr)},
              {"stream", node.stream ? Json(node.stream.value) : Json(nullptr)}};
}

Json EdgeJson(const Trace& trace, EdgeId id) {
  const Edge& edge = trace[id];
  return Json{{"id", id.value},          {"from", edge.from.value},
              {"to", edge.to.value},     {"from_port", edge.from_port},
              {"to_port", edge.to_port}, {"edge_type", static_cast<int>(edge.type)}};
}

class GraphJson {
 public:
  GraphJson(const Trace& before, const Trace& after) : before_(before), after_(after) {}

  Json Of(const GraphDiff& diff) const {
    return Json{
        {"before", diff.before.value},
        {"after", diff.after.value},
        {"name", before_[before_[diff.before].name]},
        {"equal", diff.equal()},
        {"matched_nodes", diff.matched_nodes},
        {"removed_nodes",
         ListJson(diff.removed_nodes, [&](NodeId id) { return NodeJson(before_, id); })},
        {"added_nodes",
         ListJson(diff.added_nodes, [&](NodeId id) { return NodeJson(after_, id); })},
        {"moved_nodes", ListJson(diff.moved_nodes, [&](const auto& pair) { return Pair(pair); })},
        {"parameters", ListJson(diff.parameters, [&](const auto& p) { return Parameter(p); })},
        {"lost_edges", ListJson(diff.lost_edges, [&](EdgeId id) { return EdgeJson(before_, id); })},
        {"gained_edges",
         ListJson(diff.gained_edges, [&](EdgeId id) { return EdgeJson(after_, id); })},
        {"changed_edges", ListJson(diff.changed_edges, [&](const auto& p) { return Edges(p); })},
        {"figures", ListJson(diff.figures, [](const auto& figure) {
           return Json{{"figure", figure.figure},
                       {"before", FigureJson(figure.before)},
                       {"after", FigureJson(figure.after)}};
         })}};
  }

 private:
  Json Pair(const NodePair& pair) const {
    return Json{{"before", NodeJson(before_, pair.before)},
                {"after", NodeJson(after_, pair.after)}};
  }
  Json Edges(const EdgePair& pair) const {
    return Json{{"before", EdgeJson(before_, pair.before)},
                {"after", EdgeJson(after_, pair.after)}};
  }
  Json Parameter(const ParameterChange& change) const {
    return Json{{"node", Pair(change.node)},
                {"what", change.what},
                {"before", change.before},
                {"after", change.after}};
  }

  const Trace& before_;
  const Trace& after_;
};

Json FindingJson(const FindingChange& change) {
  return Json{{"check", change.check},
              {"severity", SeverityName(change.severity)},
              {"message", change.message},
              {"count_before", change.count_before},
              {"count_after", change.count_after},
              {"bytes_before", change.bytes_before},
              {"bytes_after", change.bytes_after}};
}

Json SideJson(const DiffSide& side) {
  return Json{{"file", side.file}, {"complete", IsComplete(side.trace)}};
}

Json GraphIdJson(const Trace& trace, GraphId id) {
  return Json{{"id", id.value}, {"name", trace[trace[id].name]}};
}

}  // namespace

void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out) {
  const GraphJson graphs(before.trace, after.trace);
  const Json root = {
      {"schema", "graphkit-diff"},
      {"version", 1},
      {"equal", diff.any_graph() ? Json(diff.equal()) : Json(nullptr)},
      {"before", SideJson(before)},
      {"after", SideJson(after)},
      {"graphs", ListJson(diff.graphs, [&](const GraphDiff& graph) { return graphs.Of(graph); })},
      {"removed_graphs",
       ListJson(diff.removed_graphs, [&](GraphId id) { return GraphIdJson(before.trace, id); })},
      {"added_graphs",
       ListJson(diff.added_graphs, [&](GraphId id) { return GraphIdJson(after.trace, id); })},
      {"findings", ListJson(diff.findings, FindingJson)}};
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace graphkit
