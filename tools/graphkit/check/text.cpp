#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

namespace {

void RenderSubjects(const GateRun& run, const TextOut& out) {
  for (const GateSubject& subject : run.subjects) {
    const ReportTotals& totals = subject.report.totals;
    out.Wrap(
        "", Printable(subject.trace) + ": " +
                (totals.graphs == 0
                     ? "no graph"
                     : Counted(totals.graphs, "graph") + ", " + Counted(totals.nodes, "node")) +
                ", " + Counted(totals.blocks, "block") + ", " + DeviceTitle(subject.report.device));
  }
}

void RenderReasons(const GateRun& run, const TextOut& out) {
  const Ink ink = run.verdict.passed() ? Ink::kGreen : Ink::kRed;
  out << "\n" << out.Inked(Outcome(run.verdict), ink) << "\n";
  const auto others = OtherReasons(run);
  out.Top(others, "  - ", [&](const GateReason* reason) {
    out.Wrap("  - ", ReasonSubject(run, *reason) + ": " + Printable(reason->text));
  });
  const size_t places = run.verdict.reasons.size() - others.size();
  if (places > 0) out << "  - findings at " << Counted(places, "place") << ", below\n";
}

const char* OutcomeText(const GateMeasure& measure) {
  if (!measure.value) return "?";
  if (measure.passed) return "ok";
  return measure.value < measure.limit ? "under" : "over";
}

// How far a figure is towards its limit; one that isn't known comes first.
double Nearness(const GateMeasure* measure) {
  if (!measure->value) return std::numeric_limits<double>::infinity();
  if (measure->unit == MeasureUnit::kShare) {  // the least that it may be
    return *measure->value > 0 ? measure->limit / *measure->value : measure->limit * 1e9;
  }
  return measure->limit > 0 ? *measure->value / measure->limit : *measure->value * 1e9;
}

// The figures nearest to their limits.
void RenderMeasures(const GateRun& run, const TextOut& out) {
  std::vector<const GateMeasure*> measures;
  for (const GateMeasure& measure : run.verdict.measures) measures.push_back(&measure);
  if (measures.empty()) return;
  std::ranges::stable_sort(measures, std::ranges::greater(), Nearness);
  out << "\nLimits\n";
  out.TopTable({}, "llrlrl", "  ", measures, [&](const GateMeasure* measure) {
    const std::string subject = measure->subject.empty() ? "" : " " + measure->subject;
    return TextRow{OutcomeText(*measure),
                   measure->rule + ":",
                   FigureText(measure->value, measure->unit) + ",",
                   "limit",
                   FigureText(measure->limit, measure->unit),
                   Ellipsize(Printable(run.subjects[measure->trace].trace + subject), 48)};
  });
}

void RenderRow(const GateRun& run, const CheckRow& row, const TextOut& out) {
  const FindingStatus status = row.judged.status;
  out.Wrap(status == FindingStatus::kFails   ? "  fails "
           : status == FindingStatus::kKnown ? "  accepted "
                                             : "  - ",
           RowText(row.finding, row.row.count(), WhereText(run, row)));
  for (const std::string& side : SideTexts(row.finding, run.source_root)) {
    out.Wrap("      ", side);
  }
  if (!row.finding.advice.empty()) out.Wrap("      → ", Printable(row.finding.advice));
  if (status == FindingStatus::kFails)
    out << "      to accept this: " << SuppressionText(run, row) << "\n";
}

void RenderFindings(const GateRun& run, const TextOut& out) {
  std::array<uint64_t, 4> counts{};
  for (const JudgedFinding& judged : run.verdict.findings) {
    ++counts[static_cast<size_t>(judged.status)];
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    parts.push_back(FormatCount(counts[i]) + " ");
    parts.back() += NameOf(static_cast<FindingStatus>(i));
  }
  using enum FindingStatus;
  const auto rows =
      run.accepts ? RowsOf(run, {kFails, kReported, kKnown}) : RowsOf(run, {kFails, kReported});
  std::string missing;
  for (const CheckRow& row : rows) {
    if (missing.empty()) missing = row.finding.missing_line;
  }
  out << "\n";
  out.Wrap("", "Findings: " + (parts.empty() ? "none" : AndList(parts)) +
                   (missing.empty() ? "" : "; " + missing));
  out.Top(rows, "  ", [&](const CheckRow& row) { RenderRow(run, row, out); });
}

}  // namespace

void RenderCheckText(const GateRun& run, const TextOut& out) {
  RenderSubjects(run, out);
  RenderReasons(run, out);
  RenderMeasures(run, out);
  RenderFindings(run, out);
  for (const std::string& note : run.verdict.notes) {
    out.Wrap("note: ", Printable(note));
  }
}

}  // namespace graphkit
