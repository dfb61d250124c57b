#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/json_pieces.h"

namespace graphkit {

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

// Why something isn't known; null where it is.
std::optional<std::string_view> Reason(const std::string& reason) {
  return reason.empty() ? std::nullopt : std::optional<std::string_view>(reason);
}

Json AskedMemoryJson(const std::optional<AskedMemory>& memory) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, memory.value_or(AskedMemory()), asked_bytes, segment_used_bytes,
                       segment_free_bytes, graph_node_bytes, input_bytes, not_attributed_bytes);
  for (Json& bytes : json) bytes = memory ? bytes : Json(nullptr);
  return json;
}

void WriteRange(const ByteRange& range, JsonPieces& json) {
  GRAPHKIT_WRITE_MEMBERS(json, range, bytes, low, high);
}

void WriteExecPeak(const ExecPeak& peak, ExecSource source, JsonPieces& json) {
  WriteRange(peak.bytes, json);
  json.Add("source", NameOf(source));
  json.Add("execs_at_peak", peak.execs);
  json.Add("record", peak.at);
}

void WriteExecModel(const ExecModel& model, JsonPieces& json) {
  json.Add("measured_execs", model.measured_execs);
  for (size_t i = 0; i < kExecParts; ++i) {
    json.AddObject(NameOf(static_cast<ExecPart>(i)), [&] { WriteRange(model.parts[i], json); });
  }
}

void WriteExecCost(const ExecCost& cost, JsonPieces& json) {
  WriteRange(cost.bytes, json);
  json.Add("id", cost.exec);
  json.Add("graph", cost.graph);
  json.Add("source", NameOf(cost.source));
  if (cost.source != ExecSource::kMeasured) return;
  json.AddObject("measured", [&] {
    json.Add("execs", cost.measured_alike);
    json.Add("least", cost.measured_least);
    json.Add("most", cost.measured_most);
  });
}

// Null: nothing was instantiated.
void WriteExecMemory(const std::optional<ExecMemory>& memory, JsonPieces& json) {
  if (!memory) return json.Null();
  json.Begin('{');
  WriteExecPeak(memory->peak, memory->source, json);
  GRAPHKIT_WRITE_MEMBERS(json, *memory, readings, disturbed_readings);
  json.AddObject("model", [&] { WriteExecModel(memory->model, json); });
  json.AddObjects("execs", memory->execs, [&](const ExecCost& cost) { WriteExecCost(cost, json); });
  json.End('}');
}

void WriteEarlyLaunches(const EarlyLaunches& launches, const Trace& trace, JsonPieces& json) {
  const auto name = [&trace](KernelId kernel) {
    return kernel ? std::optional(trace[trace[kernel].name]) : std::nullopt;
  };
  const EarlyStart& start = launches.start;
  json.Add("producer", name(launches.producer));
  json.Add("consumer", name(launches.consumer));
  json.Add("from_port", uint32_t{start.from_port});
  json.Add("triggers", NameOf(start.triggers));
  json.Add("writes_after_trigger", NameOf(start.writes_after_trigger));
  json.Add("waits", NameOf(start.waits));
  json.Add("edges", launches.edges);
  json.Add("first_edge", launches.first);
}

void WriteNodesByType(const GraphSummary& graph, JsonPieces& json) {
  for (size_t i = 0; i < graph.nodes_by_type.size(); ++i) {
    if (graph.nodes_by_type[i] == 0) continue;
    json.Add(NodeKindName(static_cast<NodeKind>(i)), graph.nodes_by_type[i]);
  }
}

void WriteGraph(const GraphSummary& graph, const Trace& trace, bool pairs, JsonPieces& json) {
  json.Add("id", graph.graph);
  json.Add("name", graph.name);
  json.Add("origin", NameOf(graph.origin));
  GRAPHKIT_WRITE_MEMBERS(json, graph, nodes, edges);
  json.AddObject("nodes_by_type", [&] { WriteNodesByType(graph, json); });
  GRAPHKIT_WRITE_MEMBERS(json, graph, programmatic_edges, launch_completion_edges,
                         cross_stream_edges, critical_path_nodes, critical_path_ns, width, streams,
                         blocks);
  json.AddObjects("early_launches", graph.early_launches, [&](const EarlyLaunches& launches) {
    WriteEarlyLaunches(launches, trace, json);
  });
  json.Add("unknown_memory", Reason(graph.unknown_memory));
  GRAPHKIT_WRITE_MEMBERS(json, graph, total_bytes, peak_live_bytes, deferred_bytes,
                         lower_bound_bytes, lower_bound_exact, plan_bytes, online_bytes,
                         peak_blocks, lower_bound_blocks);
  json.AddObjects("pools", graph.pools, [&](const PoolShare& share) {
    GRAPHKIT_WRITE_MEMBERS(json, share, pool, blocks, total_bytes, peak_live_bytes,
                           lower_bound_bytes, lower_bound_exact, online_bytes);
  });
  GRAPHKIT_WRITE_MEMBERS(json, graph, pinned_bytes, pinned_blocks, recorded_extent_bytes,
                         never_freed_bytes, never_freed_blocks, reuse_bytes, execs);
  json.Key("exec_memory");
  if (graph.exec_peak) {
    json.Begin('{');
    WriteExecPeak(*graph.exec_peak, graph.exec_source, json);
    json.End('}');
  } else {
    json.Null();
  }
  if (!pairs) return;
  json.AddObjects("reuse", graph.reuse, [&](const ReusePair& pair) {
    GRAPHKIT_WRITE_MEMBERS(json, pair, earlier, later, bytes);
    json.Add("assumes", AssumptionName(pair.assumes));
  });
}

