#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/id_json.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

Json StackJson(const Trace& trace, StackId id) {
  Json list = Json::array();
  if (!id) return list;
  const Slice frames = trace.stacks[id.index()].frames;
  for (uint32_t i = 0; i < frames.count; ++i) {
    const StackFrame& frame = trace.stack_frames[frames.first + i];
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    list.push_back(Json{{"function", function},
                        {"file", file},
                        {"line", frame.line},
                        {"library", IsLibraryFrame(function, file)}});
  }
  return list;
}

Json NodesByTypeJson(const GraphSummary& graph) {
  Json counts = Json::object();
  for (size_t i = 0; i < graph.nodes_by_type.size(); ++i) {
    if (graph.nodes_by_type[i] == 0) continue;
    counts[NodeKindName(static_cast<NodeKind>(i))] = graph.nodes_by_type[i];
  }
  return counts;
}

Json ReuseJson(const GraphSummary& graph) {
  Json list = Json::array();
  for (const ReusePair& pair : graph.reuse) {
    list.push_back(Json{{"earlier", IdJson(pair.earlier)},
                        {"later", IdJson(pair.later)},
                        {"bytes", pair.bytes},
                        {"assumes", AssumptionName(pair.assumes)}});
  }
  return list;
}

Json PoolsJson(const GraphSummary& graph) {
  Json list = Json::array();
  for (const PoolShare& share : graph.pools) {
    list.push_back(Json{{"pool", IdJson(share.pool)},
                        {"blocks", share.blocks},
                        {"total_bytes", share.total_bytes},
                        {"peak_live_bytes", share.peak_live_bytes},
                        {"lower_bound_bytes", share.lower_bound_bytes},
                        {"lower_bound_exact", share.lower_bound_exact},
                        {"online_bytes", FigureJson(share.online_bytes)}});
  }
  return list;
}

// Why something isn't known; null where it is.
Json ReasonJson(const std::string& reason) { return reason.empty() ? Json(nullptr) : Json(reason); }

Json AskedMemoryJson(const std::optional<AskedMemory>& memory) {
  const auto bytes = [&memory](Bytes AskedMemory::*part) {
    return memory ? Json((*memory).*part) : Json(nullptr);
  };
  return Json{{"asked_bytes", bytes(&AskedMemory::asked_bytes)},
              {"segment_used_bytes", bytes(&AskedMemory::segment_used_bytes)},
              {"segment_free_bytes", bytes(&AskedMemory::segment_free_bytes)},
              {"graph_node_bytes", bytes(&AskedMemory::graph_node_bytes)},
              {"input_bytes", bytes(&AskedMemory::input_bytes)},
              {"not_attributed_bytes", bytes(&AskedMemory::other_bytes)}};
}

Json GraphJson(const GraphSummary& graph) {
  return Json{{"id", IdJson(graph.graph)},
              {"name", graph.name},
              {"origin", NameOf(graph.origin)},
              {"nodes", graph.nodes},
              {"edges", graph.edges},
              {"nodes_by_type", NodesByTypeJson(graph)},
              {"programmatic_edges", graph.programmatic_edges},
              {"launch_completion_edges", graph.launch_completion_edges},
              {"cross_stream_edges", graph.cross_stream_edges},
              {"critical_path_nodes", graph.critical_path_nodes},
              {"critical_path_ns", graph.critical_path_ns},
              {"width", graph.width},
              {"streams", graph.streams},
              {"blocks", graph.blocks},
              {"unknown_memory", ReasonJson(graph.unknown_memory)},
              {"total_bytes", FigureJson(graph.total_bytes)},
              {"peak_live_bytes", FigureJson(graph.peak_live_bytes)},
              {"deferred_bytes", FigureJson(graph.deferred_bytes)},
              {"lower_bound_bytes", FigureJson(graph.lower_bound_bytes)},
              {"lower_bound_exact", graph.lower_bound_exact},
              {"plan_bytes", FigureJson(graph.plan_bytes)},
              {"online_bytes", FigureJson(graph.online_bytes)},
              {"peak_blocks", IdsJson(graph.peak_blocks)},
              {"lower_bound_blocks", IdsJson(graph.lower_bound_blocks)},
              {"pools", PoolsJson(graph)},
              {"pinned_bytes", FigureJson(graph.pinned_bytes)},
              {"pinned_blocks", graph.pinned_blocks},
              {"recorded_extent_bytes", FigureJson(graph.recorded_extent_bytes)},
              {"never_freed_bytes", FigureJson(graph.never_freed_bytes)},
              {"never_freed_blocks", graph.never_freed_blocks},
              {"reuse_bytes", FigureJson(graph.reuse_bytes)},
              {"reuse", ReuseJson(graph)}};
}

