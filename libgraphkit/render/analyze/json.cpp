#include "libgraphkit/render/analyze/json.h"

#include <algorithm>
#include <string_view>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/render/analyze/coverage.h"
#include "libgraphkit/render/finding_text.h"

namespace graphkit {

GRAPHKIT_JSON_OF(PoolShare, pool, blocks, total_bytes, peak_live_bytes, lower_bound_bytes,
                 lower_bound_exact)
GRAPHKIT_JSON_OF(ReusePair, earlier, later, bytes, assumes)
GRAPHKIT_JSON_OF(BillLine, name, blocks, bytes, never_freed_bytes, reuse_bytes)
GRAPHKIT_JSON_OF(BlockJoins, captured_blocks, joined, without_stream, without_stack, library_only,
                 untouched, unread)

namespace {

Json StackJson(const Ran& trace, StackId id) {
  Json stack = Json::array();
  for (const StackFrame& frame : StackFrames(trace, id)) {
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    stack.push_back({{"function", function},
                     {"file", file},
                     {"line", frame.line},
                     {"library", IsLibraryFrame(function, file)}});
  }
  return stack;
}

Json AskedMemoryJson(const std::optional<AskedMemory>& memory) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, memory.value_or(AskedMemory()), asked_bytes, segment_used_bytes,
                       segment_free_bytes, graph_node_bytes, input_bytes, not_attributed_bytes);
  for (Json& bytes : json) bytes = memory ? bytes : Json(nullptr);
  return json;
}

Json ExecPeakJson(const ExecPeak& peak, ExecSource source) {
  Json json = peak.bytes;
  json["source"] = source;
  json["execs_at_peak"] = peak.execs;
  json["record"] = peak.at;
  return json;
}

Json ExecModelJson(const ExecModel& model) {
  Json json{{"measured_execs", model.measured_execs}};
  for (size_t i = 0; i < kExecParts; ++i) json[NameOf(static_cast<ExecPart>(i))] = model.parts[i];
  return json;
}

Json ExecCostJson(const ExecCost& cost) {
  Json json = cost.bytes;
  json["id"] = cost.exec;
  GRAPHKIT_ADD_MEMBERS(json, cost, graph, source);
  if (cost.source != ExecSource::kMeasured) return json;
  json["measured"] = {
      {"execs", cost.measured_alike}, {"least", cost.measured_least}, {"most", cost.measured_most}};
  return json;
}

// Null: nothing was instantiated.
Json ExecMemoryJson(const std::optional<ExecMemory>& memory) {
  if (!memory) return nullptr;
  Json json = ExecPeakJson(memory->peak, memory->source);
  GRAPHKIT_ADD_MEMBERS(json, *memory, readings, disturbed_readings);
  json["model"] = ExecModelJson(memory->model);
  json["execs"] = ListJson(memory->execs, ExecCostJson);
  return json;
}

Json EarlyLaunchesJson(const EarlyLaunches& launches, const Ran& trace) {
  const auto name = [&trace](KernelId kernel) {
    return kernel ? Json(trace[trace[kernel].name]) : Json(nullptr);
  };
  Json json{{"producer", name(launches.producer)}, {"consumer", name(launches.consumer)}};
  GRAPHKIT_ADD_MEMBERS(json, launches.start, from_port, triggers, writes_after_trigger, waits);
  json["edges"] = launches.edges;
  json["first_edge"] = launches.first;
  return json;
}

Json NodesByTypeJson(const GraphSummary& graph) {
  Json json = Json::object();
  for (size_t i = 0; i < graph.nodes_by_type.size(); ++i) {
    if (graph.nodes_by_type[i] == 0) continue;
    json[NameOf(static_cast<NodeKind>(i))] = graph.nodes_by_type[i];
  }
  return json;
}

