// The gate's verdict: as text, JSON, JUnit XML, SARIF, Markdown, and annotations of GitHub
// Actions.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// The gate's verdict as a person reads it in a job's log:
//
//     trace.json: 1 graph, 12 nodes, 5 blocks, recorded on the software device (simulated)
//
//     failed: 1 reason
//       - trace.json: max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
//     …
void RenderCheckText(const GateRun& run, const TextOut& out);

// The gate's verdict as JSON, schema "graphkit-check", version 1 (docs/check.md).
void RenderCheckJson(const GateRun& run, std::ostream& out);

// The gate's verdict as JUnit XML: one suite for each trace; in it a test case for completeness,
// for each check, for each figure that has a limit. Elements and attributes are those that Jenkins
// and GitLab read.
void RenderJunit(const GateRun& run, std::ostream& out);

// The gate's verdict as SARIF 2.1.0 (OASIS, 27 March 2020), for code scanning services. `version`
// is graphkit's.
void RenderSarif(const GateRun& run, std::string_view version, std::ostream& out);

// The gate's verdict as workflow commands of GitHub Actions ("::error file=…,line=…::message"): a
// job that prints them shows each finding at its source line.
void RenderGithubAnnotations(const GateRun& run, std::ostream& out);

// The gate's verdict as Markdown for the summary of a job: reasons, limits, the memory of the
// largest graphs as bars, and the findings folded away. Lists have at most style.top entries.
void RenderCheckMarkdown(const GateRun& run, const TextOut& out);

// Shared by the presenters of `graphkit check`.

// Where a result is shown, as services drop those without a place: at the source frame, else at the
// beginning of the settings, or of its trace where there are none.
PlaceFrame ShownAt(const GateRun& run, std::optional<uint32_t> trace,
                   const FindingPlace& place = {});

// The file relative to the root when it lies below it, otherwise as it is.
std::string_view RelativeTo(std::string_view root, std::string_view file);

// "src/step.cu:42 step"; the logical place when there is no source frame. Printable.
std::string PlaceTitle(const FindingPlace& place, std::string_view root);

// The subject's trace file; "graphkit check" for a reason that concerns none.
std::string ReasonSubject(const GateRun& run, const GateReason& reason);

const Finding& FindingOf(const GateRun& run, const JudgedFinding& judged);
const FindingPlace& PlaceOf(const GateRun& run, const JudgedFinding& judged);
// Those of the first status first.
std::vector<const JudgedFinding*> FindingsOf(const GateRun& run,
                                             std::initializer_list<FindingStatus> statuses);

// True for a figure over its limit; the rule that a reason begins with.
bool IsFigure(const GateReason& reason);
std::string RuleOf(const GateReason& reason);

// A text with the advice of a finding.
std::string WithAdvice(const std::string& text, const Finding& finding);

// "passed", "failed: 2 reasons", "refused: 1 reason".
std::string Outcome(const GateVerdict& verdict);

}  // namespace graphkit
