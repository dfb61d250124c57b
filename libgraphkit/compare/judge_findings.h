// The part of the gate that looks at findings: which are suppressed, which the baseline knows,
// which fail.
#pragma once

#include <optional>
#include <vector>

#include "libgraphkit/model/gate.h"

namespace graphkit {

// Fills verdict.findings, and adds the reasons of those that fail and notes on suppressions that
// don't hold or suppress nothing.
void JudgeFindings(const std::vector<GateSubject>& subjects, const GateConfig& config,
                   const std::optional<Baseline>& baseline, GateVerdict& verdict);

}  // namespace graphkit
