#include <algorithm>
#include <set>

#include "libgraphkit/compare/baseline.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

std::vector<CheckRow> RowsOf(const GateRun& run, std::initializer_list<FindingStatus> statuses) {
  std::vector<CheckRow> rows;
  for (const FindingGroup& group : run.verdict.groups) {
    for (const FindingRow& row : group.rows) {
      const JudgedFinding& first = run.verdict.findings[row.findings.front()];
      if (std::ranges::find(statuses, first.status) == statuses.end()) continue;
      rows.push_back({first, run.subjects[first.trace].report.findings[first.finding], row});
    }
  }
  return rows;
}

std::string WhereText(const GateRun& run, const CheckRow& row) {
  const std::string where = WhereText(row.finding, run.source_root, row.finding.logical);
  if (run.subjects.size() == 1) return where;
  std::set<uint32_t> traces;
  for (const uint32_t i : row.row.findings) traces.insert(run.verdict.findings[i].trace);
  const std::string more =
      traces.size() == 1 ? "" : " and " + FormatCount(traces.size() - 1) + " more";
  return where + " (" + Printable(run.subjects[*traces.begin()].trace) + more + ")";
}

std::string Said(const GateRun& run, const CheckRow& row) {
  std::string text = row.finding.message + Times(row.row.count());
  for (const std::string& side : SideTexts(row.finding, run.source_root)) text += "; " + side;
  return row.finding.advice.empty() ? text : text + "; " + row.finding.advice;
}

std::string SuppressionText(const GateRun& run, const CheckRow& row) {
  const PlaceFrame line = row.finding.line();
  Json json{{"check", row.finding.check}, {"reason", "WHY"}};
  if (line != PlaceFrame()) {
    json["source"] = std::string(FileName(line.file)) + ":" + std::to_string(line.line);
  } else if (run.subjects.size() > 1) {
    json["trace"] = FileName(run.subjects[row.judged.trace].trace);
  }
  return Dump(json);
}

PlaceFrame ShownAt(const GateRun& run, std::optional<uint32_t> trace, const PlaceFrame& line) {
  if (line.line != 0) return line;
  const std::string& subject = run.subjects[trace.value_or(0)].trace;
  return {.file = run.settings.empty() ? subject : run.settings, .line = 1};
}

std::string ReasonSubject(const GateRun& run, const GateReason& reason) {
  return reason.trace ? Printable(run.subjects[*reason.trace].trace) : "graphkit check";
}

std::vector<const GateReason*> OtherReasons(const GateRun& run) {
  std::vector<const GateReason*> reasons;
  for (const GateReason& reason : run.verdict.reasons) {
    if (reason.kind != GateReason::Kind::kFinding) reasons.push_back(&reason);
  }
  return reasons;
}

bool IsFigure(const GateReason& reason) {
  return reason.kind == GateReason::Kind::kBudget || reason.kind == GateReason::Kind::kBaseline;
}

std::string RuleOf(const GateReason& reason) {
  return reason.text.substr(0, reason.text.find(':'));
}

std::string Outcome(const GateVerdict& verdict) {
  if (verdict.passed()) return "passed";
  return (verdict.exit_code == 3 ? "refused: " : "failed: ") +
         Counted(verdict.reasons.size(), "reason");
}

void RenderCheckConcise(const GateRun& run, std::ostream& out) {
  for (const CheckRow& row : RowsOf(run, {FindingStatus::kFails})) {
    out << RowText(row.finding, row.row.count(), WhereText(run, row)) << "\n";
  }
  for (const GateReason* reason : OtherReasons(run)) {
    out << ReasonSubject(run, *reason) << ": error: " << Printable(reason->text) << "\n";
  }
}

}  // namespace graphkit
