// The part of the gate that looks at findings: which are suppressed, which the baseline knows,
// which fail.
#pragma once

#include <vector>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/model/gate.h"

namespace graphkit {

// `known` has an entry for each subject. Fills verdict.findings, and adds the reasons of those that
// fail and notes on suppressions that don't hold or suppress nothing.
void JudgeFindings(const std::vector<GateSubject>& subjects, const GateConfig& config,
                   const std::vector<BaselineMatch>& known, GateVerdict& verdict);

}  // namespace graphkit
