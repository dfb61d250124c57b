#include "tools/graphkit/check/check.h"

namespace graphkit {

namespace {

// A message, and the value of a property, as the runner unescapes them (actions/toolkit,
// packages/core/src/command.ts).
// Line ends and other control characters are escaped by Printable.
std::string GithubMessage(std::string_view text) { return Escaped(text, {{'%', "%25"}}); }

std::string GithubProperty(std::string_view text) {
  return Escaped(text, {{'%', "%25"}, {':', "%3A"}, {',', "%2C"}});
}

const char* CommandOf(const Finding& finding, FindingStatus status) {
  if (status == FindingStatus::kFails) return "error";
  return finding.severity == Severity::kNote ? "notice" : "warning";
}

void WriteBegin(const GateRun& run, const char* command, const PlaceFrame& at,
                const std::string& title, std::ostream& out) {
  out << "::" << command << " file=" << GithubProperty(RelativeTo(run.source_root, at.file))
      << ",line=" << at.line << ",title=" << GithubProperty(title) << "::";
}

void WriteAnnotation(const GateRun& run, const CheckRow& row, std::ostream& out) {
  WriteBegin(run, CommandOf(row.finding, row.judged.status),
             ShownAt(run, row.judged.trace, row.finding.line()), row.finding.check, out);
  const std::string& trace = run.subjects[row.judged.trace].trace;
  out << GithubMessage(Said(run, row) + " (" + trace + ", " + row.finding.logical + ")") << "\n";
}

void WriteReason(const GateRun& run, const GateReason& reason, std::ostream& out) {
  const bool blind = reason.kind == GateReason::Kind::kBlind;
  const std::string title = blind ? "graphkit check refused" : RuleOf(reason);
  WriteBegin(run, "error", ShownAt(run, reason.trace), title, out);
  out << GithubMessage(ReasonSubject(run, reason) + ": " + reason.text) << "\n";
}

}  // namespace

void RenderGithubAnnotations(const GateRun& run, std::ostream& out) {
  // GitHub shows the first ten of each kind: those at a line come first.
  for (const CheckRow& row : RowsOf(run, {FindingStatus::kFails})) WriteAnnotation(run, row, out);
  for (const GateReason* reason : OtherReasons(run)) WriteReason(run, *reason, out);
  for (const CheckRow& row : RowsOf(run, {FindingStatus::kReported}))
    WriteAnnotation(run, row, out);
  out << "graphkit check " << Outcome(run.verdict) << "\n";
}

}  // namespace graphkit
