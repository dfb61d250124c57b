// What the presenters of `graphkit check` share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"

namespace graphkit {

const char* StatusName(FindingStatus status);       // "failing", "reported", "known", "suppressed"
const char* ReasonKindName(GateReason::Kind kind);  // "finding", "budget", "baseline", "blind"
const char* UnitName(MeasureUnit unit);             // "bytes", "count", "ratio", "share"

// The frame that a person wants to see: the innermost of the program's own code whose line is
// known, else the innermost of any; null: there is none.
const PlaceFrame* SourceFrame(const FindingPlace& place);

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

// Whether a figure is over its limit, and the rule that its reason begins with.
bool IsFigure(const GateReason& reason);
std::string RuleOf(const GateReason& reason);

// What a finding says, and what to do about it.
std::string WithAdvice(const std::string& text, const Finding& finding);

// "passed", "failed: 2 reasons", "refused: 1 reason".
std::string Outcome(const GateVerdict& verdict);

}  // namespace graphkit
