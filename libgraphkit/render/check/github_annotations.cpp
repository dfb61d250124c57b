#include "libgraphkit/render/check/check.h"
#include "libgraphkit/render/check/names.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

const char* CommandOf(const Finding& finding, FindingStatus status) {
  if (status == FindingStatus::kFails) return "error";
  return finding.severity == Severity::kNote ? "notice" : "warning";
}

void WriteFinding(const GateRun& run, const JudgedFinding& judged, std::ostream& out) {
  const Finding& finding = FindingOf(run, judged);
  const FindingPlace& place = PlaceOf(run, judged);
  out << "::" << CommandOf(finding, judged.status) << " ";
  if (const PlaceFrame* frame = SourceFrame(place)) {
    out << "file=" << GithubProperty(RelativeTo(run.source_root, frame->file))
        << ",line=" << frame->line << ",";
  }
  std::string message = finding.message + " (" + run.subjects[judged.trace].trace + ", " +
                        PlaceTitle(place, run.source_root) + ")";
  if (!finding.advice.empty()) message += "; " + finding.advice;
  out << "title=" << GithubProperty(finding.check) << "::" << GithubMessage(message) << "\n";
}

void WriteReason(const GateRun& run, const GateReason& reason, std::ostream& out) {
  const bool blind = reason.kind == GateReason::Kind::kBlind;
  const std::string title =
      blind ? "graphkit check refused" : reason.text.substr(0, reason.text.find(':'));
  out << "::error title=" << GithubProperty(title)
      << "::" << GithubMessage(ReasonSubject(run, reason) + ": " + reason.text) << "\n";
}

}  // namespace

std::string GithubMessage(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '%') {
      out += "%25";
    } else {
      out += c;  // line ends and other control characters are escaped by Printable
    }
  }
  return out;
}

std::string GithubProperty(std::string_view text) {
  std::string out;
  for (const char c : GithubMessage(text)) {
    if (c == ':') {
      out += "%3A";
    } else if (c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

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
