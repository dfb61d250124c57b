#include "libgraphkit/render/check/check.h"

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

// The frame that a person wants to see: the innermost of the program's own code whose line is
// known, else the innermost of any; null: there is none.
const PlaceFrame* SourceFrame(const FindingPlace& place) {
  const PlaceFrame* found = nullptr;
  for (const PlaceFrame& frame : place.frames) {
    if (frame.line == 0 || frame.file.empty()) continue;
    if (!IsLibraryFrame(frame.function, frame.file)) return &frame;
    if (found == nullptr) found = &frame;
  }
  return found;
}

}  // namespace

PlaceFrame ShownAt(const GateRun& run, std::optional<uint32_t> trace, const FindingPlace& place) {
  if (const PlaceFrame* frame = SourceFrame(place)) return *frame;
  const std::string& subject = run.subjects[trace.value_or(0)].trace;
  return {.file = run.settings.empty() ? subject : run.settings, .line = 1};
}

std::string_view RelativeTo(std::string_view root, std::string_view file) {
  while (root.ends_with('/')) root.remove_suffix(1);
  const bool below = !root.empty() && file.size() > root.size() + 1 && file.starts_with(root) &&
                     file[root.size()] == '/';
  return below ? file.substr(root.size() + 1) : file;
}

std::string PlaceTitle(const FindingPlace& place, std::string_view root) {
  const PlaceFrame* frame = SourceFrame(place);
  if (frame == nullptr) return Printable(place.logical);
  std::string title = Printable(RelativeTo(root, frame->file)) + ":" + std::to_string(frame->line);
  if (!frame->function.empty()) title += " " + ShortName(Demangle(frame->function), 60);
  return title;
}

std::string ReasonSubject(const GateRun& run, const GateReason& reason) {
  return reason.trace ? Printable(run.subjects[*reason.trace].trace) : "graphkit check";
}

const Finding& FindingOf(const GateRun& run, const JudgedFinding& judged) {
  return run.subjects[judged.trace].report.findings[judged.finding];
}

const FindingPlace& PlaceOf(const GateRun& run, const JudgedFinding& judged) {
  return run.subjects[judged.trace].places[judged.finding];
}

std::vector<const JudgedFinding*> FindingsOf(const GateRun& run,
                                             std::initializer_list<FindingStatus> statuses) {
  std::vector<const JudgedFinding*> findings;
  for (const FindingStatus status : statuses) {
    for (const JudgedFinding& judged : run.verdict.findings) {
      if (judged.status == status) findings.push_back(&judged);
    }
  }
  return findings;
}

bool IsFigure(const GateReason& reason) {
  return reason.kind == GateReason::Kind::kBudget || reason.kind == GateReason::Kind::kBaseline;
}

std::string RuleOf(const GateReason& reason) {
  return reason.text.substr(0, reason.text.find(':'));
}

std::string WithAdvice(const std::string& text, const Finding& finding) {
  return finding.advice.empty() ? text : text + "; " + finding.advice;
}

std::string Outcome(const GateVerdict& verdict) {
  if (verdict.passed()) return "passed";
  return (verdict.exit_code == 3 ? "refused: " : "failed: ") +
         Counted(verdict.reasons.size(), "reason");
}

}  // namespace graphkit