void WriteGraphOfReport(const GraphSummary& graph, const Report& report, const Trace& trace,
                        bool pairs, JsonPieces& json) {
  WriteGraph(graph, trace, pairs, json);
  // Times of the software device are those of a simulation.
  if (graph.captured_calls == 0 || report.device == DeviceKind::kSoft) return;
  GRAPHKIT_WRITE_MEMBERS(json, graph, captured_calls, capture_host_ns);
  json.Add("host_ns_per_call", graph.capture_host_ns / graph.captured_calls);
}

void WriteEvidence(const Evidence& evidence, const Trace& trace, JsonPieces& json) {
  json.Add("text", evidence.text);
  json.Add("nodes", evidence.nodes);
  json.Add("edges", evidence.edges);
  json.Add("blocks", evidence.blocks);
  json.Key("stack");
  WriteStack(trace, evidence.stack, json);
}

void WriteFinding(const Finding& finding, const Trace& trace, JsonPieces& json) {
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
  json.AddObjects("evidence", finding.evidence,
                  [&](const Evidence& item) { WriteEvidence(item, trace, json); });
}

// Changes for later launches.
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

// write_graph(graph): the members of each graph.
void WriteReport(const Report& report, const Trace& trace, auto write_graph, JsonPieces& json) {
  json.Begin('{');
  json.Add("schema", "graphkit-analyze");
  json.Add("version", 1u);
  json.Add("device", NameOf(report.device));
  json.Add("complete", report.complete);
  json.Add("incomplete_because", report.incomplete_because);
  json.Add("unknown_memory", Reason(report.unknown_memory));
  json.Add("program", report.program);
  json.AddObjects("graphs", report.graphs, write_graph);
  json.AddObjects("findings", report.findings,
                  [&](const Finding& finding) { WriteFinding(finding, trace, json); });
  json.Add("driver_memory", AskedMemoryJson(report.memory));
  json.Add("memory_moments", report.moments ? MomentsJson(*report.moments) : Json(nullptr));
  json.Key("exec_memory");
  WriteExecMemory(report.execs, json);
  json.Add("joins", JoinsJson(report.joins));
  json.Add("totals", TotalsJson(report.totals, trace));
}

}  // namespace

void RenderJson(const Report& report, const Trace& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills, const std::vector<HeldLine>& held, BillBy by,
                const HeldAt& at) {
  std::map<GraphId, const MemoryBill*> by_graph;
  for (const MemoryBill& bill : bills) by_graph.emplace(bill.graph, &bill);
  JsonPieces json(out, 2);
  const auto write_graph = [&](const GraphSummary& graph) {
    WriteGraphOfReport(graph, report, trace, true, json);
    const auto bill = by_graph.find(graph.graph);
    if (bill == by_graph.end()) return;
    json.AddObject("memory_by", [&] {
      json.Add("by", BillByName(by));
      json.AddObjects("lines", bill->second->lines, [&](const BillLine& line) {
        GRAPHKIT_WRITE_MEMBERS(json, line, name, blocks, bytes, never_freed_bytes, reuse_bytes);
      });
    });
  };
  WriteReport(report, trace, write_graph, json);
  if (!held.empty() && at == HeldAt()) json.Add("held_at_end", HeldJson(held, by));
  if (!held.empty() && at != HeldAt()) json.Add("held_at", HeldAtJson(held, by, at));
  json.End('}');
  out << "\n";
}

void RenderPageJson(const Report& report, const Trace& trace, std::ostream& out) {
  JsonPieces json(out);
  const auto write_graph = [&](const GraphSummary& graph) {
    WriteGraphOfReport(graph, report, trace, false, json);
  };
  WriteReport(report, trace, write_graph, json);
  json.End('}');
}

}  // namespace graphkit
