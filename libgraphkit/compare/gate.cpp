#include "libgraphkit/compare/gate.h"

#include <algorithm>

#include "libgraphkit/compare/judge.h"

namespace graphkit {

namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kRefused = 3;

// Memory without graphs, as of a snapshot, is judged where a limit is about it.
bool HoldsLimitedMemory(const GateSubject& subject, const GateConfig& config) {
  return (config.max_peak_bytes || config.max_idle_bytes) && subject.peak_in_use_bytes;
}

void RefuseWhatIsMissing(const std::vector<GateSubject>& subjects, const GateConfig& config,
                         GateVerdict& verdict) {
  const auto refuse = [&verdict](uint32_t trace, std::string text) {
    verdict.reasons.push_back({GateReason::Kind::kBlind, trace, std::move(text)});
  };
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    const Report& report = subjects[trace].report;
    for (const std::string& reason : report.incomplete_because) {
      refuse(trace, "incomplete: " + reason);
    }
    if (!report.complete && report.incomplete_because.empty()) {
      refuse(trace, "incomplete: the trace doesn't hold all that happened");
    }
    const auto empty = [](const GraphSummary& graph) { return graph.nodes == 0; };
    const bool judged = report.graphs.empty() && HoldsLimitedMemory(subjects[trace], config);
    if (std::ranges::all_of(report.graphs, empty) && !judged) {
      const bool memory = subjects[trace].peak_in_use_bytes.has_value();
      refuse(trace,
             std::string("cannot check: the trace contains no graph") +
                 (memory ? "; its memory is checked by --limit max-peak=SIZE,max-idle=SIZE" : ""));
    }
  }
  if (subjects.empty()) {
    verdict.reasons.push_back({GateReason::Kind::kBlind, {}, "no trace was given"});
  }
}

int ExitCode(const GateVerdict& verdict) {
  const auto blind = [](const GateReason& reason) {
    return reason.kind == GateReason::Kind::kBlind;
  };
  if (std::ranges::any_of(verdict.reasons, blind)) return kRefused;
  return verdict.reasons.empty() ? kPassed : kFailed;
}

}  // namespace

GateVerdict JudgeGate(const std::vector<GateSubject>& subjects, const GateConfig& config,
                      const std::optional<Baseline>& baseline) {
  GateVerdict verdict;
  const Baseline none;
  const std::vector<BaselineMatch> matches = MatchBaseline(baseline ? *baseline : none, subjects);
  RefuseWhatIsMissing(subjects, config, verdict);
  JudgeFindings(subjects, config, matches, verdict);
  JudgeBudgets(subjects, config, verdict);
  if (baseline) JudgeAgainstBaseline(subjects, config, *baseline, matches, verdict);
  RefuseUnknown(subjects, verdict);
  // Reasons that blind the gate come first.
  std::ranges::stable_sort(verdict.reasons, {}, [](const GateReason& reason) {
    return reason.kind != GateReason::Kind::kBlind;
  });
  verdict.exit_code = ExitCode(verdict);
  return verdict;
}

std::vector<std::string> UnknownChecks(const GateConfig& config, std::span<const GateCheck> known) {
  std::vector<std::string> named = config.fail_on_checks;
  for (const Suppression& suppression : config.suppressions) named.push_back(suppression.check);
  std::vector<std::string> unknown;
  for (const std::string& id : named) {
    if (std::ranges::find(known, id, &GateCheck::id) != known.end()) continue;
    if (std::ranges::find(unknown, id) == unknown.end()) unknown.push_back(id);
  }
  return unknown;
}

bool IsLeakCheck(std::string_view check) { return check.ends_with("-leak"); }

uint64_t LeakedBy(const GateSubject& subject, size_t finding) {
  const Finding& found = subject.report.findings[finding];
  if (!IsLeakCheck(found.check) || found.severity == Severity::kNote) return 0;
  if (finding < subject.leaks.size()) return subject.leaks[finding];
  return std::max<uint64_t>(1, found.blocks.size());
}

}  // namespace graphkit
