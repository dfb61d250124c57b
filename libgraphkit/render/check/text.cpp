#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/render/check/check.h"
#include "libgraphkit/render/text_layout.h"

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
  std::vector<const GateReason*> others;
  std::map<std::string, uint64_t> findings;
  for (const GateReason& reason : run.verdict.reasons) {
    if (reason.kind == GateReason::Kind::kFinding) {
      ++findings[RuleOf(reason)];
    } else {
      others.push_back(&reason);
    }
  }
  out.Top(others, "  - ", [&](const GateReason* reason) {
    out.Wrap("  - ", ReasonSubject(run, *reason) + ": " + Printable(reason->text));
  });
  std::vector<std::string> counts;
  for (const auto& [check, count] : findings) counts.push_back(FormatCount(count) + " " + check);
  const uint64_t listed = run.verdict.reasons.size() - others.size();
  if (listed == 0) return;
  out.Wrap("  - ", Counted(listed, "finding") + ", below: " + AndList(counts));
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

void RenderFinding(const GateRun& run, const JudgedFinding& judged, const TextOut& out) {
  const Finding& finding = FindingOf(run, judged);
  const bool fails = judged.status == FindingStatus::kFails;
  const bool accepted = judged.status == FindingStatus::kKnown;
  out.Wrap(fails      ? "  fails "
           : accepted ? "  accepted "
                      : "  - ",
           std::string(SeverityName(finding.severity)) + ": " + Printable(finding.message) + " [" +
               finding.check + "]");
  const std::string place = PlaceTitle(PlaceOf(run, judged), run.source_root);
  out.Wrap("      at ", place + " (" + Printable(run.subjects[judged.trace].trace) + ")");
  if (!finding.advice.empty()) out.Wrap("      → ", Printable(finding.advice));
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
  out << "\nFindings: " << (parts.empty() ? "none" : AndList(parts)) << "\n";
  auto listed =
      FindingsOf(run, {FindingStatus::kFails, FindingStatus::kKnown, FindingStatus::kReported});
  std::erase_if(listed, [&](const JudgedFinding* judged) {
    return judged->status == FindingStatus::kKnown && !run.accepts;
  });
  out.Top(listed, "  ", [&](const JudgedFinding* judged) { RenderFinding(run, *judged, out); });
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
