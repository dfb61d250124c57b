#include <vector>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/render/export/export.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

namespace {

Json CollectiveJson(const Trace& trace, const Collective& collective) {
  const Communicator& communicator = trace[collective.communicator];
  return Json{{"kind", NameOf(collective.kind)},
              {"count", collective.count},
              {"type", NameOf(collective.type)},
              {"peer", collective.peer < 0 ? Json() : Json(collective.peer)},
              {"communicator", collective.communicator},
              {"ranks", communicator.ranks},
              {"rank", communicator.rank}};
}

Json NodeJson(const Trace& trace, NodeId id, uint64_t tool_id) {
  const Node& node = trace[id];
  Json json{
      {"id", id}, {"kind", NodeKindName(node.kind)}, {"stream", node.stream}, {"seq", node.seq}};
  if (node.kernel) json["kernel"] = trace[trace[node.kernel].name];
  if (node.kernel) json["name"] = Demangle(trace[trace[node.kernel].name]);
  if (node.shape < trace.shapes.size()) {
    const LaunchShape& shape = trace.shapes[node.shape];
    json["grid"] = shape.grid;
    json["block_size"] = shape.block;
    json["shared_bytes"] = shape.shared_bytes;
  }
  if (node.block) json["block"] = node.block;
  if (node.duration_ns > 0) json["duration_ns"] = uint64_t{node.duration_ns};
  for (const Collective& c : CollectivesAt(trace, node.seq)) {
    json["collectives"].push_back(CollectiveJson(trace, c));
  }
  if (tool_id != 0) json["tool_id"] = tool_id;
  return json;
}

Json ExecJson(const Trace& trace, ExecId id, const ExecToolIds& tool_ids) {
  const Exec& exec = trace[id];
  Json runs = Json::array();
  for (const ToolIdRun& run : tool_ids.Of(id)) {
    runs.push_back({run.first.value, run.count, run.tool_id});
  }
  return Json{{"id", id},
              {"graph", exec.graph},
              {"tool_id", exec.tool_id},
              {"flags", exec.flags},
              {"recorded", exec.node_ids.count != 0},
              {"node_ids", runs}};
}

Json LaunchJson(const Trace& trace, LaunchId id) {
  const Launch& launch = trace.launches[id.index()];
  return Json{{"id", id},
              {"exec", launch.exec},
              {"stream", launch.stream},
              {"seq", launch.seq},
              {"correlation", launch.correlation}};
}

template <typename Tag>
std::vector<Id<Tag>> FirstIds(size_t count) {
  std::vector<Id<Tag>> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = Id<Tag>(i);
  return ids;
}

// Writes one element a line: a graph can have millions.
template <typename Ids, typename ToJson>
void WriteList(const char* key, const Ids& ids, ToJson to_json, std::ostream& out) {
  out << ",\n   \"" << key << "\": [";
  bool first = true;
  for (const auto id : ids) {
    out << (first ? "\n    " : ",\n    ") << Dump(to_json(id));
    first = false;
  }
  out << "]";
}

}  // namespace

void RenderGraphsJson(const Trace& trace, std::ostream& out) {
  std::vector<std::vector<NodeId>> nodes(trace.graphs.size());
  std::vector<std::vector<EdgeId>> edges(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (InGraph(trace, trace.nodes[i])) nodes[trace.nodes[i].graph.index()].push_back(NodeId(i));
  }
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (InGraph(trace, edge)) edges[trace[edge.from].graph.index()].push_back(EdgeId(i));
  }
  const std::vector<uint64_t> tool_ids = OwnToolIds(trace);
  out << "{\"schema\": \"graphkit-graphs\", \"version\": 1, \"device\": \""
      << NameOf(trace.process.device)
      << "\", \"complete\": " << (IsComplete(trace) ? "true" : "false") << ", \"graphs\": [";
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const Graph& graph = trace.graphs[i];
    out << (i == 0 ? "\n" : ",\n") << "  {\"id\": " << i
        << ", \"name\": " << Dump(trace[graph.name]) << ", \"origin\": \"" << NameOf(graph.origin)
        << "\", \"parent\": " << Dump(graph.parent) << ", \"tool_id\": " << graph.tool_id;
    WriteList(
        "nodes", nodes[i], [&](NodeId id) { return NodeJson(trace, id, tool_ids[id.index()]); },
        out);
    WriteList(
        "edges", edges[i], [&](EdgeId id) { return EdgeJson(id, trace[id]); }, out);
    out << "}";
  }
  out << "\n]";
  const ExecToolIds execs(trace);
  WriteList(
      "execs", FirstIds<ExecTag>(trace.execs.size()),
      [&](ExecId id) { return ExecJson(trace, id, execs); }, out);
  WriteList(
      "launches", FirstIds<LaunchTag>(trace.launches.size()),
      [&](LaunchId id) { return LaunchJson(trace, id); }, out);
  out << "}\n";
}

}  // namespace graphkit
