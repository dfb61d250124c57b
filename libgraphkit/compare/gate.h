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
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

GateVerdict JudgeGate(const std::vector<GateSubject>& subjects, const GateConfig& config,
                      const std::optional<Baseline>& baseline);

// The ids that `config` names and `known` doesn't hold, in the order of the configuration.
std::vector<std::string> UnknownChecks(const GateConfig& config, std::span<const GateCheck> known);

// True if a check looks for things that are never given back: its id ends with "-leak".
bool IsLeakCheck(std::string_view check);

// How many things a finding says have leaked; 0: it isn't of a leak check, or only a note.
uint64_t LeakedBy(const GateSubject& subject, size_t finding);

// "1.5 MiB", "3", "1.25": a figure by its unit.
std::string FigureText(double value, MeasureUnit unit);

// Everything that the gate needs of a trace. `trace_file`: as the user named it.
GateSubject MakeGateSubject(std::string trace_file, const Facts& facts, Report report);

// Adds to each subject how what it does together with other ranks differs from theirs.
void AddRankDifferences(std::vector<GateSubject>& subjects);

// Where a finding comes from: the stack of its evidence, or that of the first block, node, … that
// it names.
FindingPlace PlaceOf(const Finding& finding, const Trace& trace);

}  // namespace graphkit