Json ReportGraphJson(const GraphSummary& graph, const Report& report, const Ran& trace,
                     bool pairs) {
  Json json{{"id", graph.graph}};
  GRAPHKIT_ADD_MEMBERS(json, graph, name, origin, nodes, edges);
  json["nodes_by_type"] = NodesByTypeJson(graph);
  GRAPHKIT_ADD_MEMBERS(json, graph, programmatic_edges, launch_completion_edges, cross_stream_edges,
                       critical_path_nodes, critical_path_ns, width, streams, blocks);
  json["early_launches"] = ListJson(graph.early_launches, [&](const EarlyLaunches& launches) {
    return EarlyLaunchesJson(launches, trace);
  });
  json["unknown_memory"] = NullIfEmpty(graph.unknown_memory);
  GRAPHKIT_ADD_MEMBERS(json, graph, total_bytes, peak_live_bytes, deferred_bytes, lower_bound_bytes,
                       lower_bound_exact, plan_bytes, peak_blocks, lower_bound_blocks, pools,
                       pinned_bytes, pinned_blocks, recorded_extent_bytes, never_freed_bytes,
                       never_freed_blocks, reuse_bytes, execs, destroyed);
  json["exec_memory"] =
      graph.exec_peak ? ExecPeakJson(*graph.exec_peak, graph.exec_source) : Json(nullptr);
  if (graph.updated) json["updated_exec"] = graph.updated;
  if (pairs) json["reuse"] = graph.reuse;
  // Times of the software device are those of a simulation.
  if (graph.captured_calls == 0 || report.device == DeviceKind::kSoft) return json;
  GRAPHKIT_ADD_MEMBERS(json, graph, captured_calls, capture_host_ns);
  json["host_ns_per_call"] = graph.capture_host_ns / graph.captured_calls;
  return json;
}

Json ReportFindingJson(const Finding& finding, const Ran& trace) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, finding, check, severity, message, advice, bytes, graph, nodes, blocks,
                       streams, assumes);
  AddPlaces(finding, json);
  json["evidence"] = ListJson(finding.evidence, [&](const Evidence& evidence) {
    Json item;
    GRAPHKIT_ADD_MEMBERS(item, evidence, text, nodes, edges, blocks);
    item["stack"] = StackJson(trace, evidence.stack);
    return item;
  });
  return json;
}

// Changes for later launches.
Json ChangesJson(const Ran& trace) {
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
  return Json{{"by", by}, {"lines", std::move(lines)}};
}

// The same of a moment.
Json HeldAtJson(const std::vector<HeldLine>& held, BillBy by, const HeldAt& at) {
  Json json = HeldJson(held, by);
  json["at"] = at.name;
  json["record"] = at.seq == kNever ? Json(nullptr) : Json(at.seq);
  return json;
}

Json TotalsJson(const ReportTotals& totals, const Ran& trace) {
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

}  // namespace

Json ReportJson(const Report& report, const Ran& trace, bool pairs) {
  Json json{{"schema", "graphkit-analyze"}, {"version", 1}};
  GRAPHKIT_ADD_MEMBERS(json, report, device, complete, incomplete_because);
  json["unknown_memory"] = NullIfEmpty(report.unknown_memory);
  json["program"] = report.program;
  json["graphs"] = ListJson(report.graphs, [&](const GraphSummary& graph) {
    return ReportGraphJson(graph, report, trace, pairs);
  });
  json["findings"] = ListJson(
      report.findings, [&](const Finding& finding) { return ReportFindingJson(finding, trace); });
  json["finding_groups"] = GroupsJson(report.groups);
  json["driver_memory"] = AskedMemoryJson(report.memory);
  json["memory_moments"] = report.moments;
  json["exec_memory"] = ExecMemoryJson(report.execs);
  json["joins"] = report.joins;
  json["totals"] = TotalsJson(report.totals, trace);
  return json;
}

void RenderJson(const Report& report, const Ran& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills, const std::vector<HeldLine>& held, BillBy by,
                const HeldAt& at, const Coverage* coverage) {
  Json json = ReportJson(report, trace, true);
  for (const MemoryBill& bill : bills) {
    const auto graph = std::ranges::find(report.graphs, bill.graph, &GraphSummary::graph);
    if (graph == report.graphs.end()) continue;
    json["graphs"][static_cast<size_t>(graph - report.graphs.begin())]["memory_by"] = {
        {"by", by}, {"lines", bill.lines}};
  }
  if (!held.empty() && at == HeldAt()) json["held_at_end"] = HeldJson(held, by);
  if (!held.empty() && at != HeldAt()) json["held_at"] = HeldAtJson(held, by, at);
  if (coverage != nullptr) json["coverage"] = CoverageJson(*coverage, trace);
  out << Dump(json, 2) << "\n";
}

}  // namespace graphkit