Json BillJson(const MemoryBill& bill, BillBy by) {
  Json lines = Json::array();
  for (const BillLine& line : bill.lines) {
    lines.push_back(Json{{"name", line.name},
                         {"blocks", line.blocks},
                         {"bytes", line.bytes},
                         {"never_freed_bytes", line.never_freed_bytes},
                         {"reuse_bytes", line.reuse_bytes}});
  }
  return Json{{"by", BillByName(by)}, {"lines", std::move(lines)}};
}

Json GraphsJson(const Report& report, const std::vector<MemoryBill>& bills, BillBy by) {
  Json graphs = Json::array();
  for (const GraphSummary& graph : report.graphs) {
    graphs.push_back(GraphJson(graph));
    // Times of the software device are those of a simulation.
    if (graph.captured_calls != 0 && report.device != DeviceKind::kSoft) {
      graphs.back()["captured_calls"] = graph.captured_calls;
      graphs.back()["capture_host_ns"] = graph.capture_host_ns;
      graphs.back()["host_ns_per_call"] = graph.capture_host_ns / graph.captured_calls;
    }
    const auto bill = std::ranges::find(bills, graph.graph, &MemoryBill::graph);
    if (bill != bills.end()) graphs.back()["memory_by"] = BillJson(*bill, by);
  }
  return graphs;
}

Json EvidenceJson(const Evidence& evidence, const Trace& trace) {
  return Json{{"text", evidence.text},
              {"nodes", IdsJson(evidence.nodes)},
              {"edges", IdsJson(evidence.edges)},
              {"blocks", IdsJson(evidence.blocks)},
              {"stack", StackJson(trace, evidence.stack)}};
}

Json FindingJson(const Finding& finding, const Trace& trace) {
  Json evidence = Json::array();
  for (const Evidence& item : finding.evidence) evidence.push_back(EvidenceJson(item, trace));
  return Json{{"check", finding.check},
              {"severity", SeverityName(finding.severity)},
              {"message", finding.message},
              {"advice", finding.advice},
              {"bytes", finding.bytes},
              {"graph", IdJson(finding.graph)},
              {"nodes", IdsJson(finding.nodes)},
              {"blocks", IdsJson(finding.blocks)},
              {"streams", IdsJson(finding.streams)},
              {"assumes", AssumptionName(finding.assumes)},
              {"evidence", std::move(evidence)}};
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
    if (HaveSegments(by)) {
      lines.back()["segments"] = line.segments;
      lines.back()["segment_bytes"] = line.segment_bytes;
    }
    lines.back()["blocks"] = line.blocks;
    lines.back()["block_bytes"] = line.block_bytes;
  }
  return Json{{"by", BillByName(by)}, {"lines", std::move(lines)}};
}

Json TotalsJson(const ReportTotals& totals, const Trace& trace) {
  return Json{{"graphs", totals.graphs},
              {"nodes", totals.nodes},
              {"edges", totals.edges},
              {"blocks", totals.blocks},
              {"segments", trace.segments.size()},
              {"launches", totals.launches},
              {"allocated_bytes", FigureJson(totals.allocated_bytes)},
              {"notes", totals.findings[0]},
              {"warnings", totals.findings[1]},
              {"errors", totals.findings[2]},
              {"changes", ChangesJson(trace)}};
}

}  // namespace

void RenderJson(const Report& report, const Trace& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills, const std::vector<HeldLine>& held,
                BillBy by) {
  Json graphs = GraphsJson(report, bills, by);
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(FindingJson(finding, trace));
  Json root = {{"schema", "graphkit-analyze"},
               {"version", 1},
               {"device", NameOf(report.device)},
               {"complete", report.complete},
               {"incomplete_because", report.incomplete_because},
               {"unknown_memory", ReasonJson(report.unknown_memory)},
               {"program", report.program},
               {"graphs", std::move(graphs)},
               {"findings", std::move(findings)},
               {"driver_memory", AskedMemoryJson(report.memory)},
               {"totals", TotalsJson(report.totals, trace)}};
  if (!held.empty()) root["held_at_end"] = HeldJson(held, by);
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace graphkit
