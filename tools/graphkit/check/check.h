// The gate's verdict: as text, JSON, JUnit XML, SARIF, Markdown, and annotations of GitHub
// Actions.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/render/finding_text.h"
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

// A row for each place that a finding has, and each other reason, a line each: for editors, problem
// matchers, and the log of a job whose output goes to a file.
//
//     step.cu:22: error: graph 2 allocates block 2 (8 MiB), never freed … [graph-allocation-leak]
//     (×4) trace.json: error: max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
void RenderCheckConcise(const GateRun& run, std::ostream& out);

// Shared by the presenters of `graphkit check`.

// A row of the verdict's findings.
struct CheckRow {
  const JudgedFinding& judged;  // the first, which is shown
  const Finding& finding;
  const FindingRow& row;
};
// In the order of all views; of these statuses only.
std::vector<CheckRow> RowsOf(const GateRun& run, std::initializer_list<FindingStatus> statuses);

// "step.cu:17", or "graph 0 step/node 3"; and the trace where there are several.
std::string WhereText(const GateRun& run, const CheckRow& row);

// The message, how often, the places if there are several, the advice: "… (×4); step.cu:17: …; …".
std::string Said(const GateRun& run, const CheckRow& row);

// The entry of "suppressions" that accepts it, ready to paste.
std::string SuppressionText(const GateRun& run, const CheckRow& row);

// Where a result is shown, as services drop those without a place: at its line, else at the
// beginning of the settings, or of its trace where there are none.
PlaceFrame ShownAt(const GateRun& run, std::optional<uint32_t> trace, const PlaceFrame& line = {});

// The subject's trace file; "graphkit check" for a reason that concerns none.
std::string ReasonSubject(const GateRun& run, const GateReason& reason);

// Those that aren't findings, which have their rows.
std::vector<const GateReason*> OtherReasons(const GateRun& run);

// True for a figure over its limit; the rule that a reason begins with.
bool IsFigure(const GateReason& reason);
std::string RuleOf(const GateReason& reason);

// "passed", "failed: 2 reasons", "refused: 1 reason".
std::string Outcome(const GateVerdict& verdict);

}  // namespace graphkit
