#include <algorithm>
#include <map>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/json_writer.h"
#include "libgraphkit/render/moments_json.h"

namespace graphkit {

GRAPHKIT_JSON_OF(ReusePair, earlier, later, bytes, assumes)
GRAPHKIT_JSON_OF(PoolShare, pool, blocks, total_bytes, peak_live_bytes, lower_bound_bytes,
                 lower_bound_exact, online_bytes)
GRAPHKIT_JSON_OF(BillLine, name, blocks, bytes, never_freed_bytes, reuse_bytes)

namespace {

void WriteStack(const Trace& trace, StackId id, JsonPieces& json) {
  json.Begin('[');
  const Slice frames = id ? trace.stacks[id.index()].frames : Slice();
  for (uint32_t i = 0; i < frames.count; ++i) {
    const StackFrame& frame = trace.stack_frames[frames.first + i];
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    json.Begin('{');
    json.Add("function", function);
    json.Add("file", file);
    json.Add("line", frame.line);
    json.Add("library", IsLibraryFrame(function, file));
    json.End('}');
  }
  json.End(']');
}

Json NodesByTypeJson(const GraphSummary& graph) {
  Json counts = Json::object();
  for (size_t i = 0; i < graph.nodes_by_type.size(); ++i) {
    if (graph.nodes_by_type[i] == 0) continue;
    counts[NodeKindName(static_cast<NodeKind>(i))] = graph.nodes_by_type[i];
  }
  return counts;
}

// Why something isn't known; null where it is.
Json ReasonJson(const std::string& reason) { return reason.empty() ? Json(nullptr) : Json(reason); }

Json AskedMemoryJson(const std::optional<AskedMemory>& memory) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, memory.value_or(AskedMemory()), asked_bytes, segment_used_bytes,
                       segment_free_bytes, graph_node_bytes, input_bytes, not_attributed_bytes);
  for (Json& bytes : json) bytes = memory ? bytes : Json(nullptr);
  return json;
}

Json RangeJson(const ByteRange& range) {
  return Json{{"bytes", range.bytes}, {"low", range.low}, {"high", range.high}};
}

Json ExecPeakJson(const ExecPeak& peak, ExecSource source) {
  Json json = RangeJson(peak.bytes);
  json["source"] = NameOf(source);
  json["execs_at_peak"] = peak.execs;
  json["record"] = peak.at;
  return json;
}

Json ExecModelJson(const ExecModel& model) {
  Json json{{"measured_execs", model.measured_execs}};
  for (size_t i = 0; i < kExecParts; ++i) {
    json[NameOf(static_cast<ExecPart>(i))] = RangeJson(model.parts[i]);
  }
  return json;
}

Json ExecCostJson(const ExecCost& cost) {
  Json json = RangeJson(cost.bytes);
  json["id"] = cost.exec;
  json["graph"] = cost.graph;
  json["source"] = NameOf(cost.source);
  if (cost.source != ExecSource::kMeasured) return json;
  json["measured"] = Json{
      {"execs", cost.measured_alike}, {"least", cost.measured_least}, {"most", cost.measured_most}};
  return json;
}

// Null: nothing was instantiated.
Json ExecMemoryJson(const std::optional<ExecMemory>& memory) {
  if (!memory) return nullptr;
  Json json = ExecPeakJson(memory->peak, memory->source);
  json["readings"] = memory->readings;
  json["disturbed_readings"] = memory->disturbed_readings;
  json["model"] = ExecModelJson(memory->model);
  json["execs"] = ListJson(memory->execs, ExecCostJson);
  return json;
}

Json EarlyLaunchesJson(const GraphSummary& graph, const Trace& trace) {
  Json lines = Json::array();
  const auto name = [&trace](KernelId kernel) {
    return kernel ? Json(trace[trace[kernel].name]) : Json(nullptr);
  };
  for (const EarlyLaunches& launches : graph.early_launches) {
    const EarlyStart& start = launches.start;
    lines.push_back(Json{{"producer", name(launches.producer)},
                         {"consumer", name(launches.consumer)},
                         {"from_port", start.from_port},
                         {"triggers", NameOf(start.triggers)},
                         {"writes_after_trigger", NameOf(start.writes_after_trigger)},
                         {"waits", NameOf(start.waits)},
                         {"edges", launches.edges},
                         {"first_edge", launches.first}});
  }
  return lines;
}

