#include "libgraphkit/render/check/check.h"

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

void WriteFinding(const GateRun& run, const JudgedFinding& judged, std::ostream& out) {
  const Finding& finding = FindingOf(run, judged);
  const FindingPlace& place = PlaceOf(run, judged);
  WriteBegin(run, CommandOf(finding, judged.status), ShownAt(run, judged.trace, place),
             finding.check, out);
  const std::string where =
      " (" + run.subjects[judged.trace].trace + ", " + PlaceTitle(place, run.source_root) + ")";
  const std::string message = WithAdvice(finding.message + where, finding);
  out << GithubMessage(message) << "\n";
}

void WriteReason(const GateRun& run, const GateReason& reason, std::ostream& out) {
  const bool blind = reason.kind == GateReason::Kind::kBlind;
  const std::string title = blind ? "graphkit check refused" : RuleOf(reason);
  WriteBegin(run, "error", ShownAt(run, reason.trace), title, out);
  out << GithubMessage(ReasonSubject(run, reason) + ": " + reason.text) << "\n";
}

}  // namespace

void RenderGithubAnnotations(const GateRun& run, std::ostream& out) {
  for (const GateReason& reason : run.verdict.reasons) {
    if (reason.kind != GateReason::Kind::kFinding) WriteReason(run, reason, out);
  }
  for (const JudgedFinding& judged : run.verdict.findings) {
    const bool shown =
        judged.status == FindingStatus::kFails || judged.status == FindingStatus::kReported;
    if (shown) WriteFinding(run, judged, out);
  }
  out << "graphkit check " << Outcome(run.verdict) << "\n";
}

}  // namespace graphkit
