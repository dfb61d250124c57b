#include "tools/graphkit/export/export.h"

#include <sstream>

#include <nlohmann/json.hpp>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/printable.h"
#include "libgraphkit/render/json.h"

namespace graphkit {
namespace {

Json CollectiveJson(const Ran& trace, const Collective& collective) {
  const Communicator& communicator = trace[collective.communicator];
  return Json{{"kind", NameOf(collective.kind)},
              {"count", collective.count},
              {"type", NameOf(collective.type)},
              {"peer", collective.peer < 0 ? Json() : Json(collective.peer)},
              {"communicator", collective.communicator},
              {"ranks", communicator.ranks},
              {"rank", communicator.rank}};
}

Json NodeJson(const Ran& trace, NodeId id, uint64_t tool_id) {
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
  for (const Collective& c : RowsAt(trace.collectives, node.seq)) {
    json["collectives"].push_back(CollectiveJson(trace, c));
  }
  if (tool_id != 0) json["tool_id"] = tool_id;
  return json;
}

Json ExecJson(const Ran& trace, ExecId id, const ExecToolIds& tool_ids) {
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

Json LaunchJson(const Ran& trace, LaunchId id) {
  const Launch& launch = trace.launches[id.index()];
  Json json{{"id", id}};
  GRAPHKIT_ADD_MEMBERS(json, launch, exec, stream, seq, correlation);
  return json;
}

// Writes one element a line: a graph can have millions.
void WriteList(const char* key, size_t count, auto to_json, std::ostream& out) {
  out << ",\n   \"" << key << "\": [";
  for (size_t i = 0; i < count; ++i) out << (i == 0 ? "\n    " : ",\n    ") << Dump(to_json(i));
  out << "]";
}

constexpr const char* kPerfettoBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
constexpr const char* kPerfettoEnd = "\n]}\n";

std::string ProgramName(const Ran& trace) {
  return trace.process.program.empty() ? "trace" : Printable(trace.process.program);
}

// No field holds the end of a line.
std::string WithColumn(const std::string& table, std::string_view name, uint32_t rank) {
  std::string out;
  const std::string field = CsvField(name) + ",";
  size_t begin = 0;
  for (bool head = true; begin < table.size(); head = false) {
    const size_t end = table.find('\n', begin) + 1;
    if (!head) out += field;
    if (head && rank == 0) out += "trace,";
    if (!head || rank == 0) out.append(table, begin, end - begin);
    begin = end;
  }
  return out;
}

}  // namespace

void RenderGraphsJson(const Ran& trace, std::ostream& out) {
  std::vector<std::vector<NodeId>> nodes(trace.graphs.size());
  std::vector<std::vector<EdgeId>> edges(trace.graphs.size());
  for (const NodeId id : trace.graph_nodes) nodes[trace[id].graph.index()].push_back(id);
  for (const EdgeId id : trace.graph_edges)
    edges[trace[trace[id].from].graph.index()].push_back(id);
  const std::vector<uint64_t> tool_ids = OwnToolIds(trace);
  out << "{\"schema\": \"graphkit-graphs\", \"version\": 1, \"device\": \""
      << NameOf(trace.process.device)
      << "\", \"complete\": " << (IsComplete(trace) ? "true" : "false") << ", \"graphs\": [";
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    const Graph& graph = trace.graphs[i];
    out << (i == 0 ? "\n" : ",\n") << "  {\"id\": " << i
        << ", \"name\": " << Dump(trace[graph.name]) << ", \"origin\": \"" << NameOf(graph.origin)
        << "\", \"parent\": " << Dump(graph.parent) << ", \"tool_id\": " << graph.tool_id;
    const auto node = [&](size_t at) {
      return NodeJson(trace, nodes[i][at], tool_ids[nodes[i][at].index()]);
    };
    const auto edge = [&](size_t at) { return EdgeJson(edges[i][at], trace[edges[i][at]]); };
    WriteList("nodes", nodes[i].size(), node, out);
    WriteList("edges", edges[i].size(), edge, out);
    out << "}";
  }
  out << "\n]";
  const ExecToolIds ids(trace);
  const auto exec = [&](size_t at) { return ExecJson(trace, ExecId(at), ids); };
  const auto launch = [&](size_t at) { return LaunchJson(trace, LaunchId(at)); };
  WriteList("execs", trace.execs.size(), exec, out);
  WriteList("launches", trace.launches.size(), launch, out);
  out << "}\n";
}

void RenderExport(const Ran& trace, const ExportStyle& style, std::ostream& out) {
  switch (style.format) {
    case ExportFormat::kPerfetto:
      out << kPerfettoBegin;
      RenderTraceEvents(trace, style.axis, {ProgramName(trace), trace.process.pid}, out);
      out << kPerfettoEnd;
      return;
    case ExportFormat::kJson:
      return RenderGraphsJson(trace, out);
    case ExportFormat::kCsv:
      return RenderCsv(trace, style.table, out);
  }
}

std::string ExportPart(const Ran& trace, std::string_view name, uint32_t rank,
                       const ExportStyle& style) {
  std::ostringstream out;
  switch (style.format) {
    case ExportFormat::kPerfetto:
      // Of several machines, some processes may have the same pid.
      RenderTraceEvents(trace, style.axis,
                        {Printable(name) + " " + ProgramName(trace), int64_t{rank} + 1, rank}, out);
      break;
    case ExportFormat::kJson:
      out << "{\"trace\": " << nlohmann::json(Printable(name)).dump() << ", \"graphs\": ";
      RenderGraphsJson(trace, out);
      out << "}";
      break;
    case ExportFormat::kCsv:
      RenderCsv(trace, style.table, out);
      return WithColumn(out.str(), name, rank);
  }
  return std::move(out).str();
}

std::string_view ExportBefore(uint32_t rank, ExportFormat format) {
  if (format == ExportFormat::kPerfetto) return rank == 0 ? kPerfettoBegin : ",\n";
  if (format != ExportFormat::kJson) return "";
  return rank == 0 ? "{\"schema\": \"graphkit-graphs-of-ranks\", \"version\": 1, \"traces\": [\n"
                   : ",\n";
}

std::string_view ExportEnd(ExportFormat format) {
  if (format == ExportFormat::kPerfetto) return kPerfettoEnd;
  return format == ExportFormat::kJson ? "\n]}\n" : "";
}

}  // namespace graphkit