Json GraphJson(const GraphSummary& graph, const Trace& trace, bool pairs = true) {
  Json json{
      {"id", graph.graph},    {"name", graph.name},   {"origin", NameOf(graph.origin)},
      {"nodes", graph.nodes}, {"edges", graph.edges}, {"nodes_by_type", NodesByTypeJson(graph)}};
  constexpr size_t kMembers = 48;  // so that names aren't copied as the object grows
  json.get_ref<Json::object_t&>().reserve(kMembers);
  GRAPHKIT_ADD_MEMBERS(json, graph, programmatic_edges, launch_completion_edges, cross_stream_edges,
                       critical_path_nodes, critical_path_ns, width, streams, blocks);
  json["early_launches"] = EarlyLaunchesJson(graph, trace);
  json["unknown_memory"] = ReasonJson(graph.unknown_memory);
  GRAPHKIT_ADD_MEMBERS(json, graph, total_bytes, peak_live_bytes, deferred_bytes, lower_bound_bytes,
                       lower_bound_exact, plan_bytes, online_bytes, peak_blocks, lower_bound_blocks,
                       pools, pinned_bytes, pinned_blocks, recorded_extent_bytes, never_freed_bytes,
                       never_freed_blocks, reuse_bytes);
  json["execs"] = graph.execs;
  json["exec_memory"] =
      graph.exec_peak ? ExecPeakJson(*graph.exec_peak, graph.exec_source) : Json(nullptr);
  if (pairs) json["reuse"] = graph.reuse;
  return json;
}

Json GraphOfReportJson(const GraphSummary& graph, const Report& report, const Trace& trace,
                       bool pairs) {
  Json json = GraphJson(graph, trace, pairs);
  // Times of the software device are those of a simulation.
  if (graph.captured_calls != 0 && report.device != DeviceKind::kSoft) {
    GRAPHKIT_ADD_MEMBERS(json, graph, captured_calls, capture_host_ns);
    json["host_ns_per_call"] = graph.capture_host_ns / graph.captured_calls;
  }
  return json;
}

void WriteEvidence(const Evidence& evidence, const Trace& trace, JsonPieces& json) {
  json.Begin('{');
  json.Add("text", evidence.text);
  json.Add("nodes", evidence.nodes);
  json.Add("edges", evidence.edges);
  json.Add("blocks", evidence.blocks);
  json.Key("stack");
  WriteStack(trace, evidence.stack, json);
  json.End('}');
}

void WriteFinding(const Finding& finding, const Trace& trace, JsonPieces& json) {
  json.Begin('{');
  json.Add("check", finding.check);
  json.Add("severity", SeverityName(finding.severity));
  json.Add("message", finding.message);
  json.Add("advice", finding.advice);
  json.Add("bytes", finding.bytes);
  json.Add("graph", finding.graph);
  json.Add("nodes", finding.nodes);
  json.Add("blocks", finding.blocks);
  json.Add("streams", finding.streams);
  json.Add("assumes", AssumptionName(finding.assumes));
  json.Key("evidence");
  json.Begin('[');
  for (const Evidence& item : finding.evidence) WriteEvidence(item, trace, json);
  json.End(']');
  json.End('}');
}

// What was changed for later launches.
Json ChangesJson(const Trace& trace) {
  const auto count = [&trace](NodeChangeKind kind) {
    return std::ranges::count(trace.node_changes, kind, &NodeChange::what);
  };
  return Json{{"exec_updates", trace.exec_updates.size()},
              {"node_params", count(NodeChangeKind::kParams)},
              {"nodes_enabled", count(NodeChangeKind::kEnabled)},
              {"nodes_disabled", count(NodeChangeKind::kDisabled)},
              {"nodes_updatable", count(NodeChangeKind::kUpdatable)}};
}

