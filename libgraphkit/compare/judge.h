// The parts of the gate: findings, and figures.
#pragma once

#include <vector>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/model/gate.h"

namespace graphkit {

// The part of the gate that looks at findings: which are suppressed, which the baseline knows,
// which fail.

// `known` has an entry for each subject. Fills verdict.findings, and adds the reasons of those that
// fail and notes on suppressions that don't hold or suppress nothing.
void JudgeFindings(const std::vector<GateSubject>& subjects, const GateConfig& config,
                   const std::vector<BaselineMatch>& known, GateVerdict& verdict);

// The part of the gate that holds figures against limits: budgets, and the baseline with what it
// may grow by.

// Adds to verdict.measures each figure that has a limit, and to verdict.reasons those that exceed
// it. Leaks are counted from verdict.findings: those that aren't suppressed; they fail where there
// are too many.
void JudgeBudgets(const std::vector<GateSubject>& subjects, const GateConfig& config,
                  GateVerdict& verdict);

// The same for what the baseline had; `matches` has an entry for each subject. A graph that only
// one side has is a reason too.
void JudgeAgainstBaseline(const std::vector<GateSubject>& subjects, const GateConfig& config,
                          const Baseline& baseline, const std::vector<BaselineMatch>& matches,
                          GateVerdict& verdict);

// A reason to refuse for each rule of verdict.measures that meets figures that aren't known, and
// why they aren't.
void RefuseUnknown(const std::vector<GateSubject>& subjects, GateVerdict& verdict);

}  // namespace graphkit
