#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

namespace {

// A text in which nothing is markup.
std::string Plain(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_{}[]<>|#~$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string Code(std::string_view text) {
  return "`" + Escaped(text, {{'`', "'"}, {'|', "/"}}) + "`";
}

// Writes the entries that are shown, and behind `before_more` how many more there are.
void WriteShown(const auto& entries, const char* before_more, const TextOut& out, auto write) {
  const size_t shown = out.Shown(entries.size());
  for (size_t i = 0; i < shown; ++i) write(entries[i]);
  if (shown == entries.size()) return;
  out << before_more << "and " << FormatCount(entries.size() - shown) << " more\n";
}

void WriteReasons(const GateRun& run, const TextOut& out) {
  WriteShown(OtherReasons(run), "- ", out, [&](const GateReason* reason) {
    out << "- " << Plain(ReasonSubject(run, *reason) + ": " + reason->text) << "\n";
  });
}

// Those over their limits first, in the verdict's order.
void WriteLimits(const GateRun& run, const TextOut& out) {
  std::vector<const GateMeasure*> measures;
  for (const GateMeasure& measure : run.verdict.measures) measures.push_back(&measure);
  if (measures.empty()) return;
  std::ranges::stable_sort(measures, {}, &GateMeasure::passed);
  out << "\n| | limit | of | is | allowed |\n|---|---|---|---:|---:|\n";
  WriteShown(measures, "\n", out, [&](const GateMeasure* measure) {
    const std::string subject = measure->subject.empty() ? "" : ", " + measure->subject;
    out << "| " << (measure->passed ? "✅" : "❌") << " | " << Code(measure->rule) << " | "
        << Plain(run.subjects[measure->trace].trace + subject) << " | "
        << FigureText(measure->value, measure->unit) << " | "
        << FigureText(measure->limit, measure->unit) << " |\n";
  });
}

struct MemoryLine {
  const char* name;
  std::optional<Bytes> bytes;
};

// The figures of a graph as bars of one scale.
void WriteMemory(const GraphSummary& graph, std::ostream& out) {
  const MemoryLine lines[] = {{"address range", graph.recorded_extent_bytes},
                              {"peak live", graph.peak_live_bytes},
                              {"deferred", graph.deferred_bytes},
                              {"lower bound", graph.lower_bound_bytes}};
  Bytes most = 0;
  for (const MemoryLine& line : lines) most = std::max(most, line.bytes.value_or(0));
  if (most == 0) return;
  out << "graph " << graph.graph.value << (graph.name.empty() ? "" : " ") << Printable(graph.name)
      << "\n";
  TextRows rows;
  for (const MemoryLine& line : lines) {
    if (!line.bytes) continue;
    rows.push_back({line.name, FormatBytes(*line.bytes), Bar(*line.bytes, most, 40)});
  }
  out << Table(rows, "lrl", "  ");
}

void WriteGraphs(const GateSubject& subject, const TextOut& out) {
  std::vector<const GraphSummary*> graphs;
  for (const GraphSummary& graph : subject.report.graphs) {
    if (graph.peak_live_bytes.value_or(0) > 0) graphs.push_back(&graph);
  }
  if (graphs.empty()) return;
  std::ranges::stable_sort(graphs, std::ranges::greater(), [](const GraphSummary* graph) {
    return graph->recorded_extent_bytes.value_or(0);
  });
  const size_t shown = out.Shown(graphs.size());
  out << "\nMemory of " << (shown < graphs.size() ? "the largest graphs of " : "")
      << Code(subject.trace) << (subject.report.device == DeviceKind::kSoft ? ", simulated" : "")
      << "\n\n```text\n";
  for (size_t i = 0; i < shown; ++i) WriteMemory(*graphs[i], out);
  out << "```\n";
}

void WriteItem(const GateRun& run, const CheckRow& row, std::ostream& out) {
  const Finding& finding = row.finding;
  const bool fails = row.judged.status == FindingStatus::kFails;
  out << "- " << (fails ? "❌ " : "") << Code(WhereText(run, row)) << " **"
      << SeverityName(finding.severity) << "** " << Plain(finding.message) << " "
      << Code(finding.check) << Times(row.row.count()) << "\n";
  for (const std::string& side : SideTexts(finding, run.source_root)) {
    out << "  - " << Plain(side) << "\n";
  }
  if (!finding.advice.empty()) out << "  → " << Plain(finding.advice) << "\n";
}

void WriteFindings(const GateRun& run, const TextOut& out) {
  const auto rows = RowsOf(run, {FindingStatus::kFails, FindingStatus::kReported});
  if (rows.empty()) return;
  uint64_t findings = 0;
  for (const CheckRow& row : rows) findings += row.row.count();
  out << "\n<details open><summary>" << Counted(findings, "finding") << "</summary>\n\n";
  WriteShown(rows, "- ", out, [&](const CheckRow& row) { WriteItem(run, row, out); });
  out << "\n</details>\n";
}

}  // namespace

void RenderCheckMarkdown(const GateRun& run, const TextOut& out) {
  out << "### graphkit check " << Outcome(run.verdict) << "\n\n";
  WriteReasons(run, out);
  WriteLimits(run, out);
  for (const GateSubject& subject : run.subjects) WriteGraphs(subject, out);
  WriteFindings(run, out);
  for (const std::string& note : run.verdict.notes) out << "\n" << Plain(note) << "\n";
}

}  // namespace graphkit