// Who holds memory at the end.
Json HeldJson(const std::vector<HeldLine>& held, BillBy by) {
  Json lines = Json::array();
  for (const HeldLine& line : held) {
    lines.push_back(Json{{"name", line.name}});
    if (HaveSegments(by)) GRAPHKIT_ADD_MEMBERS(lines.back(), line, segments, segment_bytes);
    GRAPHKIT_ADD_MEMBERS(lines.back(), line, blocks, block_bytes);
  }
  return Json{{"by", BillByName(by)}, {"lines", std::move(lines)}};
}

// The same of a moment.
Json HeldAtJson(const std::vector<HeldLine>& held, BillBy by, const HeldAt& at) {
  Json json = HeldJson(held, by);
  json["at"] = at.name;
  json["record"] = at.seq == kNever ? Json(nullptr) : Json(at.seq);
  return json;
}

// Null where sizes aren't known.
Json MomentsJson(const Report& report, const Trace& trace) {
  if (!report.unknown_memory.empty()) return nullptr;
  const MemoryMoments moments = FindMoments(trace);
  return Json{{"peak_reserved", MomentJson(moments.peak_reserved)},
              {"peak_in_use", MomentJson(moments.peak_in_use)},
              {"end", MomentJson(moments.end)}};
}

Json TotalsJson(const ReportTotals& totals, const Trace& trace) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, totals, graphs, nodes, edges, blocks);
  json["segments"] = trace.segments.size();
  GRAPHKIT_ADD_MEMBERS(json, totals, launches, allocated_bytes);
  json["notes"] = totals.findings[0];
  json["warnings"] = totals.findings[1];
  json["errors"] = totals.findings[2];
  json["changes"] = ChangesJson(trace);
  return json;
}

Json JoinsJson(const BlockJoins& joins) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, joins, captured_blocks, joined, without_stream, without_stack,
                       library_only, untouched, unread);
  return json;
}

// `graph_json`: of each graph.
template <typename ToJson>
void WriteReport(const Report& report, const Trace& trace, ToJson graph_json,
                 JsonObjectWriter& json) {
  json.Add("schema", "graphkit-analyze");
  json.Add("version", 1);
  json.Add("device", NameOf(report.device));
  json.Add("complete", report.complete);
  json.Add("incomplete_because", report.incomplete_because);
  json.Add("unknown_memory", ReasonJson(report.unknown_memory));
  json.Add("program", report.program);
  json.AddList("graphs", report.graphs, graph_json);
  json.AddTexts("findings", report.findings, [&](const Finding& finding, JsonPieces& text) {
    WriteFinding(finding, trace, text);
  });
  json.Add("driver_memory", AskedMemoryJson(report.memory));
  json.Add("memory_moments", MomentsJson(report, trace));
  json.Add("exec_memory", ExecMemoryJson(report.execs));
  json.Add("joins", JoinsJson(report.joins));
  json.Add("totals", TotalsJson(report.totals, trace));
}

}  // namespace

void RenderJson(const Report& report, const Trace& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills, const std::vector<HeldLine>& held, BillBy by,
                const HeldAt& at) {
  std::map<GraphId, const MemoryBill*> by_graph;
  for (const MemoryBill& bill : bills) by_graph.emplace(bill.graph, &bill);
  JsonObjectWriter json(out, 2);
  const auto graph_json = [&](const GraphSummary& graph) {
    Json of_graph = GraphOfReportJson(graph, report, trace, true);
    if (const auto bill = by_graph.find(graph.graph); bill != by_graph.end()) {
      of_graph["memory_by"] = {{"by", BillByName(by)}, {"lines", bill->second->lines}};
    }
    return of_graph;
  };
  WriteReport(report, trace, graph_json, json);
  if (!held.empty() && at == HeldAt()) json.Add("held_at_end", HeldJson(held, by));
  if (!held.empty() && at != HeldAt()) json.Add("held_at", HeldAtJson(held, by, at));
  json.End();
  out << "\n";
}

void RenderPageJson(const Report& report, const Trace& trace, std::ostream& out) {
  JsonObjectWriter json(out);
  const auto graph_json = [&](const GraphSummary& graph) {
    return GraphOfReportJson(graph, report, trace, false);
  };
  WriteReport(report, trace, graph_json, json);
  json.End();
}

}  // namespace graphkit
