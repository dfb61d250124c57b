// The gate of `graphkit check`: whether what was recorded is good enough for a CI job to pass.
//
// It fails closed. Where something that is needed to judge is missing (a trace that is cut off or
// has drops, a trace without a graph, a baseline without the trace), the verdict is 3 and says why,
// whatever else was found.
//
//     subjects ──► suppressed? ──► in the baseline? ──► asked for by fail-on? ──► fails
//                                                  └─ a leak that the baseline hasn't ─► fails
//              ──► budgets of each graph and trace  ──────────────────────────► fails
//              ──► more than the baseline allows    ──────────────────────────► fails
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/model/gate.h"

namespace graphkit {

GateVerdict JudgeGate(const std::vector<GateSubject>& subjects, const GateConfig& config,
                      const std::optional<Baseline>& baseline);

// The ids that `config` names and `known` doesn't hold, in the order of the configuration.
std::vector<std::string> UnknownChecks(const GateConfig& config, std::span<const GateCheck> known);

// How many things a finding says have leaked; 0: it isn't of a leak check, or only a note.
uint64_t LeakedBy(const GateSubject& subject, size_t finding);

// "1.5 MiB", "3", "1.25", "unknown": a figure by its unit.
std::string FigureText(std::optional<double> figure, MeasureUnit unit);

// Everything that the gate needs of a trace. `trace_file`: as the user named it.
GateSubject MakeGateSubject(std::string trace_file, const Facts& facts, Report report);

// Adds to each subject how what it does together with other ranks differs from theirs: findings of
// `checks`, of all where there are none.
void AddRankDifferences(std::vector<GateSubject>& subjects,
                        const std::vector<std::string>& checks = {});

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
